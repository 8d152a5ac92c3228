import Postgres
import QuartetSessionContract
package import QuartetSessionRules
import QuartetVocabulary
package import Storage

// session.device. Its rows are protected by the lock on the account.

extension Tables {
    package static let device = Table<DeviceKey, DeviceRow>(
        "session.device", as: "d",
        key: TableKey(KeyColumn("account", \.account), KeyColumn("device", \.device), make: DeviceKey.init),
        blank: .blank,
        columns: [
            Column("name", \.name),
            Column("signed_in_at", \.signedIn),
            Column("last_seen_at", \.lastSeen),
            Column("token", \.token),
            Column("earlier_tokens", \.earlier.kept),
            Column("signed_out_at", \.signedOut),
            Column("reason", \.reason),
            Column("confirmed_until", \.confirmedUntil),
            Column("is_confirmed_by_password", \.isConfirmedByPassword),
            Column("failures", \.guesses.failures),
            Column("blocked_until", \.guesses.blockedUntil),
        ])
}

extension Pipeline {
    func devices(of selection: AccountSelection) -> Pending? {
        guard !selection.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.device.selection)
              FROM session.device AS d
              JOIN (\(selection.query)) AS w ON w.account = d.account
            """)
    }
}
