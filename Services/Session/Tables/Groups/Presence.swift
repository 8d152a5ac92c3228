import Postgres
import SessionContract
package import SessionRules
package import Storage
package import Vocabulary

// The tables of presence: edge processes, and their connections to sessions.

extension Tables {
    package static let edge = Table<OwnerID, EdgeRow>(
        "session.edge", as: "e", key: TableKey("edge"), blank: EdgeRow(leaseUntil: .blank),
        columns: [
            Column("lease_until", \.leaseUntil),
            Column("ended_at", \.ended),
            Column("reconsidered_at", \.reconsideredAt),
        ])

    package static let connection = Table<ConnectionKey, ConnectionRow>(
        "session.group_connection", as: "c",
        key: TableKey(
            KeyColumn("group_id", \.group), KeyColumn("connection", \.connection), make: ConnectionKey.init),
        blank: ConnectionRow(account: .blank, edge: .blank),
        columns: [
            Column("account", \.account),
            Column("edge", \.edge),
        ])
}

extension Pipeline {
    /// Locks and reads edge processes, in the order of their ids: no connection comes to one whose lease ends, while many come to
    /// one at once.
    func lockEdges(_ touched: SessionRows.Selection) -> Pending? {
        let edges = touched.renewingEdges.union(touched.expiringEdges).union(touched.connectingEdges)
        guard !edges.isEmpty else { return nil }
        // One strength for all, so that no batch holds a weaker lock which it then wants stronger.
        let strength =
            if !touched.expiringEdges.isEmpty {
                "UPDATE"
            } else if !touched.renewingEdges.isEmpty {
                "NO KEY UPDATE"
            } else {
                "KEY SHARE"
            }
        return query(
            """
            SELECT \(unescaped: Tables.edge.selection)
              FROM session.edge AS e
             WHERE e.edge = ANY (\(edges.sorted()))
             ORDER BY e.edge
               FOR \(unescaped: strength)
            """)
    }

    /// Reads the edge processes that come after one, in the order of their ids.
    func edges(after edge: OwnerID?, limit: Int64) -> Pending {
        query(
            """
            SELECT \(unescaped: Tables.edge.selection)
              FROM session.edge AS e
             WHERE e.edge > \(edge ?? .blank)
             ORDER BY e.edge
             LIMIT \(limit)
            """)
    }

    /// The sessions that edge processes have connections to, up to a limit.
    func groups(connectedBy edges: Set<OwnerID>, limit: Int64) -> Pending? {
        guard !edges.isEmpty else { return nil }
        return query(
            """
            SELECT DISTINCT c.group_id
              FROM session.group_connection AS c
             WHERE c.edge = ANY (\(edges.sorted()))
             ORDER BY c.group_id
             LIMIT \(limit)
            """)
    }

    /// The sessions that accounts are in.
    func groups(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT DISTINCT p.group_id
              FROM session.participant AS p
             WHERE p.account = ANY (\(accounts.sorted())) AND p.status = 'joined'
            """)
    }

    /// When the oldest commands were appended that may be for these keys and aren't handled yet: the first one of the key's
    /// partition that no batch has passed, and the key's first parked one. Reads one row of the log per key. The locks that the
    /// batch has by now keep what is handled meanwhile from being missed: its rows are read later.
    func waitingCommands(for keys: Set<Key>) -> Pending? {
        guard !keys.isEmpty else { return nil }
        return query(
            """
            SELECT k.key, least(l.recorded_at, p.recorded_at)
              FROM unnest(\(keys.map(\.description).sorted())) AS k(key)
             CROSS JOIN LATERAL (SELECT session_client.session_commands_partition_of(k.key) AS partition) AS w
             CROSS JOIN LATERAL (SELECT coalesce((SELECT b.position FROM session.batch AS b
                                                   WHERE b.source = 'session_client.session_commands'
                                                     AND b.partition = w.partition
                                                   ORDER BY b.number DESC LIMIT 1), 0) AS position) AS h
              LEFT JOIN LATERAL (SELECT c.recorded_at FROM session_client.session_commands AS c
                                  WHERE c.partition = w.partition AND c.position > h.position
                                  ORDER BY c.position LIMIT 1) AS l ON true
              LEFT JOIN LATERAL (SELECT q.recorded_at FROM session.parked AS q
                                  WHERE q.source = 'session_client.session_commands'
                                    AND q.partition = w.partition AND q.key = k.key
                                  ORDER BY q.position LIMIT 1) AS p ON true
            """)
    }

    /// The connections to sessions.
    func connections(to groups: [GroupID]) -> Pending? {
        guard !groups.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.connection.selection)
              FROM session.group_connection AS c
             WHERE c.group_id = ANY (\(groups))
            """)
    }
}
