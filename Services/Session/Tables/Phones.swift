import Postgres
import QuartetSessionContract
package import QuartetSessionRules
import QuartetVocabulary
package import Storage

// session.phone_code. Its rows are protected by the lock on the account.

extension Tables {
    package static let phoneCode = Table<PhoneCodeKey, PhoneCodeRow>(
        "session.phone_code", as: "c",
        key: TableKey(
            KeyColumn("account", \.account), KeyColumn("purpose", \.purpose), KeyColumn("source", \.source),
            make: PhoneCodeKey.init(_:_:from:)),
        blank: .blank,
        columns: [
            Column("code", \.code),
            Column("phone_id", \.phoneID),
            Column("phone", \.phone.keptNumber),
            Column("phone_region", \.phone.keptRegion),
            Column("key", \.key),
            Column("hash", \.hash.kept),
            Column("attempts", \.attempts),
            Column("issued_at", \.issued),
            Column("expires_at", \.expires),
            Column("signs_in_from", \.signsInFrom),
        ])
}

extension Pipeline {
    func phoneCodes(of selection: AccountSelection) -> Pending? {
        guard !selection.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.phoneCode.selection)
              FROM session.phone_code AS c
              JOIN (\(selection.query)) AS w ON w.account = c.account
            """)
    }
}
