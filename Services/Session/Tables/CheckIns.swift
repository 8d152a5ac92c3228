import Postgres
import Vocabulary

extension Pipeline {
    /// How many rows of a partition are searched for check-ins. A backlog is longer than that after an outage under full load;
    /// then an alarm isn't held back for a check-in further behind.
    static var searchedForCheckIns: Int64 { 20_000 }

    /// The first check-in of each account that waits to be handled and hasn't expired: beyond what its partition's last batch
    /// covered, or parked. Other commands don't count, neither the account's nor anybody else's. Reads each partition's range
    /// once. The accounts are locked by now, so what is handled meanwhile isn't missed: their rows are read after it.
    func waitingCheckIns(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        let keys = accounts.sorted().map { Key.account($0).description }
        return query(
            """
            SELECT w.key, min(w.recorded_at), clock_timestamp()
              FROM (SELECT c.key, c.recorded_at
                      FROM (SELECT DISTINCT session_client.session_commands_partition_of(k.key) AS partition
                              FROM unnest(\(keys)) AS k(key)) AS t
                     CROSS JOIN LATERAL (SELECT coalesce((SELECT b.position FROM session.batch AS b
                                                           WHERE b.source = 'session_client.session_commands'
                                                             AND b.partition = t.partition
                                                           ORDER BY b.number DESC LIMIT 1), 0) AS position) AS h
                     CROSS JOIN LATERAL (SELECT l.key, l.type, l.command_id, l.recorded_at, l.expires_at
                                           FROM session_client.session_commands AS l
                                          WHERE l.partition = t.partition AND l.position > h.position
                                          ORDER BY l.position LIMIT \(Self.searchedForCheckIns)) AS c
                     WHERE c.type = 'CheckIn' AND c.key = ANY (\(keys))
                       AND coalesce(c.expires_at > clock_timestamp(), true)
                       -- What is urgent may be handled before the batches come to it.
                       AND NOT EXISTS (SELECT FROM session.outcome AS o WHERE o.command_id = c.command_id)
                     UNION ALL
                    SELECT q.key, q.recorded_at
                      FROM unnest(\(keys)) AS k(key)
                      JOIN session.parked AS q
                        ON q.source = 'session_client.session_commands'
                       AND q.partition = session_client.session_commands_partition_of(k.key) AND q.key = k.key
                     WHERE q.type = 'CheckIn' AND coalesce(q.expires_at > clock_timestamp(), true)) AS w
             GROUP BY w.key
            """)
    }
}
