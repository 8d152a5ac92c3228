package import Postgres
package import QuartetVocabulary

/// A command that a service sends to itself at a given time.
///
/// It says what it was set for. The rules drop it if that is no longer so.
package struct TimedCommand: Sendable {
    /// Under one key, a name stands for one timer.
    package let name: String
    package let due: Instant
    /// Sent on nobody's behalf.
    package let body: any CommandBody

    package init(_ body: any CommandBody, name: String, due: Instant) {
        self.body = body
        self.name = name
        self.due = due
    }

    package init(_ timer: WantedTimer<some MessageSet<any CommandBody>>) {
        self.init(timer.command.body, name: timer.name, due: timer.due)
    }
}

extension Pipeline {
    /// Sets exactly these timers under each of the keys: deletes others, and leaves alone those that are there already.
    ///
    /// Queue it in the transaction that changes the state, so that a deadline is there if and only if its state is.
    package func setTimers(_ timers: [Key: [TimedCommand]], in schema: String) throws {
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

    /// Inserts timers, and updates those of the same names that differ.
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
