import CWidth
import Foundation

/// One character as a terminal shows it: never a control character, and as wide as it says.
struct Glyph: Hashable, Sendable {
    let text: String
    /// 1 or 2 cells.
    let width: Int
    /// Whether every terminal agrees on the width. Of characters made of several code points, not all do.
    let isCertain: Bool

    private static let replacement = Self(text: "\u{FFFD}", width: 1, isCertain: true)

    /// The glyphs of a text that anybody may have written. What would move the cursor, reverse the text or be invisible becomes a
    /// visible sign.
    static func glyphs(of text: String) -> [Self] {
        var glyphs: [Self] = []
        glyphs.reserveCapacity(text.utf8.count)
        for character in text {
            if let ascii = character.asciiValue, (32..<127).contains(ascii) {
                glyphs.append(Self(text: String(character), width: 1, isCertain: true))
            } else if character.unicodeScalars.contains(where: isUnsafe) {
                glyphs += character.unicodeScalars.map { isUnsafe($0) ? sign(of: $0) : of(Character($0)) }
            } else {
                glyphs.append(of(character))
            }
        }
        return glyphs
    }

    static func width(of text: String) -> Int { glyphs(of: text).reduce(0) { $0 + $1.width } }

    /// A character without anything unsafe in it.
    private static func of(_ character: Character) -> Self {
        let scalars = character.unicodeScalars
        // More marks than any language piles up.
        guard scalars.count <= 8, let widest = scalars.map({ columns($0) }).max(), widest > 0 else {
            return replacement
        }
        let isEmoji = scalars.contains { $0.value == 0xFE0F } || scalars.count(where: isFlagLetter) == 2
        return Self(text: String(character), width: isEmoji ? 2 : min(widest, 2), isCertain: scalars.count == 1)
    }

    private static func isFlagLetter(_ scalar: Unicode.Scalar) -> Bool { (0x1F1E6...0x1F1FF).contains(scalar.value) }

    private static func columns(_ scalar: Unicode.Scalar) -> Int {
        knowsWidths ? Int(width_of_code_point(scalar.value)) : 1
    }

    /// The C library measures by the process's locale.
    private static let knowsWidths = ["C.UTF-8", "en_US.UTF-8", "UTF-8"].contains { (name: String) in
        setlocale(LC_CTYPE, name) != nil
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        // The joiners of emoji and of some scripts.
        case .format: scalar.value != 0x200C && scalar.value != 0x200D
        default: false
        }
    }

    private static func sign(of scalar: Unicode.Scalar) -> Self {
        let picture: Unicode.Scalar? =
            switch scalar.value {
            case 0..<0x20: Unicode.Scalar(0x2400 + scalar.value)
            case 0x7F: "\u{2421}"
            default: nil
            }
        return picture.map { Self(text: String($0), width: 1, isCertain: true) } ?? replacement
    }
}
