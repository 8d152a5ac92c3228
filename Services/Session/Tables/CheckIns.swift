import Postgres
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary

extension Pipeline {
    /// How many rows of a partition are searched for what holds an alarm back. A backlog is longer than that after an outage under full load;
    /// then an alarm isn't held back for a command further behind.
    static var searchedForWaiting: Int64 { 20_000 }

    /// Types of commands that hold back what a timer decides.
    static var checkIns: [String] { [CheckIn.type] }
    static var tripCommands: [String] { [ExtendTrip.type, EndTrip.type] }

    /// The first command of these types of each account that waits to be handled and hasn't expired: beyond what its partition's last batch
    /// covered, or parked. Other commands don't count, neither the account's nor anybody else's. Reads each partition's range
    /// once. The accounts are locked by now, so what is handled meanwhile isn't missed: their rows are read after it.
    func waitingCommands(_ types: [String], of accounts: Set<AccountID>) -> Pending? {
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
                                          ORDER BY l.position LIMIT \(Self.searchedForWaiting)) AS c
                     WHERE c.type = ANY (\(types)) AND c.key = ANY (\(keys))
                       AND coalesce(c.expires_at > clock_timestamp(), true)
                       -- What is urgent may be handled before the batches come to it.
                       AND NOT EXISTS (SELECT FROM session.outcome AS o WHERE o.command_id = c.command_id)
                     UNION ALL
                    SELECT q.key, q.recorded_at
                      FROM unnest(\(keys)) AS k(key)
                      JOIN session.parked AS q
                        ON q.source = 'session_client.session_commands'
                       AND q.partition = session_client.session_commands_partition_of(k.key) AND q.key = k.key
                     WHERE q.type = ANY (\(types)) AND coalesce(q.expires_at > clock_timestamp(), true)) AS w
             GROUP BY w.key
            """)
    }
}

extension Pending? {
    func waitingCommands() throws -> [AccountID: WaitingCommand] {
        var waiting: [AccountID: WaitingCommand] = [:]
        for row in try rowsIfAsked {
            guard let account = Key(try row.decode(0, as: String.self))?.account else { continue }
            waiting[account] = WaitingCommand(
                recordedAt: try row.decode(1, as: Instant.self), seenAt: try row.decode(2, as: Instant.self))
        }
        return waiting
    }
}
