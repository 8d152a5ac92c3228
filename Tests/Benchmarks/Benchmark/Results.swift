import Foundation

/// The figures of all runs on this machine: a file with a line of JSON for each, the newest last.
struct Results {
    private struct Line: Codable {
        let date: String
        let commit: String
        let figure: String
        let value: Double
    }

    let file: URL
    /// What is measured.
    let commit: String

    /// Every figure's newest value.
    func last() throws -> [String: Double] {
        guard FileManager.default.fileExists(atPath: file.path) else { return [:] }
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        return try lines.reduce(into: [:]) { last, line in
            let line = try JSONDecoder().decode(Line.self, from: Data(line.utf8))
            last[line.figure] = line.value
        }
    }

    func add(_ report: Report, at date: Date = .now) throws {
        let date = date.formatted(.iso8601)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        var text = Data()
        for (figure, value) in report.values {
            text += try encoder.encode(Line(date: date, commit: commit, figure: figure, value: value))
            text += Data("\n".utf8)
        }
        if !FileManager.default.fileExists(atPath: file.path) {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: file)
        }
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: text)
    }
}
