import TestKit
import Testing

@testable import quartet_tui

@Suite("Keys")
struct KeyTests {
    private static let typed: [(text: String, keys: [Key])] = [
        ("a", [.character("a")]), ("é日👍", [.character("é"), .character("日"), .character("👍")]),
        ("\r\t\u{7F}", [.enter, .tab, .backspace]), ("\u{3}", [.interrupt]), ("\u{C}\u{1A}", [.redraw, .suspend]),
        ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D", [.up, .down, .right, .left]), ("\u{1B}OA", [.up]),
        ("\u{1B}[Z\u{1B}[3~\u{1B}[5~\u{1B}[6~", [.backTab, .delete, .pageUp, .pageDown]),
        ("\u{1B}[H\u{1B}[1~\u{1B}[F\u{1B}[4~", [.home, .home, .end, .end]), ("\u{1B}[1;5A", [.up]),
        ("\u{1B}[99;99R\u{1B}[15~x", [.character("x")]), ("\u{1B}\u{1B}[A", [.escape, .up]),
        ("\u{1B}[200~a\rb\u{3}\u{1B}[201~c", [.pasted("a"), .pasted("b"), .character("c")]),
        ("\u{1B}[[Ax", [.character("x")]), ("\u{1B}[1\u{1B}[Bx", [.down, .character("x")]),
        ("\u{1B}[\u{3}", [.interrupt]), ("\u{1B}[200~\u{1B}[A\u{1B}\u{1B}[201~\u{3}", [.interrupt]),
    ]

    @Test("what terminals send becomes keys, however it is cut")
    func cuts() {
        for (text, keys) in Self.typed {
            let bytes = Array(text.utf8)
            for cut in 0...bytes.count {
                var parser = KeyParser()
                let parsed = parser.take(bytes[..<cut]) + parser.take(bytes[cut...])
                #expect(parsed == keys, "cut at \(cut)")
                #expect(!parser.isWaiting)
            }
        }
    }

    @Test("a sequence whose rest comes late is still one key: its letters are no commands, and a paste ends")
    func late() {
        for (text, keys) in Self.typed {
            let bytes = Array(text.utf8)
            for cut in 0...bytes.count {
                var parser = KeyParser()
                var parsed = parser.take(bytes[..<cut])
                // By then, a lone Escape is the key.
                guard !parser.isWaiting else { continue }
                parsed += parser.flush()
                parsed += parser.take(bytes[cut...])
                #expect(parsed == keys, "cut at \(cut)")
            }
        }
    }

    @Test("a lone Escape is the key once nothing follows it")
    func escape() {
        var parser = KeyParser()
        let none = parser.take([0x1B])
        #expect(none == [] && parser.isWaiting)
        let escape = parser.flush()
        #expect(escape == [.escape] && !parser.isWaiting)
    }

    @Test("no bytes whatever stop it from reading the keys that follow")
    func random() async throws {
        try await withRandom { random in
            var parser = KeyParser()
            for _ in 0..<2000 {
                let bytes = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                _ = parser.take(bytes)
                _ = parser.flush()
                _ = parser.take(Array("\u{1B}[201~".utf8))
                let keys = parser.take(Array("x".utf8))
                #expect(keys == [.character("x")], "after \(bytes)")
            }
        }
    }

    @Test("where the terminal sends lines, a line is a key by its name, a character, or a text and Enter")
    func lines() {
        #expect(Key.keys(ofLine: "") == [.enter])
        #expect(Key.keys(ofLine: "2") == [.character("2")])
        #expect(Key.keys(ofLine: "Esc") == [.escape])
        #expect(Key.keys(ofLine: "ab") == [.pasted("a"), .pasted("b"), .enter])
    }

    @Test("a form moves, takes text, toggles, and says which button was pressed; what is pasted is text")
    func form() {
        var form = Form(
            title: "Form",
            fields: [
                .init(label: "Name", kind: .text), .init(label: "On", kind: .toggle),
                .init(label: "Secret", kind: .secret), .init(label: "Save", kind: .button),
            ])
        func press(_ keys: Key...) -> Form.Outcome? { keys.reduce(nil) { _, key in form.handle(key) } }
        #expect(press(.character("a"), .pasted(" "), .character("x"), .backspace, .enter) == nil)
        #expect(form.text("Name") == "a " && form.focus == 1)
        #expect(press(.character(" "), .tab, .character("q")) == nil)
        #expect(form["On"]?.isOn == true && form.isSecret)
        let rows = form.lines(width: 40, height: 10).map(\.text)
        #expect(rows.contains { $0.contains("•") } && !rows.contains { $0.contains("q") })
        #expect(press(.enter) == .pressed("Save"))
        #expect(press(.backTab) == nil)
        #expect(form.focus == 1)
        #expect(press(.escape) == .cancelled)
    }
}
