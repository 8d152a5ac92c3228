/// The rows of one table that a batch works on, and what it changed in them: loaded before the rules run, saved after.
///
/// What was changed back to what it was is no change. Reading a row that wasn't loaded finds nothing, so whoever loads
/// must load everything that the rules may look at.
public struct WorkingSet<Key: Hashable & Comparable & Sendable, Row: Equatable & Sendable>: Sendable {
    private var rows: [Key: Row] = [:]
    /// What the database has, for the keys that were written since.
    private var before: [Key: Row?] = [:]

    /// An empty one.
    public init() {}

    /// Puts in a row as the database has it. A second load of the same row replaces the first.
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

    /// All keys that have a row now, in no order.
    public var keys: Dictionary<Key, Row>.Keys { rows.keys }

    /// What has to be written, in the order of the keys.
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

    /// What has to be written, in the order of the keys.
    public struct Changes: Sendable {
        /// Rows that the database doesn't have.
        public fileprivate(set) var inserted: [(key: Key, row: Row)] = []
        /// Rows that it has with other contents, and those contents.
        public fileprivate(set) var updated: [(key: Key, row: Row, before: Row)] = []
        /// Rows that it has and shouldn't.
        public fileprivate(set) var deleted: [Key] = []
    }
}

extension WorkingSet: Equatable {
    /// Whether both have the same rows now, whatever was changed.
    public static func == (left: Self, right: Self) -> Bool { left.rows == right.rows }
}
