import QuartetVocabulary

/// A release by its number, such as `0.2.0`, or a build on the way to it, such as `0.2.0-dev`, which comes before it.
package struct ReleaseVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    private let numbers: [Int]
    package let isReleased: Bool
    package let description: String

    /// This build's.
    package static let current = Self(Release.version)

    /// `nil` unless it is three numbers, and maybe a dash with a word.
    package init?(_ text: String) {
        guard let match = text.wholeMatch(of: /([0-9]{1,6})\.([0-9]{1,6})\.([0-9]{1,6})(-[0-9A-Za-z.]{1,32})?/) else {
            return nil
        }
        numbers = [match.1, match.2, match.3].compactMap { Int($0) }
        isReleased = match.4 == nil
        description = text
    }

    package static func < (one: Self, other: Self) -> Bool {
        if one.numbers != other.numbers { return one.numbers.lexicographicallyPrecedes(other.numbers) }
        return !one.isReleased && other.isReleased
    }
}
