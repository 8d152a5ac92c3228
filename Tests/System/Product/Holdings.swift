import Foundation
import TestKit

/// Resources that a process holds.
struct Holdings: Sendable, CustomStringConvertible {
    var threads: Int
    var descriptors: Int
    /// Memory of its own.
    var megabytes: Int

    init(of process: ChildProcess) throws {
        func entries(_ folder: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processID)/\(folder)").count
        }
        let status = try String(contentsOfFile: "/proc/\(process.processID)/status", encoding: .utf8)
        // Without the pages of the executable, which come into memory when they are first needed.
        let resident = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        threads = try entries("task")
        descriptors = try entries("fd")
        megabytes =
            (resident?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) / 1024
    }

    var description: String { "\(threads) threads, \(descriptors) descriptors, \(megabytes) MB" }

    /// No more than what pools may open besides, and what the system's own threads come and go by.
    func isBack(to before: Holdings) -> Bool {
        threads <= before.threads + 16 && descriptors <= before.descriptors + 32
            && megabytes <= before.megabytes + 48
    }
}
