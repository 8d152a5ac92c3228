/// How text looks.
struct Style: Hashable, Sendable {
    enum Color: Int, Sendable {
        case red = 31
        case green, yellow, blue, magenta, cyan
    }

    var color: Color?
    var isBold = false
    var isDim = false
    var isReversed = false

    static let plain = Self()
    static let bold = Self(isBold: true)
    static let dim = Self(isDim: true)
    static func colored(_ color: Color) -> Self { Self(color: color) }

    /// The control sequence that sets exactly this.
    func sequence(hasColor: Bool) -> String {
        var codes = ["0"]
        if isBold { codes.append("1") }
        if isDim { codes.append("2") }
        if isReversed { codes.append("7") }
        if hasColor, let color { codes.append("\(color.rawValue)") }
        return "\u{1B}[\(codes.joined(separator: ";"))m"
    }
}

/// A piece of a line in one style.
struct Span: Hashable, Sendable, ExpressibleByStringInterpolation {
    var text: String
    var style: Style

    init(_ text: String, _ style: Style = .plain) {
        self.text = text
        self.style = style
    }

    init(stringLiteral value: String) { self.init(value) }
}

/// A row of text.
struct Line: Hashable, Sendable, ExpressibleByArrayLiteral, ExpressibleByStringInterpolation {
    var spans: [Span]
    /// Whether it is the one that keys act on; it is then reversed from edge to edge.
    var isSelected = false

    init(_ spans: [Span]) { self.spans = spans }
    init(_ text: String, _ style: Style = .plain) { spans = [Span(text, style)] }
    init(arrayLiteral elements: Span...) { spans = elements }
    init(stringLiteral value: String) { self.init(value) }

    static let empty: Line = []
    var text: String { spans.map(\.text).joined() }
    var width: Int { spans.reduce(0) { $0 + Glyph.width(of: $1.text) } }

    func selected(_ isSelected: Bool) -> Self {
        var line = self
        line.isSelected = isSelected
        return line
    }

    /// This at the left edge and another at the right, if there is room for both.
    func with(right: Line, width: Int) -> Self {
        let space = width - self.width - right.width
        guard space > 0 else { return self }
        return Line(spans + [Span(String(repeating: " ", count: space))] + right.spans)
    }
}
