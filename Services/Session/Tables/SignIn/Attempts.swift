import Postgres
import SessionContract
package import SessionRules
package import Storage
import Vocabulary

// The statements on session.sign_in_attempt. All commands that touch a row have its subject as their key, so the order of
// the key keeps it.

extension Tables {
    package static let attempt = Table<AttemptPlace, AttemptsRow>(
        "session.sign_in_attempt", as: "a",
        key: TableKey(
            KeyColumn("subject", \.subject), KeyColumn("source", \.source), make: AttemptPlace.init(_:_:)),
        blank: .blank,
        columns: [
            Column("counted_since", \.since),
            Column("failures", \.guesses.failures),
            Column("blocked_until", \.guesses.blockedUntil),
            Column("codes_since", \.codes.keptSince),
            Column("last_code_at", \.codes.keptLast),
            Column("codes", \.codes.keptCount),
        ])
}

extension Pipeline {
    func attempts(_ places: Set<AttemptPlace>) -> Pending? {
        guard !places.isEmpty else { return nil }
        let places = places.sorted()
        return query(
            """
            SELECT \(unescaped: Tables.attempt.selection)
              FROM unnest(\(places.map(\.subject)), \(places.map(\.source))) AS w(subject, source)
              JOIN session.sign_in_attempt AS a ON a.subject = w.subject AND a.source = w.source
            """)
    }
}
