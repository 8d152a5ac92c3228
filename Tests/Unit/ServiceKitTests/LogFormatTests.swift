import Foundation
import Logging
import ServiceKit
import Synchronization
import Testing

@Suite("Log lines")
struct LogFormatTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private func line(_ format: LogFormat, _ log: (Logger) -> Void) -> String {
        let lines = Lines()
        let logger = Logger(label: "kept") { label in
            LineLogHandler(label: label, format: format, logLevel: .info) { line in
                lines.all.withLock { $0.append(line) }
            }
        }
        log(logger)
        return lines.all.withLock { $0.joined() }
    }

    @Test("text is one line, with values quoted where needed")
    func text() {
        let line = line(.text) {
            $0.warning("two\nlines", metadata: ["b": "has space", "a": "plain", "c": "say \"x\""])
        }
        #expect(line.dropFirst(24) == " warning  kept: two | lines a=plain b=\"has space\" c=\"say \\\"x\\\"\"\n")
        #expect(
            (try? Date(String(line.prefix(24)), strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
                != nil)
    }

    @Test("JSON is an object per line, whatever is in it")
    func json() throws {
        let line = line(.json) { $0.error("a\u{0}\n\"b\"", metadata: ["key": "ü\\", "level": "mine"]) }
        #expect(line.hasSuffix("}\n") && line.dropLast().allSatisfy { !$0.isNewline })
        let object = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        #expect(object["message"] == "a\u{0}\n\"b\"")
        #expect(object["level"] == "error")
        #expect(object["_level"] == "mine")
        #expect(object["key"] == "ü\\")
        #expect(object["logger"] == "kept")
    }

    @Test("what is below the level isn't written")
    func level() {
        #expect(line(.text) { $0.debug("quiet") } == "")
    }
}
