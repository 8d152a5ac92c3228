/// The migrations that are applied to a schema, compared with those of a build. Pure: rows in, a plan or a refusal out.
package struct MigrationHistory: Sendable, Hashable {
    /// A migration as the database remembers it.
    package struct Applied: Sendable, Hashable {
        package let number: Int
        package let file: String
        /// SHA-256 of the applied text.
        package let checksum: String
        /// For people.
        package let appliedAt: String
        /// The oldest release that may run with it, if the file says one.
        package let compatibleWith: String?

        package init(
            number: Int, file: String, checksum: String, appliedAt: String, compatibleWith: String? = nil
        ) {
            self.number = number
            self.file = file
            self.checksum = checksum
            self.appliedAt = appliedAt
            self.compatibleWith = compatibleWith
        }

        /// Whether `build` may run with it, though it doesn't know it.
        fileprivate func isCompatible(with build: ReleaseVersion?) -> Bool {
            guard let build, let oldest = compatibleWith.flatMap(ReleaseVersion.init) else { return false }
            return oldest <= build
        }
    }

    /// By ascending number.
    package let applied: [Applied]

    /// - Parameter applied: In any order.
    package init(applied: [Applied]) {
        self.applied = applied.sorted { $0.number < $1.number }
    }

    /// The migrations that are left to apply, in order.
    /// - Parameters:
    ///   - set: The build's migrations.
    ///   - build: The build's version.
    /// - Throws: What doesn't fit: a changed, renamed or inserted file, or a history that is newer than the build and doesn't
    ///   say that it is compatible with it.
    package func pending(
        of set: MigrationSet, build: ReleaseVersion? = .current
    ) throws(MigrationError) -> [Migration] {
        let known = Dictionary(uniqueKeysWithValues: set.migrations.map { ($0.number, $0) })
        let unknown = applied.filter { known[$0.number] == nil && !$0.isCompatible(with: build) }
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
        if let last = applied.last, let late = pending.first(where: { $0.number < last.number && !$0.mayBeLate }) {
            throw .tooLate(file: late.file, after: last.file)
        }
        return pending
    }
}
