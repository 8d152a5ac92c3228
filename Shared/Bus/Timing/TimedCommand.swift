public import Postgres
public import Vocabulary

/// A command that a service sends itself at a time.
///
/// It says what it was set for; a rule drops it when that is no longer so.
public struct TimedCommand: Sendable {
    /// What it is for: under one key there is one timer of a name.
    public let name: String
    /// When it is sent.
    public let due: Instant
    /// What is sent then, on behalf of nobody.
    public let body: any CommandBody

    /// All its parts, as the properties describe them.
    public init(_ body: any CommandBody, name: String, due: Instant) {
        self.body = body
        self.name = name
        self.due = due
    }

    public init(_ timer: WantedTimer<some MessageSet<any CommandBody>>) {
        self.init(timer.command.body, name: timer.name, due: timer.due)
    }
}

extension Pipeline {
    /// Has exactly these timers wait under each of the keys: others go, one that is there already stays as it is.
    ///
    /// Queued in the transaction that changes what wants them, so a deadline is there if and only if its state is.
    public func setTimers(_ timers: [Key: [TimedCommand]], in schema: String) throws {
        guard !timers.isEmpty else { return }
        let keys = timers.keys.map(\.description).sorted()
        let wanted = timers.flatMap { key, timers in timers.map { KeyedTimer(key: key, timer: $0) } }
            .sorted { ($0.key.description, $0.timer.name) < ($1.key.description, $1.timer.name) }
        query(
            """
            DELETE FROM \(unescaped: schema).timer AS t
             USING unnest(\(keys)) AS k(key)
             WHERE t.key = k.key
               AND NOT EXISTS (SELECT FROM unnest(\(wanted.map(\.key.description)), \(wanted.map(\.timer.name)))
                                             AS w(key, name)
                                WHERE w.key = t.key AND w.name = t.name)
            """)
        if !wanted.isEmpty { query(try wanted.insertion(into: schema)) }
    }
}

/// A timer and the key that it waits under.
struct KeyedTimer {
    let key: Key
    let timer: TimedCommand
}

extension [KeyedTimer] {
    /// An item of FROM: `w(key, name, due_at, type, version, body, number)`, numbered from 1.
    func rows() throws -> Query {
        """
        unnest(\(map(\.key.description)), \(map(\.timer.name)), \(map(\.timer.due)), \
        \(map { type(of: $0.timer.body).type }), \(map { type(of: $0.timer.body).version }), \
        \(try map { JSON(try $0.timer.body.encoded()) })) WITH ORDINALITY AS w(key, name, due_at, type, version, body, number)
        """
    }

    /// Inserts these, or changes those of the same names that differ.
    func insertion(into schema: String) throws -> Query {
        """
        INSERT INTO \(unescaped: schema).timer AS t (key, name, due_at, type, version, body)
        SELECT w.key, w.name, w.due_at, w.type, w.version, w.body
          FROM \(try rows())
        ON CONFLICT ON CONSTRAINT timer_is_set_once DO UPDATE
           SET due_at = excluded.due_at, type = excluded.type, version = excluded.version, body = excluded.body
         WHERE (t.due_at, t.type, t.version, t.body::text)
               IS DISTINCT FROM (excluded.due_at, excluded.type, excluded.version, excluded.body::text)
        """
    }
}
