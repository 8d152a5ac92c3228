import Postgres
import QuartetSessionContract
package import QuartetSessionRules
package import QuartetVocabulary
package import Storage

// session.credential. Its rows are protected by the lock on the account.

extension Tables {
    package static let credential = Table<AccountID, CredentialRow>(
        "session.credential", as: "c", key: TableKey("account"), blank: CredentialRow(key: .blank, hash: []),
        columns: [
            Column("key", \.key),
            Column("hash", \.hash.kept),
        ])
}

extension Pipeline {
    func credentials(of selection: AccountSelection) -> Pending? {
        guard !selection.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.credential.selection)
              FROM session.credential AS c
              JOIN (\(selection.query)) AS w ON w.account = c.account
            """)
    }
}
