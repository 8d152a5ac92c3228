/// The rows of one table that a batch works on, and its changes to them: loaded before the rules run, saved after.
///
/// A row that was changed back isn't changed. A row that wasn't loaded can't be found, so load every row that the rules may
/// look at.
package struct WorkingSet<Key: Hashable & Comparable & Sendable, Row: Equatable & Sendable>: Sendable {
    @usableFromInline var rows: [Key: Row] = [:]
    /// What the database has, for the keys that were written since.
    @usableFromInline var before: [Key: Row?] = [:]

    @inlinable
    package init() {}

    /// Adds a row as the database has it, replacing an earlier load of the same row.
    @inlinable
    package mutating func load(_ row: Row, at key: Key) {
        rows[key] = row
        before[key] = nil
    }

    /// The row as it is now. Setting nil deletes it.
    @inlinable
    package subscript(key: Key) -> Row? {
        get { rows[key] }
        set {
            let old = newValue.map { rows.updateValue($0, forKey: key) } ?? rows.removeValue(forKey: key)
            if before.index(forKey: key) == nil { before.updateValue(old, forKey: key) }
        }
    }

    /// In no order.
    @inlinable
    package var keys: Dictionary<Key, Row>.Keys { rows.keys }

    @inlinable
    package var changes: Changes {
        var changes = Changes(inserted: [], updated: [], deleted: [])
        for (key, old) in before.sorted(by: { $0.key < $1.key }) {
            switch (old, rows[key]) {
            case (nil, let new?): changes.inserted.append((key, new))
            case (_?, nil): changes.deleted.append(key)
            case (let old?, let new?): if old != new { changes.updated.append((key, new, old)) }
            case (nil, nil): break
            }
        }
        return changes
    }

    /// What to write, in the order of the keys.
    package struct Changes: Sendable {
        package var inserted: [(key: Key, row: Row)]
        /// With the contents that the database has.
        package var updated: [(key: Key, row: Row, before: Row)]
        package var deleted: [Key]

        @usableFromInline
        init(
            inserted: [(key: Key, row: Row)], updated: [(key: Key, row: Row, before: Row)], deleted: [Key]
        ) {
            (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
        }
    }
}

extension WorkingSet: Equatable {
    /// Compares the rows as they are now.
    package static func == (left: Self, right: Self) -> Bool { left.rows == right.rows }
}
