public import QuartetVocabulary

/// The length and characters allowed in a text that a person wrote.
///
/// Control characters, invisible characters, characters that reverse the direction of the text, and piled-up combining
/// marks are always rejected. A rule may allow new lines.
public struct TextRule: Hashable, Sendable {
    /// In characters as people count them.
    public let lengths: ClosedRange<Int>
    public let hasLines: Bool

    public init(_ lengths: ClosedRange<Int>, hasLines: Bool = false) {
        self.lengths = lengths
        self.hasLines = hasLines
    }

    /// - Throws: a ``Rejection`` that says what to change.
    public func check(_ text: String, field: String) throws(Rejection) {
        // Bytes first: counting the characters of a very long text takes long.
        guard text.utf8.count <= lengths.upperBound * 16, text.count <= lengths.upperBound else {
            throw Rejection(
                .invalidField, "Shorten \(field) to at most \(lengths.upperBound) characters.", field: field)
        }
        guard text.count >= lengths.lowerBound else {
            throw Rejection(
                .invalidField,
                lengths.lowerBound == 1
                    ? "Don't leave \(field) empty." : "Use at least \(lengths.lowerBound) characters in \(field).",
                field: field)
        }
        for scalar in text.unicodeScalars where isRefused(scalar) {
            let code = String(scalar.value, radix: 16, uppercase: true)
            throw Rejection(
                .invalidField, "Remove the character U+\(code) from \(field); it isn't visible text.", field: field)
        }
        guard text.unicodeScalars.count <= text.count * 8 else {
            throw Rejection(.invalidField, "Remove the stacked combining marks from \(field).", field: field)
        }
    }

    private func isRefused(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: !(hasLines && (scalar == "\n" || scalar == "\t"))
        case .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: true
        default: scalar.properties.isBidiControl || Self.isInvisible(scalar)
        }
    }

    /// Invisible characters, except those that join or vary emoji and letters (Unicode Standard Annex 44,
    /// Default_Ignorable_Code_Point).
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200C, 0x200D, 0xFE00...0xFE0F, 0xE0100...0xE01EF, 0xE0020...0xE007F: false
        // Interlinear annotations, and the Braille pattern without dots.
        case 0xFFF9...0xFFFB, 0x2800: true
        default: scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
