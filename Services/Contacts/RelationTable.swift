import ContactsContract
import Postgres
import Vocabulary
import WorkingSet

// The statements on contacts.relation.

extension Pipeline {
    private static let columns = """
        r.low, r.high, r.low_is_responder, r.low_nickname, r.low_notes, r.low_send_pings, r.low_receive_pings,
        r.low_notify_on_check_in, r.low_notify_on_expiry, r.low_pinged_at, r.low_last_ping_at, r.low_role_requested_at, r.low_version,
        r.low_updated_at, r.high_is_responder, r.high_nickname, r.high_notes, r.high_send_pings,
        r.high_receive_pings, r.high_notify_on_check_in, r.high_notify_on_expiry, r.high_pinged_at,
        r.high_last_ping_at, r.high_role_requested_at, r.high_version, r.high_updated_at, r.added_at
        """

    /// Locks and reads, in one statement and in the order of the primary key, everything that the commands may change.
    func lockRelations(_ touched: Touched) -> Pending? {
        guard !touched.pairs.isEmpty || !touched.closing.isEmpty || !touched.answering.isEmpty else { return nil }
        let pairs = touched.pairs.sorted()
        let (closing, answering) = (touched.closing.sorted(), touched.answering.sorted())
        return query(
            """
            SELECT \(unescaped: Self.columns)
              FROM contacts.relation AS r
              JOIN (SELECT p.low, p.high FROM unnest(\(pairs.map(\.low)), \(pairs.map(\.high))) AS p(low, high)
                     UNION
                    SELECT c.low, c.high FROM contacts.relation AS c WHERE c.low = ANY (\(closing))
                     UNION
                    SELECT c.low, c.high FROM contacts.relation AS c WHERE c.high = ANY (\(closing))
                     UNION
                    SELECT c.low, c.high FROM contacts.relation AS c
                     WHERE c.low = ANY (\(answering)) AND c.high_pinged_at IS NOT NULL
                     UNION
                    SELECT c.low, c.high FROM contacts.relation AS c
                     WHERE c.high = ANY (\(answering)) AND c.low_pinged_at IS NOT NULL
                   ) AS w ON w.low = r.low AND w.high = r.high
             ORDER BY r.low, r.high
               FOR NO KEY UPDATE OF r
            """)
    }

    /// Reads, without a lock, the relations of accounts with their responders.
    func responders(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        let accounts = accounts.sorted()
        return query(
            """
            SELECT \(unescaped: Self.columns)
              FROM contacts.relation AS r WHERE r.low = ANY (\(accounts)) AND r.high_is_responder
             UNION ALL
            SELECT \(unescaped: Self.columns)
              FROM contacts.relation AS r WHERE r.high = ANY (\(accounts)) AND r.low_is_responder
            """)
    }

    /// Reads, without a lock, who the contacts of some accounts are.
    func contacts(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        let accounts = accounts.sorted()
        return query(
            """
            SELECT r.low AS account, r.high AS contact FROM contacts.relation AS r WHERE r.low = ANY (\(accounts))
             UNION ALL
            SELECT r.high, r.low FROM contacts.relation AS r WHERE r.high = ANY (\(accounts))
            """)
    }

    func save(_ changes: WorkingSet<Pair, RelationRow>.Changes) {
        if !changes.deleted.isEmpty {
            query(
                """
                DELETE FROM contacts.relation AS r
                 USING unnest(\(changes.deleted.map(\.low)), \(changes.deleted.map(\.high))) AS u(low, high)
                 WHERE r.low = u.low AND r.high = u.high
                """)
        }
        if !changes.inserted.isEmpty {
            let rows = changes.inserted
            query(
                """
                INSERT INTO contacts.relation
                       (low, high, low_is_responder, low_nickname, low_notes, low_send_pings, low_receive_pings,
                low_notify_on_check_in, low_notify_on_expiry, low_pinged_at, low_last_ping_at, low_role_requested_at, low_version,
                low_updated_at, high_is_responder, high_nickname, high_notes, high_send_pings,
                high_receive_pings, high_notify_on_check_in, high_notify_on_expiry, high_pinged_at,
                high_last_ping_at, high_role_requested_at, high_version, high_updated_at, added_at)
                SELECT * FROM unnest(
                \(rows.map(\.key.low)), \(rows.map(\.key.high)), \(rows.map(\.row.low.isResponder)),
                \(rows.map(\.row.low.nickname)), \(rows.map(\.row.low.notes)), \(rows.map(\.row.low.sendPings)),
                \(rows.map(\.row.low.receivePings)), \(rows.map(\.row.low.notifyOnCheckIn)),
                \(rows.map(\.row.low.notifyOnExpiry)), \(rows.map(\.row.low.pinged)),
                \(rows.map(\.row.low.lastPing)), \(rows.map(\.row.low.roleRequested)), \(rows.map(\.row.low.version)), \(rows.map(\.row.low.updated)),
                \(rows.map(\.row.high.isResponder)), \(rows.map(\.row.high.nickname)),
                \(rows.map(\.row.high.notes)), \(rows.map(\.row.high.sendPings)),
                \(rows.map(\.row.high.receivePings)), \(rows.map(\.row.high.notifyOnCheckIn)),
                \(rows.map(\.row.high.notifyOnExpiry)), \(rows.map(\.row.high.pinged)),
                \(rows.map(\.row.high.lastPing)), \(rows.map(\.row.high.roleRequested)), \(rows.map(\.row.high.version)),
                \(rows.map(\.row.high.updated)), \(rows.map(\.row.added)))
                """)
        }
        if !changes.updated.isEmpty {
            let rows = changes.updated
            query(
                """
                UPDATE contacts.relation AS r
                   SET low_is_responder = u.low_is_responder, low_nickname = u.low_nickname, low_notes = u.low_notes,
                   low_send_pings = u.low_send_pings, low_receive_pings = u.low_receive_pings,
                   low_notify_on_check_in = u.low_notify_on_check_in,
                   low_notify_on_expiry = u.low_notify_on_expiry, low_pinged_at = u.low_pinged_at,
                   low_last_ping_at = u.low_last_ping_at, low_role_requested_at = u.low_role_requested_at,
                   low_version = u.low_version,
                   low_updated_at = u.low_updated_at, high_is_responder = u.high_is_responder,
                   high_nickname = u.high_nickname, high_notes = u.high_notes,
                   high_send_pings = u.high_send_pings, high_receive_pings = u.high_receive_pings,
                   high_notify_on_check_in = u.high_notify_on_check_in,
                   high_notify_on_expiry = u.high_notify_on_expiry, high_pinged_at = u.high_pinged_at,
                   high_last_ping_at = u.high_last_ping_at,
                   high_role_requested_at = u.high_role_requested_at, high_version = u.high_version,
                   high_updated_at = u.high_updated_at, added_at = u.added_at
                  FROM unnest(
                \(rows.map(\.key.low)), \(rows.map(\.key.high)), \(rows.map(\.row.low.isResponder)),
                \(rows.map(\.row.low.nickname)), \(rows.map(\.row.low.notes)), \(rows.map(\.row.low.sendPings)),
                \(rows.map(\.row.low.receivePings)), \(rows.map(\.row.low.notifyOnCheckIn)),
                \(rows.map(\.row.low.notifyOnExpiry)), \(rows.map(\.row.low.pinged)),
                \(rows.map(\.row.low.lastPing)), \(rows.map(\.row.low.roleRequested)), \(rows.map(\.row.low.version)), \(rows.map(\.row.low.updated)),
                \(rows.map(\.row.high.isResponder)), \(rows.map(\.row.high.nickname)),
                \(rows.map(\.row.high.notes)), \(rows.map(\.row.high.sendPings)),
                \(rows.map(\.row.high.receivePings)), \(rows.map(\.row.high.notifyOnCheckIn)),
                \(rows.map(\.row.high.notifyOnExpiry)), \(rows.map(\.row.high.pinged)),
                \(rows.map(\.row.high.lastPing)), \(rows.map(\.row.high.roleRequested)), \(rows.map(\.row.high.version)),
                \(rows.map(\.row.high.updated)), \(rows.map(\.row.added)))
                       AS u(low, high, low_is_responder, low_nickname, low_notes, low_send_pings, low_receive_pings,
                low_notify_on_check_in, low_notify_on_expiry, low_pinged_at, low_last_ping_at, low_role_requested_at, low_version,
                low_updated_at, high_is_responder, high_nickname, high_notes, high_send_pings,
                high_receive_pings, high_notify_on_check_in, high_notify_on_expiry, high_pinged_at,
                high_last_ping_at, high_role_requested_at, high_version, high_updated_at, added_at)
                 WHERE r.low = u.low AND r.high = u.high
                """)
        }
    }
}

extension Row {
    func pair() throws -> Pair {
        let (low, high) = try decode(AccountID.self, AccountID.self)
        return Pair(low, high)
    }

    func relation() throws -> RelationRow {
        RelationRow(low: try side(from: 2), high: try side(from: 14), added: try decode(26, as: Instant.self))
    }

    private func side(from column: Int) throws -> RelationRow.Side {
        RelationRow.Side(
            isResponder: try decode(column, as: Bool.self), nickname: try decode(column + 1, as: String.self),
            notes: try decode(column + 2, as: String.self), sendPings: try decode(column + 3, as: Bool.self),
            receivePings: try decode(column + 4, as: Bool.self), notifyOnCheckIn: try decode(column + 5, as: Bool.self),
            notifyOnExpiry: try decode(column + 6, as: Bool.self), pinged: try decode(column + 7, as: Instant?.self),
            lastPing: try decode(column + 8, as: Instant?.self),
            roleRequested: try decode(column + 9, as: Instant?.self), version: try decode(column + 10, as: Int64.self),
            updated: try decode(column + 11, as: Instant.self))
    }
}
