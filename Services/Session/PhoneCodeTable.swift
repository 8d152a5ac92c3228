import Postgres
import SessionContract
import Vocabulary
import WorkingSet

// The statements on session.phone_code. Its rows are kept by the lock on the account.

extension Pipeline {
    func phoneCodes(of selection: AccountSelection) -> Pending? {
        guard !selection.isEmpty else { return nil }
        return query(
            """
            SELECT c.account, c.purpose, c.source, c.code, c.phone_id, c.phone, c.phone_region, c.hash, c.attempts,
                   c.issued_at, c.expires_at, c.signs_in_from, c.key
              FROM session.phone_code AS c
              JOIN (\(selection.query)) AS w ON w.account = c.account
            """)
    }

    func save(_ changes: WorkingSet<PhoneCodePlace, PhoneCodeRow>.Changes) {
        if !changes.deleted.isEmpty {
            query(
                """
                DELETE FROM session.phone_code AS c
                 USING unnest(\(changes.deleted.map(\.account)), \(changes.deleted.map(\.purpose.rawValue)),
                              \(changes.deleted.map(\.source))) AS u(account, purpose, source)
                 WHERE c.account = u.account AND c.purpose = u.purpose AND c.source = u.source
                """)
        }
        let rows = changes.inserted + changes.updated.map { ($0.key, $0.row) }
        guard !rows.isEmpty else { return }
        query(
            """
            INSERT INTO session.phone_code
                   (account, purpose, source, code, phone_id, phone, phone_region, hash, attempts, issued_at,
                    expires_at, signs_in_from, key)
            SELECT * FROM unnest(\(rows.map(\.key.account)), \(rows.map(\.key.purpose.rawValue)),
                                 \(rows.map(\.key.source)), \(rows.map(\.row.code)), \(rows.map(\.row.phoneID)), \(rows.map(\.row.phone?.number)),
                                 \(rows.map(\.row.phone?.region)), \(rows.map { Bytes($0.row.hash) }),
                                 \(rows.map { Int32($0.row.attempts) }), \(rows.map(\.row.issued)),
                                 \(rows.map(\.row.expires)), \(rows.map(\.row.signsInFrom)),
                                 \(rows.map(\.row.key.description)))
            ON CONFLICT ON CONSTRAINT one_code_is_good_per_purpose_and_source DO UPDATE
               SET code = excluded.code, phone_id = excluded.phone_id, phone = excluded.phone,
                   phone_region = excluded.phone_region, hash = excluded.hash, attempts = excluded.attempts,
                   issued_at = excluded.issued_at, expires_at = excluded.expires_at,
                   signs_in_from = excluded.signs_in_from, key = excluded.key
            """)
    }
}

extension Row {
    func phoneCode() throws -> (PhoneCodeRow, PhoneCodePlace) {
        let purpose = try decode(1, as: String.self)
        guard let purpose = PhoneCodePurpose(rawValue: purpose) else {
            throw PostgresError.decoding(column: "purpose", reason: "nobody here knows codes for \(purpose)")
        }
        let phone = try decode(5, as: String?.self).map {
            Phone(number: $0, region: try decode(6, as: String?.self))
        }
        let row = PhoneCodeRow(
            code: try decode(3, as: PhoneCodeID.self), phoneID: try decode(4, as: PhoneID.self), phone: phone,
            key: try KeyVersion(stored: try decode(12, as: String.self)), hash: try decode(7, as: Bytes.self).bytes,
            attempts: Int(try decode(8, as: Int32.self)),
            issued: try decode(9, as: Instant.self), expires: try decode(10, as: Instant.self),
            signsInFrom: try decode(11, as: Instant?.self))
        return (
            row,
            PhoneCodePlace(try decode(0, as: AccountID.self), purpose, from: try decode(2, as: SourceID.self))
        )
    }
}
