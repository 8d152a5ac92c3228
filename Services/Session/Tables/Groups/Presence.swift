import Postgres
import QuartetSessionContract
package import QuartetSessionRules
package import QuartetVocabulary
package import Storage

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

    /// When the oldest commands were appended that are for these keys, aren't handled yet, and can still be accepted: those of
    /// the key's partition that no batch has passed, and the parked ones. What has expired changes nothing any more, however
    /// long it waits. Reads a thousand rows of the log per key at most; if more wait and none of those counts, the last one
    /// stands for what comes after it. The locks that the batch has by now keep what is handled meanwhile from being missed:
    /// its rows are read later.
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
             CROSS JOIN LATERAL (
                SELECT coalesce(min(c.recorded_at) FILTER (WHERE c.key = k.key
                                                             AND (c.expires_at IS NULL
                                                                  OR c.expires_at >= clock_timestamp())),
                                CASE WHEN count(*) = 1000 THEN max(c.recorded_at) END) AS recorded_at
                  FROM (SELECT n.key, n.recorded_at, n.expires_at FROM session_client.session_commands AS n
                         WHERE n.partition = w.partition AND n.position > h.position
                         ORDER BY n.position LIMIT 1000) AS c) AS l
              LEFT JOIN LATERAL (SELECT q.recorded_at FROM session.parked AS q
                                  WHERE q.source = 'session_client.session_commands'
                                    AND q.partition = w.partition AND q.key = k.key
                                    AND (q.expires_at IS NULL OR q.expires_at >= clock_timestamp())
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
