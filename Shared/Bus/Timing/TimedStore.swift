public import Postgres
public import Vocabulary

/// A store whose state wants commands sent at times. Its schema has the table `timer` and the log `due`.
public protocol TimedStore: Store {
    /// Reads the state of keys and says which timers it wants: a function of the state alone. Every key that was found
    /// is in the result, also one that wants none.
    func wantedTimers(of keys: TimedKeys, in pipeline: Pipeline) throws -> [Key: [TimedCommand]]
}

/// Which keys to read for their timers.
public enum TimedKeys: Sendable {
    /// So many at most that come after one, in the order of the keys' text; nothing is locked.
    case next(Int64, after: Key?)
    /// These, locked as ``Store/load(_:in:)`` locks them.
    case locked([Key])
}
