import Foundation
import QuartetAPI
import Synchronization

/// Which answers this process gives: tests compare them with what the description promises (`Tests/answers.py`).
///
/// A line for each kind of answer when it is given for the first time, as in `HTTP SendPing 409 tooSoon`. A process may be
/// killed at any time, and several may write to one file.
final class AnswerJournal: Sendable {
    enum Transport: String, Sendable {
        case http = "HTTP"
        case grpc = "gRPC"
    }

    /// The file can't be opened.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    private let file: FileHandle
    private let known = Mutex<Set<String>>([])

    init(path: String) throws(Unusable) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw Unusable(
                description: "the journal of answers \(path) can't be opened: \(String(cString: strerror(errno)))")
        }
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// - Parameters:
    ///   - operation: The endpoint's name; nil where there is none.
    ///   - status: Of HTTP, or of gRPC.
    ///   - code: Nil unless it is a refusal.
    func note(_ transport: Transport, _ operation: String?, _ status: Int, _ code: APIError.Code?) {
        let line = "\(transport.rawValue) \(operation ?? "-") \(status) \(code?.rawValue ?? "-")"
        guard known.withLock({ $0.insert(line).inserted }) else { return }
        // One write: lines of several processes don't mix.
        try? file.write(contentsOf: Data((line + "\n").utf8))
    }
}
