import Postgres
import SessionContract
package import SessionRules
package import Storage
package import Vocabulary

/// Accounts by id, by what their handle looks like, and by their phone.
struct AccountSelection {
    var accounts: Set<AccountID> = []
    var skeletons: Set<String> = []
    var phones: Set<PhoneID> = []

    var isEmpty: Bool { accounts.isEmpty && skeletons.isEmpty && phones.isEmpty }

    /// Their ids.
    var query: Query {
        """
        SELECT u.account FROM unnest(\(accounts.sorted())) AS u(account)
         UNION
        SELECT a.account FROM session.account AS a WHERE a.skeleton = ANY (\(skeletons.sorted()))
         UNION
        SELECT a.account FROM session.account AS a WHERE a.phone_id = ANY (\(phones.sorted()))
        """
    }
}

// The statements on session.credential and session.device. Their rows are kept by the lock on the account.

extension Tables {
    package static let credential = Table<AccountID, CredentialRow>(
        "session.credential", as: "c", key: TableKey("account"), blank: CredentialRow(key: .blank, hash: []),
        columns: [
            Column("key", \.key),
            Column("hash", \.hash.kept),
        ])

    package static let device = Table<DevicePlace, DeviceRow>(
        "session.device", as: "d",
        key: TableKey(KeyColumn("account", \.account), KeyColumn("device", \.device), make: DevicePlace.init),
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
    func credentials(of selection: AccountSelection) -> Pending? {
        guard !selection.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.credential.selection)
              FROM session.credential AS c
              JOIN (\(selection.query)) AS w ON w.account = c.account
            """)
    }

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
