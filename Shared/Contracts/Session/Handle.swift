import Foundation
public import QuartetVocabulary

/// A unique name that an account can be found by: 3 to 30 of `a` to `z`, digits, `_`, `.` and `-`, beginning with a
/// letter and ending with a letter or digit.
///
/// Compatibility forms and upper case are folded (`Ａnna` becomes `anna`). Other characters that only look like these
/// are rejected. A handle that could be mistaken for another one is taken; see ``skeleton``.
public struct Handle: Hashable, Sendable, CustomStringConvertible {
    /// As stored and shown.
    public let description: String

    /// Words for the people who run the service. No part of a handle between separators may be one of these.
    private static let reserved = [
        "admin", "administrator", "moderator", "official", "postmaster", "quartet", "root", "security", "staff",
        "support", "system", "webmaster",
    ].map(skeleton(of:))
    /// Reserved only when the whole handle consists of such words: `helpdesk`, but not `anna-team`.
    private static let reservedTogether =
        reserved
        + ["abuse", "desk", "help", "info", "mod", "service", "team"]
        .map(skeleton(of:))

    /// - Throws: `invalidField`, saying what a handle may be.
    public init(_ text: String) throws(Rejection) {
        guard text.utf8.count <= 400 else { throw Self.wrong("Shorten the handle to at most 30 characters.") }
        let folded = text.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCompatibilityMapping
            .lowercased()
        if let other = folded.unicodeScalars.first(where: { !Self.isAllowed($0) }) {
            throw Self.wrong(
                other.properties.isAlphabetic
                    ? "Use only the letters a to z in the handle; '\(other)' (U+\(String(other.value, radix: 16, uppercase: true))) isn't one, though it may look like one."
                    : "Use only letters, digits, '_', '.' and '-' in the handle.")
        }
        guard (3...30).contains(folded.utf8.count) else {
            throw Self.wrong("Choose a handle of 3 to 30 characters.")
        }
        guard let first = folded.first, let last = folded.last, first.isLetter, last.isLetter || last.isNumber else {
            throw Self.wrong("Begin the handle with a letter and end it with a letter or digit.")
        }
        description = folded
        // A 1 may stand for an l or an i.
        for reading in [folded, folded.replacing("1", with: "i")] {
            let parts = reading.split { !$0.isLetter && !$0.isNumber }.map(String.init)
            guard !parts.contains(where: { Self.isMade(of: Self.reserved, $0) }),
                !Self.isMade(of: Self.reservedTogether, reading)
            else { throw Self.wrong("This handle is reserved for the operators of the service; choose another.") }
        }
    }

    /// Whether a text consists of these words alone, numbered or not: `admin`, `quartet-support`, `staff2`.
    private static func isMade(of words: [String], _ text: String) -> Bool {
        var unnumbered = text[...]
        while let last = unnumbered.last, last.isNumber { unnumbered.removeLast() }
        var rests = [text[...], unnumbered].map { skeleton(of: String($0))[...] }
        while let rest = rests.popLast() {
            for word in words where rest.hasPrefix(word) {
                if rest.count == word.count { return true }
                rests.append(rest.dropFirst(word.count))
            }
        }
        return false
    }

    /// A stored handle, which is valid even if the rules have changed since.
    package init(kept: String) {
        description = kept
    }

    /// What the handle looks like. Two handles with the same skeleton could be mistaken for each other, so only one of
    /// them can exist.
    public var skeleton: String { Self.skeleton(of: description) }

    private static func skeleton(of handle: String) -> String {
        handle.filter { $0.isLetter || $0.isNumber }.replacing("0", with: "o").replacing("1", with: "l")
            .replacing("3", with: "e").replacing("5", with: "s").replacing("rn", with: "m").replacing("vv", with: "w")
            .replacing("cl", with: "d")
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "_" || scalar == "." || scalar == "-"
    }

    private static func wrong(_ message: String) -> Rejection { Rejection(.invalidField, message, field: "handle") }
}

extension Key {
    /// The key of commands by handle before anyone has signed in.
    public static func handle(_ handle: Handle) -> Self { Self(kind: "handle", id: handle.description) }
}
