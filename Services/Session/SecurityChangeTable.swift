import Postgres
import SessionContract
import Vocabulary
import WorkingSet

// The statements on session.recovery and session.security_change. Their rows are kept by the lock on the account.

extension Pipeline {
    func recoveries(of selection: AccountSelection) -> Pending? {
        guard !selection.isEmpty else { return nil }
        return query(
            """
            SELECT r.account, r.hashes, r.made_at
              FROM session.recovery AS r
              JOIN (\(selection.query)) AS w ON w.account = r.account
            """)
    }

    func securityChanges(of selection: AccountSelection) -> Pending? {
        guard !selection.isEmpty else { return nil }
        return query(
            """
            SELECT s.account, s.number, s.kind, s.changed_at, s.device, s.device_signed_in_at, s.password_hash, s.phone,
                   s.phone_region, s.phone_id, s.is_single_device, s.is_confirmation_required, s.recovery_hashes,
                   s.recovery_made_at, s.password_key, s.phone_key
              FROM session.security_change AS s
              JOIN (\(selection.query)) AS w ON w.account = s.account
            """)
    }

    func save(_ changes: WorkingSet<AccountID, RecoveryRow>.Changes) {
        if !changes.deleted.isEmpty {
            query("DELETE FROM session.recovery AS r WHERE r.account = ANY (\(changes.deleted))")
        }
        let rows = changes.inserted + changes.updated.map { ($0.key, $0.row) }
        guard !rows.isEmpty else { return }
        query(
            """
            INSERT INTO session.recovery (account, hashes, made_at)
            SELECT * FROM unnest(\(rows.map(\.key)), \(rows.map { Bytes($0.row.hashes.flatMap { $0 }) }),
                                 \(rows.map(\.row.made)))
            ON CONFLICT (account) DO UPDATE SET hashes = excluded.hashes, made_at = excluded.made_at
            """)
    }

    func save(_ changes: WorkingSet<SecurityChangePlace, SecurityChangeRow>.Changes) {
        if !changes.deleted.isEmpty {
            query(
                """
                DELETE FROM session.security_change AS s
                 USING unnest(\(changes.deleted.map(\.account)), \(changes.deleted.map(\.number))) AS u(account, number)
                 WHERE s.account = u.account AND s.number = u.number
                """)
        }
        let rows = changes.inserted + changes.updated.map { ($0.key, $0.row) }
        guard !rows.isEmpty else { return }
        query(
            """
            INSERT INTO session.security_change
                   (account, number, kind, changed_at, device, device_signed_in_at, password_hash, phone, phone_region,
                    phone_id, is_single_device, is_confirmation_required, recovery_hashes, recovery_made_at,
                    password_key, phone_key)
            SELECT * FROM unnest(\(rows.map(\.key.account)), \(rows.map(\.key.number)), \(rows.map(\.row.kind.rawValue)),
                                 \(rows.map(\.row.at)), \(rows.map(\.row.device)), \(rows.map(\.row.deviceSignedIn)),
                                 \(rows.map { Bytes($0.row.before.password.hash) }), \(rows.map(\.row.before.phone?.number)),
                                 \(rows.map(\.row.before.phone?.region)), \(rows.map(\.row.before.phoneID)),
                                 \(rows.map(\.row.before.isSingleDevice)), \(rows.map(\.row.before.isConfirmationRequired)),
                                 \(rows.map { $0.row.before.recovery.map { Bytes($0.hashes.flatMap { $0 }) } }),
                                 \(rows.map(\.row.before.recovery?.made)),
                                 \(rows.map(\.row.before.password.key.description)),
                                 \(rows.map(\.row.before.phoneKey?.description)))
            ON CONFLICT ON CONSTRAINT security_change_has_a_number DO UPDATE
               SET kind = excluded.kind, changed_at = excluded.changed_at, device = excluded.device,
                   device_signed_in_at = excluded.device_signed_in_at, password_hash = excluded.password_hash,
                   phone = excluded.phone, phone_region = excluded.phone_region, phone_id = excluded.phone_id,
                   is_single_device = excluded.is_single_device,
                   is_confirmation_required = excluded.is_confirmation_required,
                   recovery_hashes = excluded.recovery_hashes, recovery_made_at = excluded.recovery_made_at,
                   password_key = excluded.password_key, phone_key = excluded.phone_key
            """)
    }
}

extension Row {
    func recovery() throws -> RecoveryRow {
        RecoveryRow(hashes: try decode(1, as: Bytes.self).hashes, made: try decode(2, as: Instant.self))
    }

    func securityChange() throws -> (SecurityChangeRow, SecurityChangePlace) {
        let (account, number, kind) = try decode(AccountID.self, Int32.self, String.self)
        guard let kind = SecurityChangeKind(rawValue: kind) else {
            throw PostgresError.decoding(column: "kind", reason: "nobody here knows changes of \(kind)")
        }
        let phone = try decode(7, as: String?.self).map {
            Phone(number: $0, region: try decode(8, as: String?.self))
        }
        let recovery = try decode(12, as: Bytes?.self).map {
            RecoveryRow(hashes: $0.hashes, made: try decode(13, as: Instant.self))
        }
        let row = SecurityChangeRow(
            kind: kind, at: try decode(3, as: Instant.self), device: try decode(4, as: DeviceID?.self),
            deviceSignedIn: try decode(5, as: Instant.self),
            before: SecurityState(
                password: CredentialRow(
                    key: try KeyVersion(stored: try decode(14, as: String.self)),
                    hash: try decode(6, as: Bytes.self).bytes), phone: phone,
                phoneID: try decode(9, as: PhoneID?.self),
                phoneKey: try decode(15, as: String?.self).map { try KeyVersion(stored: $0) },
                isSingleDevice: try decode(10, as: Bool.self),
                isConfirmationRequired: try decode(11, as: Bool.self), recovery: recovery))
        return (row, SecurityChangePlace(account, number))
    }
}

extension Bytes {
    /// SHA-256 hashes that stand one after the other.
    fileprivate var hashes: [[UInt8]] {
        stride(from: 0, to: bytes.count, by: 32).map { Array(bytes[$0..<min($0 + 32, bytes.count)]) }
    }
}
