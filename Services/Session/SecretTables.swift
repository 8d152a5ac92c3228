import Postgres
import SessionContract
import Vocabulary
import WorkingSet

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

extension Pipeline {
    func credentials(of selection: AccountSelection) -> Pending? {
        guard !selection.isEmpty else { return nil }
        return query(
            """
            SELECT c.account, c.key, c.hash
              FROM session.credential AS c
              JOIN (\(selection.query)) AS w ON w.account = c.account
            """)
    }

    func devices(of selection: AccountSelection) -> Pending? {
        guard !selection.isEmpty else { return nil }
        return query(
            """
            SELECT d.account, d.device, d.name, d.signed_in_at, d.last_seen_at, d.token, d.earlier_tokens, d.signed_out_at,
                   d.reason, d.confirmed_until, d.failures, d.blocked_until, d.is_confirmed_by_password
              FROM session.device AS d
              JOIN (\(selection.query)) AS w ON w.account = d.account
            """)
    }

    func save(_ changes: WorkingSet<AccountID, CredentialRow>.Changes) {
        if !changes.deleted.isEmpty {
            query("DELETE FROM session.credential AS c WHERE c.account = ANY (\(changes.deleted))")
        }
        let rows = changes.inserted + changes.updated.map { ($0.key, $0.row) }
        guard !rows.isEmpty else { return }
        query(
            """
            INSERT INTO session.credential (account, key, hash)
            SELECT * FROM unnest(\(rows.map(\.key)), \(rows.map(\.row.key.description)),
                                 \(rows.map { Bytes($0.row.hash) }))
            ON CONFLICT (account) DO UPDATE SET key = excluded.key, hash = excluded.hash
            """)
    }

    func save(_ changes: WorkingSet<DevicePlace, DeviceRow>.Changes) {
        if !changes.deleted.isEmpty {
            query(
                """
                DELETE FROM session.device AS d
                 USING unnest(\(changes.deleted.map(\.account)), \(changes.deleted.map(\.device))) AS u(account, device)
                 WHERE d.account = u.account AND d.device = u.device
                """)
        }
        let rows = changes.inserted + changes.updated.map { ($0.key, $0.row) }
        guard !rows.isEmpty else { return }
        query(
            """
            INSERT INTO session.device
                   (account, device, name, signed_in_at, last_seen_at, token, earlier_tokens, signed_out_at, reason,
                    confirmed_until, failures, blocked_until, is_confirmed_by_password)
            SELECT * FROM unnest(\(rows.map(\.key.account)), \(rows.map(\.key.device)), \(rows.map(\.row.name)),
                                 \(rows.map(\.row.signedIn)), \(rows.map(\.row.lastSeen)),
                                 \(rows.map { Bytes($0.row.token.bytes) }),
                                 \(rows.map { Bytes($0.row.earlier.flatMap(\.bytes)) }), \(rows.map(\.row.signedOut)),
                                 \(rows.map(\.row.reason?.rawValue)), \(rows.map(\.row.confirmedUntil)),
                                 \(rows.map { Int32($0.row.guesses.failures) }), \(rows.map(\.row.guesses.blockedUntil)),
                                 \(rows.map(\.row.isConfirmedByPassword)))
            ON CONFLICT (account, device) DO UPDATE
               SET name = excluded.name, signed_in_at = excluded.signed_in_at, last_seen_at = excluded.last_seen_at,
                   token = excluded.token, earlier_tokens = excluded.earlier_tokens,
                   signed_out_at = excluded.signed_out_at, reason = excluded.reason,
                   confirmed_until = excluded.confirmed_until, failures = excluded.failures,
                   blocked_until = excluded.blocked_until,
                   is_confirmed_by_password = excluded.is_confirmed_by_password
            """)
    }
}

extension Row {
    func device() throws -> DeviceRow {
        let earlier = try decode(6, as: Bytes.self).bytes
        guard let token = Secret(try decode(5, as: Bytes.self).bytes) else {
            throw PostgresError.decoding(column: "token", reason: "it hasn't 32 bytes")
        }
        return DeviceRow(
            name: try decode(2, as: String.self), signedIn: try decode(3, as: Instant.self),
            lastSeen: try decode(4, as: Instant.self), token: token,
            earlier: stride(from: 0, to: earlier.count, by: 32).compactMap {
                Secret(Array(earlier[$0..<min($0 + 32, earlier.count)]))
            }, signedOut: try decode(7, as: Instant?.self),
            reason: try decode(8, as: String?.self).flatMap(SignOutReason.init(rawValue:)),
            confirmedUntil: try decode(9, as: Instant?.self), isConfirmedByPassword: try decode(12, as: Bool.self),
            guesses: GuessesRow(
                failures: Int(try decode(10, as: Int32.self)), blockedUntil: try decode(11, as: Instant?.self)))
    }
}

extension KeyVersion {
    /// As the tables have it.
    init(stored text: String) throws {
        guard let version = Self(text) else {
            throw PostgresError.decoding(column: "key", reason: "it isn't the version of a key")
        }
        self = version
    }
}
