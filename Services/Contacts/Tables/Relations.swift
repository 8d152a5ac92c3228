import Postgres
import QuartetContactsContract
package import QuartetContactsRules
import QuartetVocabulary
package import Storage

// contacts.relation

extension Tables {
    package static let relation = Table<Pair, RelationRow>(
        "contacts.relation", as: "r",
        key: TableKey(KeyColumn("low", \.low), KeyColumn("high", \.high), make: Pair.init),
        blank: .blank,
        columns: [
            Column("low_is_responder", \.low.iAmResponder),
            Column("low_shows_reach", \.low.showsReach),
            Column("low_nickname", \.low.nickname),
            Column("low_notes", \.low.notes),
            Column("low_send_pings", \.low.sendPings),
            Column("low_receive_pings", \.low.receivePings),
            Column("low_notify_on_check_in", \.low.notifyOnCheckIn),
            Column("low_notify_on_missed_check_in", \.low.notifyOnMissedCheckIn),
            Column("low_pinged_at", \.low.pinged),
            Column("low_last_ping_at", \.low.lastPing),
            Column(json: "low_ping_watch", \.low.watch),
            Column("low_ping_escalation", \.low.pingEscalation),
            Column("low_role_requested_at", \.low.roleRequested),
            Column("low_version", \.low.version),
            Column("low_updated_at", \.low.updated),
            Column("high_is_responder", \.high.iAmResponder),
            Column("high_shows_reach", \.high.showsReach),
            Column("high_nickname", \.high.nickname),
            Column("high_notes", \.high.notes),
            Column("high_send_pings", \.high.sendPings),
            Column("high_receive_pings", \.high.receivePings),
            Column("high_notify_on_check_in", \.high.notifyOnCheckIn),
            Column("high_notify_on_missed_check_in", \.high.notifyOnMissedCheckIn),
            Column("high_pinged_at", \.high.pinged),
            Column("high_last_ping_at", \.high.lastPing),
            Column(json: "high_ping_watch", \.high.watch),
            Column("high_ping_escalation", \.high.pingEscalation),
            Column("high_role_requested_at", \.high.roleRequested),
            Column("high_version", \.high.version),
            Column("high_updated_at", \.high.updated),
            Column("added_at", \.added),
        ])
}

extension Pipeline {
    /// Locks and reads, in one statement and in the order of the primary key, every relation that the commands may
    /// change.
    func lockRelations(_ touched: ContactsRows.Selection) -> Pending? {
        guard
            !touched.pairs.isEmpty || !touched.closing.isEmpty || !touched.answering.isEmpty
                || !touched.alerting.isEmpty
        else { return nil }
        let pairs = touched.pairs.sorted()
        let (closing, answering) = (touched.closing.sorted(), touched.answering.sorted())
        let alerting = touched.alerting.sorted()
        return query(
            """
            SELECT \(unescaped: Tables.relation.selection)
              FROM contacts.relation AS r
              JOIN (SELECT p.low, p.high FROM unnest(\(pairs.map(\.low)), \(pairs.map(\.high))) AS p(low, high)
                     UNION
                    SELECT c.low, c.high FROM contacts.relation AS c WHERE c.low = ANY (\(closing))
                     UNION
                    SELECT c.low, c.high FROM contacts.relation AS c WHERE c.high = ANY (\(closing))
                     UNION
                    SELECT c.low, c.high FROM contacts.relation AS c
                     WHERE c.low = ANY (\(answering))
                       AND (c.high_pinged_at IS NOT NULL OR c.high_ping_watch -> 'missed' IS NOT NULL)
                     UNION
                    SELECT c.low, c.high FROM contacts.relation AS c
                     WHERE c.high = ANY (\(answering))
                       AND (c.low_pinged_at IS NOT NULL OR c.low_ping_watch -> 'missed' IS NOT NULL)
                     UNION
                    SELECT c.low, c.high FROM contacts.relation AS c
                     WHERE c.low = ANY (\(alerting)) AND c.high_is_responder
                     UNION
                    SELECT c.low, c.high FROM contacts.relation AS c
                     WHERE c.high = ANY (\(alerting)) AND c.low_is_responder
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
            SELECT \(unescaped: Tables.relation.selection)
              FROM contacts.relation AS r WHERE r.low = ANY (\(accounts)) AND r.high_is_responder
             UNION ALL
            SELECT \(unescaped: Tables.relation.selection)
              FROM contacts.relation AS r WHERE r.high = ANY (\(accounts)) AND r.low_is_responder
            """)
    }

    /// Reads, without a lock, which responders of accounts nothing has reached for long.
    func outOfReach(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        let accounts = accounts.sorted()
        return query(
            """
            SELECT a.account
              FROM (SELECT r.high AS responder FROM contacts.relation AS r
                     WHERE r.low = ANY (\(accounts)) AND r.high_is_responder AND r.high_shows_reach
                     UNION
                    SELECT r.low FROM contacts.relation AS r
                     WHERE r.high = ANY (\(accounts)) AND r.low_is_responder AND r.low_shows_reach) AS s
              JOIN contacts.account AS a ON a.account = s.responder
             WHERE NOT a.is_reachable
            """)
    }

    /// Reads, without a lock, the relations of accounts with those whose responders they are.
    func dependents(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        let accounts = accounts.sorted()
        return query(
            """
            SELECT \(unescaped: Tables.relation.selection)
              FROM contacts.relation AS r WHERE r.low = ANY (\(accounts)) AND r.low_is_responder
             UNION ALL
            SELECT \(unescaped: Tables.relation.selection)
              FROM contacts.relation AS r WHERE r.high = ANY (\(accounts)) AND r.high_is_responder
            """)
    }

    /// Reads, without a lock, the contacts' ids.
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
}
