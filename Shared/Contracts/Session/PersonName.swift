import Foundation
import QuartetContractSupport
public import QuartetVocabulary

/// A person's name: 2 to 50 characters; letters of any script, spaces, hyphens and apostrophes; at least one letter.
///
/// Spaces around it are removed, and several between words become one.
public struct PersonName: Hashable, Sendable, CustomStringConvertible {
    /// As stored and shown.
    public let description: String

    /// - Throws: `invalidField`, saying what a name may be.
    public init(_ text: String) throws(Rejection) {
        guard text.utf8.count <= 1600 else { throw Self.wrong("Shorten the name to at most 50 characters.") }
        let name = text.split(separator: " ").joined(separator: " ").trimmingCharacters(in: .whitespacesAndNewlines)
            .precomposedStringWithCanonicalMapping
        if let other = name.unicodeScalars.first(where: { !Self.isAllowed($0) }) {
            throw Self.wrong(
                "Use only letters, spaces, hyphens and apostrophes in the name; U+\(String(other.value, radix: 16, uppercase: true)) is none of these."
            )
        }
        guard (2...50).contains(name.count) else { throw Self.wrong("Use 2 to 50 characters in the name.") }
        guard name.contains(where: \.isLetter) else { throw Self.wrong("Use at least one letter in the name.") }
        try TextRule(2...50).check(name, field: "name")
        description = name
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark:
            true
        default: " -'’‐".unicodeScalars.contains(scalar)
        }
    }

    private static func wrong(_ message: String) -> Rejection { Rejection(.invalidField, message, field: "name") }
}

/// Rules for a profile's other fields.
enum ProfileRules {
    static let emergencyNote = TextRule(0...1000, hasLines: true)
}
