import Bus
import EdgeClient
import Foundation
import Logging
import Postgres
import QuartetVocabulary

/// Whether it gets slower as it fills: the same figures in a small and in a full database, after churn, and while somebody
/// holds an old snapshot. A ratio of 1 is no change, 1.2 is a fifth slower.
extension LedgerBenchmark {
    private struct Pace {
        let rate: Double
        let milliseconds: Double
    }

    private func pace(_ seconds: Int) async throws -> Pace {
        let alone = try await closedLoop(inFlight: 1, seconds: max(2, seconds / 2))
        return Pace(
            rate: try await closedLoop(inFlight: 512, seconds: seconds).rate,
            milliseconds: alone.milliseconds.percentile(0.5))
    }

    func growth(_ rows: Int, _ seconds: Int, _ server: Server, _ report: inout Report) async throws {
        // A command, its event and its outcome with their indexes, and the WAL of them.
        try server.requireDisk(Int64(rows) * 2500)
        say("the small case")
        let small = try await pace(seconds)
        report.add("growth_small_commands_per_second", small.rate, of: Limits.insertsOfEight)
        try await fill(rows, server)
        var worst = 1.0
        func compare(_ name: String, _ now: Pace) {
            let ratios = (rate: small.rate / now.rate, time: now.milliseconds / small.milliseconds)
            report.add("growth_ratio_\(name)_throughput", ratios.rate, aim: "<= 1.2")
            report.add("growth_ratio_\(name)_latency", ratios.time, aim: "<= 1.2")
            worst = max(worst, ratios.rate, ratios.time)
        }
        say("the full case: \(rows) rows a log, a million keys")
        compare("full", try await pace(seconds))
        say("churn")
        _ = try await closedLoop(inFlight: 512, seconds: 4 * seconds)
        compare("after_churn", try await pace(seconds))

        say("with an old snapshot held for a minute, at half load")
        let holder = try await Connection.connect(Configuration(server.url("ledger")))
        try await holder.run { database in
            try database.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            try database.execute("SELECT count(*) FROM ledger.lease")
        }
        let before = try await closedLoop(inFlight: 128, seconds: seconds).rate
        _ = try await closedLoop(inFlight: 64, seconds: 60)
        let after = try await closedLoop(inFlight: 128, seconds: seconds).rate
        await holder.close()
        report.add("growth_ratio_snapshot_held_a_minute", before / after, aim: "<= 1.2")
        report.add("growth_ratio_worst", worst, aim: "<= 1.2")
        report.add("growth_1000_closures_s", try await closures(1000, server))
    }

    /// How long it takes to empty the messages of closed accounts, from asking for all of them.
    private func closures(_ count: Int, _ server: Server) async throws -> Double {
        say("emptying the messages of \(count) closed accounts")
        let begun = ContinuousClock.now
        var services: [Retention] = []
        for (schema, table) in [("ledger", "log"), ("ledger_client", "ledger_commands")] {
            try server.psql(
                "ledger",
                [
                    "-c",
                    "SELECT \(schema).redact(b.account) FROM (SELECT account FROM ledger.balance ORDER BY account LIMIT \(count)) AS b",
                ])
            let configuration = Configuration(server.url("ledger", as: schema))
            let connection = try await Connection.connect(configuration)
            let log = try await connection.run { try Log.open(LogName(schema: schema, table: table), $0) }
            await connection.close()
            services.append(
                Retention(
                    schema: schema, logs: [log], hasOutcomes: schema == "ledger", interval: .milliseconds(100),
                    configuration: configuration, logger: Logger(label: "retention") { _ in SwiftLogNoOpLogHandler() }))
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for service in services { group.addTask { try await service.run() } }
            defer { group.cancelAll() }
            let open = """
                SELECT (SELECT count(*) FROM ledger.redaction WHERE done_at IS NULL)
                     + (SELECT count(*) FROM ledger_client.redaction WHERE done_at IS NULL)
                """
            while try server.psql("ledger", ["-c", open]).trimmingCharacters(in: .whitespacesAndNewlines) != "0" {
                try await Task.sleep(for: .milliseconds(100))
            }
            return (ContinuousClock.now - begun).milliseconds / 1000
        }
    }

    private func fill(_ rows: Int, _ server: Server) async throws {
        let (partitions, piece) = (4, 250_000)
        let each = rows / partitions
        for partition in 0..<partitions {
            for begin in stride(from: 0, to: each, by: piece) {
                say("filling: \((partition * each + begin) * 100 / rows)%")
                let count = min(piece, each - begin)
                try server.psql(
                    "ledger",
                    [
                        "-c", "SET session_replication_role = replica", "-c",
                        """
                        DO $$
                        DECLARE asked bigint; said bigint;
                        BEGIN
                          PERFORM FROM ledger_client.ledger_commands_partition WHERE partition = \(partition) FOR NO KEY UPDATE;
                          PERFORM FROM ledger.log_partition WHERE partition = \(partition) FOR NO KEY UPDATE;
                          SELECT coalesce(max(position), 0) INTO asked FROM ledger_client.ledger_commands WHERE partition = \(partition);
                          SELECT coalesce(max(position), 0) INTO said FROM ledger.log WHERE partition = \(partition);
                          CREATE TEMP TABLE made ON COMMIT DROP AS
                          SELECT g, md5(((random() * 1000000)::int)::text)::uuid AS account, gen_random_uuid() AS id,
                                 json_build_object('amount', 1, 'client', 'filler', 'n', g, 'note', repeat('x', 140)) AS body
                            FROM generate_series(1, \(count)) AS g;
                          INSERT INTO ledger_client.ledger_commands (partition, position, kind, type, version, key, account, body, message_id, command_id)
                          SELECT \(partition), asked + g, 'command', 'PostEntry', 1, 'account/' || account, account, body, id, id FROM made;
                          INSERT INTO ledger.log (partition, position, kind, type, version, key, account, body, message_id, command_id, outcome, command_hash)
                          SELECT \(partition), said + g, 'event', 'EntryPosted', 1, 'account/' || account, account, body, id, id, 'accepted', id FROM made;
                          INSERT INTO ledger.outcome (command_id, account, command_hash, outcome, partition, position, type, body)
                          SELECT id, account, id, 'accepted', \(partition), said + g, 'EntryPosted', body FROM made;
                          INSERT INTO ledger.balance (account, amount) SELECT DISTINCT account, 1 FROM made ON CONFLICT DO NOTHING;
                          -- As if handled: who believes in an older batch is fenced and reads this one.
                          INSERT INTO ledger.batch (source, partition, number, position, owner, epoch, given_time, messages)
                          SELECT 'ledger_client.ledger_commands', \(partition),
                                 1 + coalesce((SELECT max(number) FROM ledger.batch WHERE partition = \(partition)), 0),
                                 asked + \(count), gen_random_uuid(), 0, clock_timestamp(), \(count);
                        END $$
                        """,
                    ])
            }
        }
    }
}

extension ProductBenchmark {
    /// Whether a million waiting timers slow a command that sets and clears one.
    func timers(_ count: Int, _ report: inout Report) async throws {
        say("a command beside \(count) waiting timers")
        let anna = try await Device.signUp("timer-anna", at: edge)
        func pace() async throws -> Double {
            var waits: [Double] = []
            for _ in 0..<150 {
                for command in ["RaiseAlert", "ClearAlert"] {
                    let begun = ContinuousClock.now
                    try await anna.act(command)
                    waits.append((ContinuousClock.now - begun).milliseconds)
                }
            }
            return waits.sorted().percentile(0.5)
        }
        _ = try await pace()
        let before = try await pace()
        try server.psql(
            "quartet",
            [
                "-c",
                """
                INSERT INTO session.timer (key, name, due_at, type, version, body)
                SELECT 'account/' || gen_random_uuid(), 'MissCheckIn', now() + interval '1 day' + random() * interval '7 days',
                       'MissCheckIn', 1, json_build_object('account', gen_random_uuid(), 'deadline', 0)
                  FROM generate_series(1, \(count))
                """,
            ])
        report.add("growth_ratio_timers_latency", try await pace() / before, aim: "<= 1.2")
        try server.psql("quartet", ["-c", "TRUNCATE session.timer"])

        say("a command beside 200000 dead timers that an old snapshot keeps")
        let holder = try await Connection.connect(Configuration(server.url("quartet")))
        try await holder.run { database in
            try database.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            try database.execute("SELECT count(*) FROM session.lease")
        }
        try server.psql(
            "quartet",
            [
                "-c",
                """
                INSERT INTO session.timer (key, name, due_at, type, version, body)
                SELECT 'account/' || gen_random_uuid(), 'Dead', now() - interval '1 hour' + g * interval '1 millisecond', 'Dead', 1, '{}'
                  FROM generate_series(1, 200000) AS g;
                DELETE FROM session.timer AS t WHERE t.name = 'Dead'
                """,
            ])
        report.add("growth_ratio_dead_timers_latency", try await pace() / before, aim: "<= 1.2")
        await holder.close()
    }
}
