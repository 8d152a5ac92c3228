import Postgres
import QuartetSessionContract
package import QuartetSessionRules
package import QuartetVocabulary
package import Storage

// session.recovery. Its rows are protected by the lock on the account.

extension Tables {
    package static let recovery = Table<AccountID, RecoveryRow>(
        "session.recovery", as: "r", key: TableKey("account"), blank: .blank,
        columns: [
            Column("hashes", \.hashes.kept),
            Column("made_at", \.made),
        ])
}

extension Pipeline {
    func recoveries(of selection: AccountSelection) -> Pending? {
        guard !selection.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.recovery.selection)
              FROM session.recovery AS r
              JOIN (\(selection.query)) AS w ON w.account = r.account
            """)
    }
}
