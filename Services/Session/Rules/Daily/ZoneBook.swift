/// The rules of some zones, in all versions by which somebody's deadlines are made.
package struct ZoneBook: Equatable, Sendable {
    private struct Edition: Equatable, Sendable {
        var version: Int
        var rules: ZoneRules
    }

    /// Oldest first.
    private var editions: [String: [Edition]] = [:]

    package init() {}

    package var names: Set<String> { Set(editions.keys) }

    /// A zone in a version: as it was before if that has nothing new, and as it was first if it came later.
    package subscript(name: String, version: Int) -> ZoneRules? {
        let all = editions[name] ?? []
        return (all.last { $0.version <= version } ?? all.first)?.rules
    }

    /// Whether a version after this one has other data of a zone.
    package func isBehind(_ version: Int, in name: String) -> Bool {
        editions[name]?.last.map { $0.version > version } ?? false
    }

    /// Adds what a version has of a zone.
    package mutating func add(_ rules: ZoneRules, _ name: String, version: Int) {
        let others = (editions[name] ?? []).filter { $0.version != version }
        editions[name] = (others + [Edition(version: version, rules: rules)]).sorted { $0.version < $1.version }
    }

    /// Takes another book's zones in place of its own of the same names.
    package mutating func merge(_ other: Self) { editions.merge(other.editions) { $1 } }

    package func only(_ names: Set<String>) -> Self {
        var some = Self()
        some.editions = editions.filter { names.contains($0.key) }
        return some
    }
}
