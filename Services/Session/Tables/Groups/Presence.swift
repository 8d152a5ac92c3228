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
