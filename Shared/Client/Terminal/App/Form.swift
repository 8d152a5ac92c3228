/// Fields and buttons, one below the other.
struct Form: Hashable, Sendable {
    struct Field: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case text, secret, toggle, button
        }

        let label: String
        let kind: Kind
        var text = ""
        var isOn = false
    }

    enum Outcome: Hashable, Sendable {
        /// The button's label.
        case pressed(String)
        case cancelled
    }

    var title: String
    var fields: [Field]
    var focus = 0

    /// The longest text that a field takes.
    private static let limit = 200

    subscript(label: String) -> Field? { fields.first { $0.label == label } }
    func text(_ label: String) -> String { self[label]?.text ?? "" }

    private var focused: Field? { fields.indices.contains(focus) ? fields[focus] : nil }
    /// Whether what is typed must not show.
    var isSecret: Bool { focused?.kind == .secret }

    mutating func handle(_ key: Key) -> Outcome? {
        guard let field = focused else { return .cancelled }
        switch (key, field.kind) {
        case (.escape, _): return .cancelled
        case (.tab, _), (.down, _): move(by: 1)
        case (.backTab, _), (.up, _): move(by: -1)
        case (.enter, .button), (.character(" "), .button): return .pressed(field.label)
        case (.enter, .toggle), (.character(" "), .toggle): fields[focus].isOn.toggle()
        case (.enter, _):
            // In the last field, the button below it is meant. The field keeps the focus, in case what is in it is refused.
            if let next = fields.dropFirst(focus + 1).first, next.kind == .button { return .pressed(next.label) }
            move(by: 1)
        case (.backspace, .text), (.backspace, .secret): _ = fields[focus].text.popLast()
        case (.character(let character), .text), (.character(let character), .secret),
            (.pasted(let character), .text), (.pasted(let character), .secret):
            if field.text.count < Self.limit { fields[focus].text.append(character) }
        default: break
        }
        return nil
    }

    private mutating func move(by count: Int) {
        focus = (focus + count + fields.count) % max(1, fields.count)
    }

    /// - Parameter height: If it is lower, the part around the focus.
    func lines(width: Int, height: Int) -> [Line] {
        let column =
            fields.filter { $0.kind == .text || $0.kind == .secret }.map { Glyph.width(of: $0.label) }.max() ?? 0
        let rows = fields.enumerated().map { number, field in
            line(field, isFocused: number == focus, column: column, width: width)
        }
        return [Line(title, .bold), .empty] + Rows.window(rows, around: focus, height: height - 2)
    }

    private func line(_ field: Field, isFocused: Bool, column: Int, width: Int) -> Line {
        switch field.kind {
        case .button: return Line([Span("  "), Span("[ \(field.label) ]", Style(isBold: true, isReversed: isFocused))])
        case .toggle:
            return Line([Span("  "), Span("[\(field.isOn ? "x" : " ")] \(field.label)", Style(isReversed: isFocused))])
        case .text, .secret:
            let text = field.kind == .secret ? String(repeating: "•", count: field.text.count) : field.text
            let caret = Span(" ", Style(isReversed: isFocused))
            return Line([
                Span("  \(Rows.fitted(field.label, column))  "),
                Span(Rows.end(of: text, width: width - column - 6), isFocused ? .bold : .plain), caret,
            ])
        }
    }
}
