import Foundation
import Glibc

/// Removes something on request, or when this process ends, however that happens: a shell that waits for the end of its
/// standard input.
struct Remover: Sendable {
    private let input: Int32
    private let process: pid_t

    /// - Parameter command: What the shell then does, with `arguments` as `$0`, `$1` …
    init(_ command: String, _ arguments: [String]) throws {
        let pipe = try Pipe()
        let quiet = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer {
            close(pipe.reading)
            close(quiet)
        }
        process = try spawn(
            "/bin/sh", ["-c", "cat >/dev/null; \(command)"] + arguments, environment: inheritedEnvironment(),
            descriptors: [pipe.reading, quiet, quiet])
        input = pipe.writing
    }

    /// Has it removed, and waits until it is. Once.
    func remove() {
        close(input)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    }
}

/// Makes a folder below `/tmp` whose name begins so.
func makeTemporaryFolder(_ prefix: String) throws -> String {
    var template = Array("/tmp/\(prefix).XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
        throw SpawnFailed(
            description: "could not make a folder /tmp/\(prefix).XXXXXX: \(String(cString: strerror(errno)))")
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
