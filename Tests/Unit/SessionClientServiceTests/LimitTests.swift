import Foundation
import QuartetAPI
import ServiceKit
import TestKit
import Testing

@testable import SessionClientService

@Suite("Session-client: the list of limits")
struct LimitTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Products.package.appending(path: path), encoding: .utf8)
    }

    @Test("the reference lists exactly these limits, and so does the page that a server shows (T21)")
    func documented() throws {
        let reference = try Self.text("deploy/API.md")
        let begin = try #require(reference.range(of: "### Of a server\n"))
        let end = try #require(reference.range(of: "### Of what is sent and kept\n"))
        let rows = reference[begin.upperBound..<end.lowerBound].split(separator: "\n").filter { $0.hasPrefix("| ") }
        let expected = EdgeLimits.all.map(\.row)
        #expect(rows.dropFirst().map(String.init) == expected, "\(expected.joined(separator: "\n"))")

        let page = "\(DocumentPages(declarations: [], objects: [:]).limits())"
        #expect(page.components(separatedBy: "<tr><td>").count - 1 == EdgeLimits.all.count)
        for limit in EdgeLimits.all {
            #expect(page.contains("\(limit.amount)</td><td>\(limit.scope)</td>"), "\(limit.what)")
        }
    }

    @Test("a limit that can be set is one of the settings, with the default that the documentation says (T21)")
    func settings() throws {
        let declared = SessionClient.settings.map(\.key)
        #expect(Set(declared).count == declared.count)
        #expect(EdgeLimits.settings.count == 14)
        let document = try Self.text("deploy/SETTINGS.md")
        for setting in EdgeLimits.settings {
            #expect(declared.contains(setting.key))
            let start = "| `\(setting.flag)` | `\(setting.variable)` | \(setting.shownDefault ?? "") |"
            #expect(document.contains(start), "\(start) isn't in deploy/SETTINGS.md")
        }
        let given = try Settings(EdgeLimits.settings, arguments: ["--reads-per-minute", "7"])
        #expect(given[EdgeLimits.reads] == 7 && given[EdgeLimits.commands] == 600 && given[EdgeLimits.body] == 65_536)
    }

    @Test("every code that says that a limit was reached, and every word, is that of a limit or of the rules (T21)")
    func counted() {
        let labels = Set(EdgeLimits.all.compactMap(\.hit.label))
        let codes = Set(APIError.Code.allCases.filter(\.isLimit).map(\.rawValue))
        let words = Set(LimitHit.Word.allCases.map(\.rawValue))
        #expect(labels.subtracting(codes) == words)
        // Limits of the rules, which the services keep.
        #expect(
            codes.subtracting(labels) == [
                "limitReached", "tooManyGroups", "groupTooLarge", "tooManyAttachments", "accountStorageFull",
                "groupStorageFull", "uploadsFull", "tooManyPixels", "messageTooLarge",
            ])
    }

    @Test("amounts are written as people read them")
    func words() {
        #expect([7, 1000, 20_000, 1_234_567].map(Words.number) == ["7", "1,000", "20,000", "1,234,567"])
        #expect([100, 1024, 65_536, 2 << 20].map(Words.bytes) == ["100 bytes", "1 KiB", "64 KiB", "2 MiB"])
        #expect(
            Rate.requests(3000).words == "3,000 a minute, 300 at once" && Rate(10, per: .hour).words == "10 an hour")
        #expect(Rate(30, per: .second).perMinute == 1800 && Rate(60, per: .hour).perMinute == 1)
    }
}
