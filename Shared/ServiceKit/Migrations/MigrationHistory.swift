/// What is applied to a schema already, and whether it fits what a build has. Pure: rows in, a plan or a refusal out.
public struct MigrationHistory: Sendable, Hashable {
    /// A migration as the database remembers it.
    public struct Applied: Sendable, Hashable {
        /// Its number.
        public let number: Int
        /// Its file's name.
        public let file: String
        /// SHA-256 of what was applied.
        public let checksum: String
        /// When it was applied, for people.
        public let appliedAt: String

        /// - Parameters:
        ///   - number: Its number.
        ///   - file: Its file's name.
        ///   - checksum: SHA-256 of what was applied.
        ///   - appliedAt: When it was applied, for people.
        public init(number: Int, file: String, checksum: String, appliedAt: String) {
            self.number = number
            self.file = file
            self.checksum = checksum
            self.appliedAt = appliedAt
        }
    }

    /// The applied ones by ascending number.
    public let applied: [Applied]

    /// - Parameter applied: The applied ones, in any order.
    public init(applied: [Applied]) {
        self.applied = applied.sorted { $0.number < $1.number }
    }

    /// What is left to apply, in order.
    /// - Parameter set: What the build has.
    /// - Throws: What doesn't fit: a changed, renamed or inserted file, or a history that is newer than the build.
    public func pending(of set: MigrationSet) throws(MigrationError) -> [Migration] {
        let known = Dictionary(uniqueKeysWithValues: set.migrations.map { ($0.number, $0) })
        let unknown = applied.filter { known[$0.number] == nil }
        guard unknown.isEmpty else { throw .newer(schema: set.schema, applied: unknown.map(\.file)) }
        for applied in applied {
            guard let migration = known[applied.number] else { continue }
            guard migration.file == applied.file else { throw .renamed(file: migration.file, appliedAs: applied.file) }
            guard migration.checksum == applied.checksum else {
                throw .changed(file: migration.file, appliedAt: applied.appliedAt)
            }
        }
        let done = Set(applied.map(\.number))
        let pending = set.migrations.filter { !done.contains($0.number) }
        if let last = applied.last, let late = pending.first(where: { $0.number < last.number }) {
            throw .tooLate(file: late.file, after: last.file)
        }
        return pending
    }
}
