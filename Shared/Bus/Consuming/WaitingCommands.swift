package import Postgres
package import QuartetVocabulary

extension Pipeline {
    /// How many rows of a partition are searched for what holds an alarm back. A backlog is longer than that after an outage under full load;
    /// then an alarm isn't held back for a command further behind.
    package static var searchedForWaiting: Int64 { 20_000 }

    /// The commands of these types of each account that wait to be handled and haven't expired: beyond what its partition's last batch
    /// covered, or parked. Other commands don't count, neither the account's nor anybody else's. Reads each partition's range
    /// once. The accounts, or what else the commands change, are locked by now, so what is handled meanwhile isn't missed: the
    /// rows are read after it.
    /// - Parameters:
    ///   - log: Where the commands come from.
    ///   - service: The schema of who handles them.
    package func waitingCommands(
        _ types: [String], of accounts: Set<AccountID>, in log: String, to service: String
    ) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        let keys = accounts.sorted().map { Key.account($0).description }
        return query(
            """
            SELECT w.key, min(w.recorded_at), max(w.recorded_at), clock_timestamp()
              FROM (SELECT c.key, c.recorded_at
                      FROM (SELECT DISTINCT \(unescaped: log)_partition_of(k.key) AS partition
                              FROM unnest(\(keys)) AS k(key)) AS t
                     CROSS JOIN LATERAL (SELECT coalesce((SELECT b.position FROM \(unescaped: service).batch AS b
                                                           WHERE b.source = \(log)
                                                             AND b.partition = t.partition
                                                           ORDER BY b.number DESC LIMIT 1), 0) AS position) AS h
                     CROSS JOIN LATERAL (SELECT l.key, l.type, l.command_id, l.recorded_at, l.expires_at
                                           FROM \(unescaped: log) AS l
                                          WHERE l.partition = t.partition AND l.position > h.position
                                          ORDER BY l.position LIMIT \(Self.searchedForWaiting)) AS c
                     WHERE c.type = ANY (\(types)) AND c.key = ANY (\(keys))
                       AND coalesce(c.expires_at > clock_timestamp(), true)
                       -- What is urgent may be handled before the batches come to it.
                       AND NOT EXISTS (SELECT FROM \(unescaped: service).outcome AS o WHERE o.command_id = c.command_id)
                     UNION ALL
                    SELECT q.key, q.recorded_at
                      FROM unnest(\(keys)) AS k(key)
                      JOIN \(unescaped: service).parked AS q
                        ON q.source = \(log)
                       AND q.partition = \(unescaped: log)_partition_of(k.key) AND q.key = k.key
                     WHERE q.type = ANY (\(types)) AND coalesce(q.expires_at > clock_timestamp(), true)) AS w
             GROUP BY w.key
            """)
    }
}

extension Pending? {
    package func waitingCommands() throws -> [AccountID: WaitingCommand] {
        guard let pending = self else { return [:] }
        var waiting: [AccountID: WaitingCommand] = [:]
        for row in try pending.rows() {
            guard let account = Key(try row.decode(0, as: String.self))?.account else { continue }
            waiting[account] = WaitingCommand(
                recordedAt: try row.decode(1, as: Instant.self), lastRecordedAt: try row.decode(2, as: Instant.self),
                seenAt: try row.decode(3, as: Instant.self))
        }
        return waiting
    }
}
