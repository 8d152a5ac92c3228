import TestKit
import Testing

@testable import quartet_tui

@Suite("What is sent to the terminal")
struct ScreenTests {
    private static let size = (width: 24, height: 6)

    private func screen(_ lines: [Line]) -> Screen { Screen(lines, width: Self.size.width, height: Self.size.height) }

    @Test("an unchanged screen sends nothing, and one changed cell sends that cell alone")
    func leastChange() {
        let one = screen(["Time left: 59 s", "Anna"])
        let other = screen(["Time left: 58 s", "Anna"])
        #expect(one.changes(from: one) == "")
        #expect(other.changes(from: one) == "\u{1B}[1;13H8")
    }

    @Test("a screen of another size, or an unknown one, is erased and drawn as a whole")
    func whole() {
        let one = screen(["Anna"])
        #expect(one.changes(from: nil) == "\u{1B}[0m\u{1B}[2J\u{1B}[1;1HAnna")
        #expect(Screen(["Anna"], width: 10, height: 2).changes(from: one).contains("\u{1B}[2J"))
    }

    @Test(
        "whatever is shown after whatever else, a terminal that gets the changes shows the same rows, and nothing unknown"
    )
    func random() async throws {
        try await withRandom { random in
            let pieces = [
                "a", "Anna", " ", "日本", "👩🏽‍🚀", "🇩🇪", "e\u{301}", "─", "\u{1B}[2J", "\u{202E}", "\n", "…", "한", "❤️",
                "\u{0}",
            ]
            let styles: [Style] = [.plain, .bold, .colored(.red), Style(isReversed: true)]
            func line() -> Line {
                let spans = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
                    Span(pieces.randomElement(using: &random) ?? "", styles.randomElement(using: &random) ?? .plain)
                }
                return Line(spans).selected(Bool.random(using: &random))
            }
            var terminal = TerminalScreen(width: Self.size.width, height: Self.size.height)
            var last: Screen?
            for _ in 0..<500 {
                let next = screen((0..<Int.random(in: 0...8, using: &random)).map { _ in line() })
                terminal.take(Array(next.changes(from: last).utf8))
                last = next
                // Terminals differ in where they put the parts of a character that is made of several code points.
                if !next.cells.contains(where: { !$0.isCertain }) { #expect(terminal.rows == next.rows) }
                #expect(terminal.unknown.isEmpty)
            }
            #expect(terminal.clears == 1)
        }
    }

    @Test("without colours, no colour is sent; what is selected is still reversed")
    func noColor() {
        let text = screen([[Span("Alert", .colored(.red))], Line("Anna").selected(true)])
            .changes(from: nil, hasColor: false)
        #expect(!text.contains("31") && text.contains("\u{1B}[0;7m"))
    }

    @Test("text that doesn't fit is cut off, and says so; half of a wide character never shows")
    func edges() {
        #expect(Screen(["abcdef"], width: 4, height: 1).rows == ["abc…"])
        #expect(Screen(["abcd"], width: 4, height: 1).rows == ["abcd"])
        #expect(Screen(["ab日本"], width: 5, height: 1).rows == ["ab日…"])
        #expect(Screen(["a日本"], width: 4, height: 1).rows == ["a日…"])
        #expect(Screen(["日"], width: 1, height: 1).rows == ["…"])
        #expect(Rows.fitted("日本", 3) == "日…" && Rows.fitted("日本", 6) == "日本  ")
        #expect(Rows.end(of: "ab日本", width: 5) == "b日本")
    }

    @Test(
        "a text that would move the cursor, reverse the row or be invisible shows as signs",
        arguments: [
            ("\u{1B}[31mEve", "␛[31mEve"), ("a\r\nb", "a␍␊b"), ("\u{9B}2J", "�2J"), ("a\u{202E}b", "a�b"),
            ("\u{7F}", "␡"), ("a\u{200B}b", "a�b"), ("\u{2028}", "�"), ("\u{E000}", "�"),
        ])
    func hostile(text: String, shown: String) {
        #expect(Screen([Line(text)], width: 20, height: 1).rows == [shown])
    }

    @Test("piled-up marks are one sign, and a lone mark takes a cell")
    func marks() {
        let pile = "a" + String(repeating: "\u{301}", count: 50)
        #expect(Glyph.glyphs(of: pile).map(\.text) == ["�"])
        #expect(Glyph.glyphs(of: "\u{301}").map(\.width) == [1])
    }

    @Test(
        "characters are as wide as terminals show them",
        arguments: [("a", 1), ("é", 1), ("日", 2), ("한", 2), ("👍", 2), ("❤️", 2), ("🇩🇪", 2), ("👩🏽‍🚀", 2), ("ﾊ", 1), ("─", 1)])
    func widths(text: String, width: Int) {
        #expect(Glyph.width(of: text) == width)
    }
}
