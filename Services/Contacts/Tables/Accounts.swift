import Postgres
import QuartetContactsContract
package import QuartetContactsRules
package import QuartetVocabulary
package import Storage

// contacts.account

extension Tables {
    package static let account = Table<AccountID, AccountRow>(
        "contacts.account", as: "a", key: TableKey("account"), blank: AccountRow(code: nil),
        columns: [
            Column("code", \.code),
            Column("is_approval_required", \.isApprovalRequired),
            Column("closed_at", \.closed),
            Column("reachable_until", \.reachableUntil),
            Column("is_reachable", \.isReachable),
            Column("returns_at", \.returns),
            Column("responder_reach", \.responderReach),
            Column("settled_reach", \.settledReach),
            Column("unsettled_at", \.unsettled),
            Column(json: "responder_tiers", \.responderTiers),
            Column("responder_tiers_version", \.responderTiersVersion),
            Column("next_tier_at", \.nextTier),
            Column("next_renewal_at", \.nextRenewal),
            Column(json: "ping_escalation", \.pingEscalation),
            Column("next_ping_at", \.nextPing),
        ])
}

extension Pipeline {
    /// Locks and reads the accounts that the commands change, by id or code, in the order of their ids.
    func lockAccounts(_ touched: ContactsRows.Selection) -> Pending? {
        guard !touched.spreading.isEmpty else { return lockAccounts(touched.changed, codes: touched.codes) }
        // Once an account is locked, nobody else becomes its dependent. Someone may have done so just before: the second
        // statement locks these, too. Out of order, so at worst the batch is tried again.
        _ = lockAccounts(touched.changed, codes: touched.codes, spreading: touched.spreading)
        return lockAccounts(touched.changed, codes: touched.codes, spreading: touched.spreading)
    }

    private func lockAccounts(
        _ accounts: Set<AccountID>, codes: Set<ContactCode>, spreading: Set<AccountID>
    ) -> Pending {
        query(
            """
            SELECT \(unescaped: Tables.account.selection)
              FROM contacts.account AS a
             WHERE a.account = ANY (\(accounts.sorted()) || ARRAY(\(Self.dependentIDs(of: spreading))))
                OR a.code = ANY (\(codes.sorted()))
             ORDER BY a.account
               FOR NO KEY UPDATE
            """)
    }

    /// A query: those whose responders accounts are.
    private static func dependentIDs(of accounts: Set<AccountID>) -> Query {
        let accounts = accounts.sorted()
        return """
            SELECT r.high FROM contacts.relation AS r WHERE r.low = ANY (\(accounts)) AND r.low_is_responder
             UNION
            SELECT r.low FROM contacts.relation AS r WHERE r.high = ANY (\(accounts)) AND r.high_is_responder
            """
    }

    func responderCounts(_ touched: ContactsRows.Selection) -> Pending? {
        guard !touched.spreading.isEmpty else {
            return touched.counted.isEmpty ? nil : responderCounts(of: touched.counted)
        }
        return responderCounts(of: touched.counted, and: Self.dependentIDs(of: touched.spreading))
    }

    /// Counts the responders of accounts who hear of missed check-ins. While these accounts are locked, neither who their responders are nor whether
    /// those can be reached changes.
    func responderCounts(of accounts: Set<AccountID>, and others: Query = "SELECT unnest('{}'::uuid[])") -> Pending {
        query(
            """
            SELECT w.account, c.responders, c.reachable
              FROM (SELECT unnest(\(accounts.sorted())) UNION (\(others))) AS w(account)
             CROSS JOIN LATERAL (
                SELECT count(*) AS responders, count(*) FILTER (WHERE a.is_reachable OR NOT s.shows_reach) AS reachable
                  FROM (SELECT r.high AS responder, r.high_shows_reach AS shows_reach FROM contacts.relation AS r
                         WHERE r.low = w.account AND r.high_is_responder AND r.high_notify_on_missed_check_in
                         UNION ALL
                        SELECT r.low, r.low_shows_reach FROM contacts.relation AS r
                         WHERE r.high = w.account AND r.low_is_responder AND r.low_notify_on_missed_check_in) AS s
                  JOIN contacts.account AS a ON a.account = s.responder) AS c
            """)
    }

    func accounts(after place: AccountID?, limit: Int64) -> Pending {
        query(
            """
            SELECT \(unescaped: Tables.account.selection)
              FROM contacts.account AS a
             WHERE a.account > \(place ?? AccountID(high: 0, low: 0))
             ORDER BY a.account
             LIMIT \(limit)
            """)
    }

    func lockAccounts(_ accounts: Set<AccountID>, codes: Set<ContactCode> = []) -> Pending? {
        guard !accounts.isEmpty || !codes.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.account.selection)
              FROM contacts.account AS a
             WHERE a.account = ANY (\(accounts.sorted())) OR a.code = ANY (\(codes.sorted()))
             ORDER BY a.account
               FOR NO KEY UPDATE
            """)
    }

    func accounts(_ accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.account.selection)
              FROM contacts.account AS a
             WHERE a.account = ANY (\(accounts.sorted()))
            """)
    }
}
