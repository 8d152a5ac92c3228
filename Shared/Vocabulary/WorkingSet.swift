/// The rows of one table that a batch works on, and its changes to them: loaded before the rules run, saved after.
///
/// A row that was changed back isn't changed. A row that wasn't loaded can't be found, so load every row that the rules may
/// look at.
public struct WorkingSet<Key: Hashable & Comparable & Sendable, Row: Equatable & Sendable>: Sendable {
    private var rows: [Key: Row] = [:]
    /// What the database has, for the keys that were written since.
    private var before: [Key: Row?] = [:]

    public init() {}

    /// Adds a row as the database has it, replacing an earlier load of the same row.
    public mutating func load(_ row: Row, at key: Key) {
        rows[key] = row
        before[key] = nil
    }

    /// The row as it is now. Setting nil deletes it.
    public subscript(key: Key) -> Row? {
        get { rows[key] }
        set {
            if before[key] == nil { before[key] = .some(rows[key]) }
            rows[key] = newValue
        }
    }

    /// In no order.
    public var keys: Dictionary<Key, Row>.Keys { rows.keys }

    public var changes: Changes {
        var changes = Changes()
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
    public struct Changes: Sendable {
        public fileprivate(set) var inserted: [(key: Key, row: Row)] = []
        /// With the contents that the database has.
        public fileprivate(set) var updated: [(key: Key, row: Row, before: Row)] = []
        public fileprivate(set) var deleted: [Key] = []
    }
}

extension WorkingSet: Equatable {
    /// Compares the rows as they are now.
    public static func == (left: Self, right: Self) -> Bool { left.rows == right.rows }
}
