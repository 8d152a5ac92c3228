import Postgres
import QuartetSessionContract
package import QuartetSessionRules
import QuartetVocabulary
package import Storage

// session.security_change. Its rows are protected by the lock on the account.

extension Tables {
    package static let securityChange = Table<SecurityChangeKey, SecurityChangeRow>(
        "session.security_change", as: "s",
        key: TableKey(
            KeyColumn("account", \.account), KeyColumn("number", \.number), make: SecurityChangeKey.init),
        blank: .blank,
        columns: [
            Column("kind", \.kind),
            Column("changed_at", \.at),
            Column("device", \.device),
            Column("device_signed_in_at", \.deviceSignedIn),
            Column("password_key", \.before.password.key),
            Column("password_hash", \.before.password.hash.kept),
            Column("phone", \.before.phone.keptNumber),
            Column("phone_region", \.before.phone.keptRegion),
            Column("phone_id", \.before.phoneID),
            Column("phone_key", \.before.phoneKey),
            Column("is_single_device", \.before.isSingleDevice),
            Column("is_confirmation_required", \.before.isConfirmationRequired),
            Column("recovery_hashes", \.before.recovery.keptHashes),
            Column("recovery_made_at", \.before.recovery.keptMade),
        ])
}

extension Pipeline {
    func securityChanges(of selection: AccountSelection) -> Pending? {
        guard !selection.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.securityChange.selection)
              FROM session.security_change AS s
              JOIN (\(selection.query)) AS w ON w.account = s.account
            """)
    }
}
