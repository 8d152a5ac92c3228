import ContactsContract
import Postgres
import Vocabulary
import WorkingSet

// The statements on contacts.alarm, whose rows are kept by the lock on the account, and on contacts.alarm_recipient.

extension Pipeline {
    /// Reads the alarms of accounts that are on.
    func alarms(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT a.account, a.kind, a.alarm, a.occurred_at, a.deadline
              FROM contacts.alarm AS a
             WHERE a.account = ANY (\(accounts.sorted()))
            """)
    }

    /// Locks and reads who heard of alarms, in the order of the primary key.
    /// - Parameters:
    ///   - accounts: All who heard of theirs.
    ///   - responders: All that these heard of.
    func lockRecipients(ofAlarmsOf accounts: Set<AccountID>, amongThem responders: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty || !responders.isEmpty else { return nil }
        return query(
            """
            SELECT r.account, r.alarm, r.responder, r.alerted_at
              FROM contacts.alarm_recipient AS r
             WHERE r.account = ANY (\(accounts.sorted())) OR r.responder = ANY (\(responders.sorted()))
             ORDER BY r.account, r.alarm, r.responder
               FOR NO KEY UPDATE
            """)
    }

    func save(_ changes: WorkingSet<AlarmPlace, AlarmRow>.Changes) {
        // One that ended and another that began in one batch are an update.
        let deleted = changes.deleted + changes.updated.map(\.key)
        if !deleted.isEmpty {
            query(
                """
                DELETE FROM contacts.alarm AS a
                 USING unnest(\(deleted.map(\.account)), \(deleted.map(\.kind.rawValue))) AS u(account, kind)
                 WHERE a.account = u.account AND a.kind = u.kind
                """)
        }
        let rows = changes.inserted + changes.updated.map { ($0.key, $0.row) }
        guard !rows.isEmpty else { return }
        query(
            """
            INSERT INTO contacts.alarm (account, kind, alarm, occurred_at, deadline)
            SELECT * FROM unnest(\(rows.map(\.key.account)), \(rows.map(\.key.kind.rawValue)), \(rows.map(\.row.alarm)),
                                 \(rows.map(\.row.occurred)), \(rows.map(\.row.deadline)))
            """)
    }

    func save(_ changes: WorkingSet<RecipientPlace, RecipientRow>.Changes) {
        // Who was removed and added again in one batch is an update.
        let deleted = changes.deleted + changes.updated.map(\.key)
        if !deleted.isEmpty {
            query(
                """
                DELETE FROM contacts.alarm_recipient AS r
                 USING unnest(\(deleted.map(\.account)), \(deleted.map(\.alarm)), \(deleted.map(\.responder)))
                       AS u(account, alarm, responder)
                 WHERE r.account = u.account AND r.alarm = u.alarm AND r.responder = u.responder
                """)
        }
        let rows = changes.inserted + changes.updated.map { ($0.key, $0.row) }
        guard !rows.isEmpty else { return }
        query(
            """
            INSERT INTO contacts.alarm_recipient (account, alarm, responder, alerted_at)
            SELECT * FROM unnest(\(rows.map(\.key.account)), \(rows.map(\.key.alarm)), \(rows.map(\.key.responder)),
                                 \(rows.map(\.row.at)))
            """)
    }
}

extension Row {
    func alarmPlace() throws -> AlarmPlace {
        let (account, kind) = try decode(AccountID.self, String.self)
        guard let kind = AlarmRow.Kind(rawValue: kind) else {
            throw PostgresError.decoding(column: "kind", reason: "nobody here knows \(kind)")
        }
        return AlarmPlace(account, kind)
    }

    func alarm() throws -> AlarmRow {
        AlarmRow(
            alarm: try decode(2, as: AlarmID.self), occurred: try decode(3, as: Instant.self),
            deadline: try decode(4, as: Instant?.self))
    }

    func recipientPlace() throws -> RecipientPlace {
        let (account, alarm, responder) = try decode(AccountID.self, AlarmID.self, AccountID.self)
        return RecipientPlace(account, alarm, responder)
    }
}
