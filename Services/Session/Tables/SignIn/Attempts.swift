import Postgres
import QuartetSessionContract
package import QuartetSessionRules
import QuartetVocabulary
package import Storage

// session.sign_in_attempt. Most commands that touch a row have its subject as their key. Codes for a new phone are counted for
// the phone, too, under the key of the account that asks, so the rows are locked.

extension Tables {
    package static let attempt = Table<AttemptKey, AttemptsRow>(
        "session.sign_in_attempt", as: "a",
        key: TableKey(
            KeyColumn("subject", \.subject), KeyColumn("source", \.source), make: AttemptKey.init(_:_:)),
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
    /// Locks and reads attempts, in the order of their keys.
    func attempts(_ keys: Set<AttemptKey>) -> Pending? {
        guard !keys.isEmpty else { return nil }
        let keys = keys.sorted()
        return query(
            """
            SELECT \(unescaped: Tables.attempt.selection)
              FROM unnest(\(keys.map(\.subject)), \(keys.map(\.source))) AS w(subject, source)
              JOIN session.sign_in_attempt AS a ON a.subject = w.subject AND a.source = w.source
             ORDER BY a.subject, a.source
               FOR NO KEY UPDATE OF a
            """)
    }
}
