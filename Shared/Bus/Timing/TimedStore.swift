package import Postgres
package import QuartetVocabulary

/// A store whose state wants commands sent at given times. Its schema has the table `timer` and the log `due`.
package protocol TimedStore: Store {
    /// Reads the state of keys and returns the timers that it wants, as a function of the state alone. The result has
    /// every key that was found, even those that want no timers.
    func wantedTimers(of keys: TimedKeys, in pipeline: Pipeline) throws -> [Key: [TimedCommand]]
}

/// The keys whose timers to read.
package enum TimedKeys: Sendable {
    /// At most this many keys after the given one, in the order of their text, without locks.
    case next(Int64, after: Key?)
    /// These keys, locked as ``Store/load(_:in:)`` locks them.
    case locked([Key])
}
