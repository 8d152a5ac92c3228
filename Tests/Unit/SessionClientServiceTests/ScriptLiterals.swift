/// The texts in a module of the console.
struct ScriptLiterals {
    /// Those that are said to people, t`…`, as catalogues have them: with `{0}` in the place of the first thing that a text shows.
    private(set) var marked: [String] = []
    /// All others, with `{}` in such places.
    private(set) var others: [String] = []
    private let source: [Character]
    private var place = 0

    init(_ source: String) {
        self.source = Array(source)
        read()
    }

    /// Reads to the end, or to the brace at which an expression in a template ends.
    private mutating func read() {
        var depth = 0
        while place < source.count {
            switch source[place] {
            case "{": depth += 1
            case "}" where depth == 0: return
            case "}": depth -= 1
            case "'", "\"": others.append(quoted(by: source[place]))
            case "`": template()
            case "/" where follows("//"): skip(to: "\n")
            case "/" where follows("/*"): skip(to: "*/")
            case "/" where beginsExpression: expression()
            default: break
            }
            place += 1
        }
    }

    private func follows(_ text: String) -> Bool { source[place...].starts(with: text) }

    /// Goes to the last character of a text.
    private mutating func skip(to end: String) {
        while place < source.count, !follows(end) { place += 1 }
        place += end.count - 1
    }

    /// Whether a slash isn't a division: it comes where a value does.
    private var beginsExpression: Bool {
        guard let before = source[..<place].last(where: { $0 != " " }) else { return true }
        return "(,=:[!&|?{;>\n".contains(before)
    }

    /// Goes to the end of a regular expression.
    private mutating func expression() {
        var isInClass = false
        repeat {
            place += source[place] == "\\" ? 2 : 1
            if source[place] == "[" { isInClass = true } else if source[place] == "]" { isInClass = false }
        } while isInClass || source[place] != "/"
    }

    private mutating func quoted(by quote: Character) -> String {
        var text = ""
        place += 1
        while source[place] != quote {
            if source[place] == "\\" { place += 1 }
            text.append(source[place])
            place += 1
        }
        return text
    }

    private mutating func template() {
        let isMarked = place > 0 && source[place - 1] == "t" && (place < 2 || !source[place - 2].isLetter)
        var (text, count) = ("", 0)
        place += 1
        while source[place] != "`" {
            if follows("${") {
                place += 2
                read()
                text += isMarked ? "{\(count)}" : "{}"
                count += 1
            } else {
                if source[place] == "\\" { place += 1 }
                text.append(source[place])
            }
            place += 1
        }
        if isMarked { marked.append(text) } else { others.append(text) }
    }
}
