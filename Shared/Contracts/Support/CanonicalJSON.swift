public import QuartetVocabulary

extension JSONValue {
    /// The one encoding that every program makes of this value: the JSON Canonicalization Scheme (RFC 8785). Members are in the
    /// order of their names' UTF-16, numbers are written as JavaScript writes them, and nothing is escaped that needn't be.
    public var canonical: String {
        var text = ""
        appendCanonical(to: &text)
        return text
    }

    private func appendCanonical(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += value.asInJavaScript
        case .string(let value): value.appendQuoted(to: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                element.appendCanonical(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            let sorted = members.sorted { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }
            for (index, member) in sorted.enumerated() {
                if index > 0 { text += "," }
                member.key.appendQuoted(to: &text)
                text += ":"
                member.value.appendCanonical(to: &text)
            }
            text += "}"
        }
    }
}

extension String {
    fileprivate func appendQuoted(to text: inout String) {
        text += "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\u{8}": text += "\\b"
            case "\t": text += "\\t"
            case "\n": text += "\\n"
            case "\u{C}": text += "\\f"
            case "\r": text += "\\r"
            case "\u{0}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

extension Double {
    /// ECMAScript's Number::toString(): the shortest digits that give this number, which Swift finds as well, in another form.
    fileprivate var asInJavaScript: String {
        guard self != 0, isFinite else { return "0" }
        let parts = magnitude.description.split(separator: "e", maxSplits: 1)
        let mantissa = parts[0].split(separator: ".", maxSplits: 1)
        let fraction = mantissa.count > 1 ? String(mantissa[1]) : ""
        // Where the point stands, counted from the first digit.
        var point = mantissa[0].count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        var digits = String(mantissa[0]) + fraction
        while digits.hasPrefix("0") {
            digits.removeFirst()
            point -= 1
        }
        while digits.hasSuffix("0") { digits.removeLast() }
        let sign = self < 0 ? "-" : ""
        let zeros = { (count: Int) in String(repeating: "0", count: count) }
        if point > 21 || point < -5 {
            let exponent = (point > 0 ? "e+" : "e-") + String(abs(point - 1))
            return sign + digits.prefix(1) + (digits.count > 1 ? "." + digits.dropFirst() : "") + exponent
        }
        if point <= 0 { return sign + "0." + zeros(-point) + digits }
        if point >= digits.count { return sign + digits + zeros(point - digits.count) }
        return sign + digits.prefix(point) + "." + digits.dropFirst(point)
    }
}
