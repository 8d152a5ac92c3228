import Postgres
import SessionContract
import Vocabulary
import WorkingSet

// The statements on session.sign_in_attempt. All commands that touch a row have its subject as their key, so the order of
// the key keeps it.

extension Pipeline {
    func attempts(_ places: Set<AttemptPlace>) -> Pending? {
        guard !places.isEmpty else { return nil }
        let places = places.sorted()
        return query(
            """
            SELECT a.subject, a.source, a.counted_since, a.failures, a.blocked_until, a.codes_since, a.last_code_at, a.codes
              FROM unnest(\(places.map(\.subject.description)), \(places.map(\.source))) AS w(subject, source)
              JOIN session.sign_in_attempt AS a ON a.subject = w.subject AND a.source = w.source
            """)
    }

    func save(_ changes: WorkingSet<AttemptPlace, AttemptsRow>.Changes) {
        if !changes.deleted.isEmpty {
            query(
                """
                DELETE FROM session.sign_in_attempt AS a
                 USING unnest(\(changes.deleted.map(\.subject.description)), \(changes.deleted.map(\.source)))
                       AS u(subject, source)
                 WHERE a.subject = u.subject AND a.source = u.source
                """)
        }
        let rows = changes.inserted + changes.updated.map { ($0.key, $0.row) }
        guard !rows.isEmpty else { return }
        query(
            """
            INSERT INTO session.sign_in_attempt
                   (subject, source, counted_since, failures, blocked_until, codes_since, last_code_at, codes)
            SELECT * FROM unnest(\(rows.map(\.key.subject.description)), \(rows.map(\.key.source)), \(rows.map(\.row.since)),
                                 \(rows.map { Int32(clamping: $0.row.guesses.failures) }),
                                 \(rows.map(\.row.guesses.blockedUntil)), \(rows.map(\.row.codes?.since)),
                                 \(rows.map(\.row.codes?.last)), \(rows.map { Int32($0.row.codes?.count ?? 0) }))
            ON CONFLICT ON CONSTRAINT attempts_are_counted_once DO UPDATE
               SET counted_since = excluded.counted_since, failures = excluded.failures,
                   blocked_until = excluded.blocked_until, codes_since = excluded.codes_since,
                   last_code_at = excluded.last_code_at, codes = excluded.codes
            """)
    }
}

extension Row {
    /// - Throws: `PostgresError` for a row that this service can't have written.
    func attempts() throws -> (AttemptsRow, AttemptPlace) {
        let (subject, source, since, failures, blockedUntil) = try decode(
            String.self, SourceID.self, Instant.self, Int32.self, Instant?.self)
        guard let subject = Key(subject) else {
            throw PostgresError.decoding(column: "subject", reason: "it isn't a key")
        }
        var row = AttemptsRow(
            since: since, guesses: GuessesRow(failures: Int(failures), blockedUntil: blockedUntil))
        if let codesSince = try decode(5, as: Instant?.self), let last = try decode(6, as: Instant?.self) {
            row.codes = CodesRow(since: codesSince, last: last, count: Int(try decode(7, as: Int32.self)))
        }
        return (row, AttemptPlace(subject, source))
    }
}
