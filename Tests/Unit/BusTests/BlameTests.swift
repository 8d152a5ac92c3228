import Foundation
import QuartetVocabulary
import Testing

@testable import Bus

@Suite
struct BlameTests {
    /// PostgreSQL's own list, beside the server's other shared files.
    private static let list: [String: String] = {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/share/postgresql")) ?? []
        let paths =
            folders.map { "/usr/share/postgresql/\($0)/errcodes.txt" } + ["/usr/local/share/postgresql/errcodes.txt"]
        guard let text = paths.lazy.compactMap({ try? String(contentsOfFile: $0, encoding: .utf8) }).first else {
            return [:]
        }
        var names: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") && !line.hasPrefix("Section") {
            let words = line.split(separator: " ")
            if words.count >= 3, words[0].count == 5 { names[String(words[0])] = String(words.last ?? "") }
        }
        return names
    }()

    @Test("the list contains every SQLSTATE class that the server knows, and no other")
    func everyClass() throws {
        try #require(Self.list.count > 200)
        #expect(Set(Self.list.keys.map { String($0.prefix(2)) }) == Set(Blame.classes.keys))
        for code in Blame.codes.keys { #expect(Self.list[code] != nil, "\(code)") }
    }

    @Test(
        "only data, constraints, a message's own size and errors raised by functions are final",
        arguments: [
            ("22003", Blame.message), ("22P02", .message), ("23514", .message), ("23503", .message),
            ("54000", .message),
            ("P0001", .message), ("23505", .contention), ("40001", .contention), ("40P01", .contention),
            ("08006", .trouble), ("25006", .trouble), ("42501", .trouble), ("42703", .trouble), ("42P01", .trouble),
            ("53100", .trouble), ("53300", .trouble), ("55P03", .trouble), ("57014", .trouble), ("58030", .trouble),
            ("XX000", .trouble), ("ZZ999", .trouble),
        ])
    func examples(code: String, blame: Blame) {
        #expect(Blame.of(code) == blame)
    }

    @Test("unknown is told apart from malformed, down to a word of a closed list")
    func unknownWords() throws {
        let malformed = Fault(MessageError.malformed(type: "A", reason: "it is missing", field: "b"))
        #expect(malformed.code == .error && malformed.needs == nil)
        let newer = Fault(MessageError.unknownType("A", version: 2))
        #expect(newer.code == .unknown && newer.needs == "A@2")
        #expect(throws: MessageError.self) { try Coloured.decoded(from: Array(#"{"colour":"green"}"#.utf8)) }
        do throws(MessageError) {
            _ = try Coloured.decoded(from: Array(#"{"colour":"green"}"#.utf8))
        } catch {
            #expect(error.needs?.hasPrefix("Coloured@1 colour: ") == true && error.needs?.contains("green") == true)
        }
        do throws(MessageError) {
            _ = try Coloured.decoded(from: Array(#"{"colour":7}"#.utf8))
        } catch {
            #expect(error.needs == nil)
        }
    }

    private struct Coloured: MessageBody {
        enum Colour: String, Codable, Hashable, Sendable { case red, blue }
        let colour: Colour
    }
}
