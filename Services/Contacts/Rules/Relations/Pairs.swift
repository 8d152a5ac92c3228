package import QuartetVocabulary

/// Two different accounts, in no particular order.
package struct Pair: Hashable, Comparable, Sendable {
    package let low: AccountID
    package let high: AccountID

    package init(_ one: AccountID, _ other: AccountID) {
        low = min(one, other)
        high = max(one, other)
    }

    package static func < (left: Self, right: Self) -> Bool { (left.low, left.high) < (right.low, right.high) }
}

/// Two accounts in order: one asked or blocked the other.
package struct Ends: Hashable, Comparable, Sendable {
    package let from: AccountID
    package let to: AccountID

    package init(from: AccountID, to: AccountID) {
        self.from = from
        self.to = to
    }

    package static func < (left: Self, right: Self) -> Bool { (left.from, left.to) < (right.from, right.to) }
}
