import EdgeClient
import TestKit
import Testing

/// What operators see: views, the story of a request, metrics.
@Suite("End to end: for operators", .timeLimit(.minutes(60)))
struct OperatorTests {
    @Test(
        "one query shows a request's whole story as a tree, every view answers, and metrics count what was done (T24)")
    func observability() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob)
            try await quartet.waitUntilQuiet()
            let ping = try await anna.act("SendPing", ["contact": .string(bob.account)])
            #expect(ping["contact"].string == bob.account)
            try await quartet.waitUntilQuiet()

            let reader = "SET SESSION AUTHORIZATION quartet_reader; "
            let story = try await quartet.psql(
                reader
                    + """
                    SELECT string_agg(trim(tree) || ' ' || log, E'\\n') FROM session_client.story(
                        (SELECT command_id FROM session_client.contacts_commands WHERE type = 'SendPing'))
                    """)
            for step in [
                "SendPing session_client.contacts_commands", "PingSent contacts.log", "PingReceived contacts.log",
                "DeliverNotification session_client.notifications_commands", "NotificationDelivered notifications.log",
            ] { #expect(story.contains(step), "\(step) is missing in\n\(story)") }

            let views = try await quartet.psql(
                """
                SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                 WHERE n.nspname = 'session_client' AND c.relkind = 'v' ORDER BY 1
                """
            ).split(separator: "\n")
            #expect(views.count >= 15)
            for view in views { _ = try await quartet.psql(reader + "TABLE session_client.\(view)") }
            // What needs no command, like a delivery, is read a moment after all are quiet.
            try await quartet.wait(
                for: "nobody to be behind", "SELECT sum(behind) FROM session_client.lag"
            ) { $0 == "0" }
            let owned = try await quartet.psql(
                reader + "SELECT count(*) FROM session_client.leases WHERE state = 'held'")
            #expect(owned.contains("72"), "nine logs of eight partitions each")

            let contacts = try await quartet.metrics(of: .contacts)
            let accepted = #"quartet_commands_total{source="session_client.contacts_commands",outcome="accepted"} "#
            let count = contacts.first { $0.hasPrefix(accepted) }.flatMap { Int($0.dropFirst(accepted.count)) }
            let outcomes = try await quartet.psql("SELECT count(*) FROM contacts.outcome WHERE outcome = 'accepted'")
            #expect(count == Int(outcomes.split(separator: "\n").first ?? ""))
            #expect(contacts.contains { $0.hasPrefix("quartet_batch_seconds_count") })
            #expect(contacts.contains { $0.hasPrefix("quartet_lag_messages{") })
            #expect(contacts.contains { $0.hasPrefix("quartet_doorbells_total{") })
            let edge = try await quartet.metrics(of: .sessionClient)
            #expect(edge.contains { $0.hasPrefix(#"quartet_tail_rows_total{log="contacts.log"}"#) })
            #expect(edge.contains { $0.hasPrefix("quartet_subscribers{") })
            #expect(edge.contains { $0.hasPrefix("quartet_pool_connections{") })
        }
    }

    @Test("a command that is in its log twice is shown once: in the newest messages, the counts and the story")
    func appendedTwice() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            try await anna.act("ResetContactCode")
            try await quartet.waitUntilQuiet()
            let reader = "SET SESSION AUTHORIZATION quartet_reader; "
            let log = "session_client.contacts_commands"
            let key = "account/\(anna.account)"
            let reset = "(SELECT command_id FROM \(log) WHERE type = 'ResetContactCode' LIMIT 1)"
            func seen() async throws -> [String] {
                try await quartet.psql(
                    reader
                        + """
                        SELECT count(*) FROM session_client.newest_messages(1000) WHERE type = 'ResetContactCode'
                         UNION ALL
                        SELECT messages FROM session_client.biggest_keys WHERE log = '\(log)' AND key = '\(key)'
                         UNION ALL
                        SELECT count(*) FROM session_client.story(\(reset))
                         UNION ALL
                        SELECT count(*) FROM session_client.story(\(reset)) WHERE tree LIKE '%ResetContactCode'
                        """
                ).split(separator: "\n").map(String.init)
            }
            let before = try await seen()
            #expect(before.first == "1" && before.last == "1")
            // As its sender does when it lost the connection before it heard of the commit.
            _ = try await quartet.psql(
                """
                SELECT \(log)_append(ARRAY[c.partition], ARRAY[1], ARRAY[1], ARRAY[c.kind::text], ARRAY[c.type::text],
                                     ARRAY[c.version::smallint], ARRAY[c.key::text], ARRAY[c.account], ARRAY[c.body::json],
                                     ARRAY[c.message_id], ARRAY[c.command_id], NULL, NULL, ARRAY[c.correlation_id], NULL,
                                     NULL, NULL)
                  FROM \(log) AS c WHERE c.type = 'ResetContactCode';
                SELECT pg_notify('\(log)', '');
                """)
            try await quartet.waitUntilQuiet()
            #expect(
                try await quartet.psql("SELECT count(*) FROM \(log) WHERE type = 'ResetContactCode'").hasPrefix("2"))
            #expect(try await seen() == before)
        }
    }

    @Test(
        "an operator retries a dead letter, once, under a new command's outcome, and discards another with a reason")
    func deadLetters() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            // As the service would have set them aside.
            let letters = try await quartet.psql(
                """
                INSERT INTO contacts.dead_letter (message_id, source, partition, position, kind, type, version, key, account,
                                                  body, command_id, code, error, attempts)
                SELECT gen_random_uuid(), 'session_client.contacts_commands', 0, n, 'command', 'SetContactApproval', 1,
                       'account/\(anna.account)', '\(anna.account)', '{"isRequired":true}', gen_random_uuid(), 'error', 'test', 5
                  FROM generate_series(1, 2) AS n RETURNING message_id
                """
            ).split(separator: "\n").map(String.init)
            let operate = "SET SESSION AUTHORIZATION quartet_operator; "
            let open = operate + "SELECT count(*) FROM session_client.dead_letters WHERE state = 'open'"
            #expect(try await quartet.psql(open).hasPrefix("2"))
            let sees = try await LiveView.open(anna)
            let command = try await quartet.psql(
                operate + "SELECT session_client.retry_dead_letter('\(letters[0])', 'it works now')")
            try await sees.wait("ContactApprovalSet", in: "contacts")
            let outcome = try await quartet.psql(
                "SELECT outcome FROM contacts.outcome WHERE command_id = '\(command.prefix(36))'")
            #expect(outcome.hasPrefix("accepted"))
            _ = try await quartet.psql(
                operate + "SELECT session_client.discard_dead_letter('\(letters[1])', 'nobody needs it')")
            #expect(try await quartet.psql(open).hasPrefix("0"))
            let states = try await quartet.psql(
                operate + "SELECT string_agg(state, ',' ORDER BY state) FROM session_client.dead_letters")
            #expect(states.hasPrefix("discarded,retried"))
            // Once.
            await #expect(throws: (any Error).self) {
                try await quartet.psql(
                    operate + "SELECT session_client.retry_dead_letter('\(letters[0])', 'it works now')")
            }
        }
    }

    @Test("after an operator's act, a later statement of its transaction that takes long is cancelled")
    func shortTransactions() async throws {
        try await Quartet.with { quartet in
            let act = """
                SET SESSION AUTHORIZATION quartet_operator; BEGIN;
                SELECT contacts.set_retention('batch', '1 day', NULL, 'a test');
                """
            _ = try await quartet.psql("\(act) SELECT 1; COMMIT;")
            await #expect(throws: (any Error).self) {
                try await quartet.psql("\(act) SELECT pg_sleep(20); COMMIT;")
            }
            let acts = try await quartet.psql(
                "SELECT count(*) FROM contacts.operator_act WHERE act = 'set_retention'")
            #expect(acts.hasPrefix("1"))
        }
    }

    @Test("ended operations are deleted after 31 days, and an older request is refused, not done again")
    func oldOperations() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["RETENTION_INTERVAL": "200ms"])
            let anna = try await quartet.signUp("anna")
            try await anna.operate("ClearAllReceivedPings")
            _ = try await quartet.psql("UPDATE session_client.saga SET ended_at = ended_at - interval '32 days'")
            try await quartet.wait(
                for: "it to be forgotten",
                "SELECT (SELECT count(*) FROM session_client.saga) + (SELECT count(*) FROM session_client.saga_step)"
            ) { $0.hasPrefix("0") }
            let old = try await quartet.edge.send(
                "POST", "/v1/operations/ClearAllReceivedPings", token: anna.token,
                key: "019b0000-0000-7000-8000-000000000001")
            #expect(old.status == 400 && old.body["code"] == "idTooOld")
        }
    }

    @Test("when a service lags, the edge refuses further commands at once and says when to retry (T21)")
    func backPressure() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["COMMANDS_UNANSWERED": "3"])
            let anna = try await quartet.signUp("anna")
            try await quartet.kill(.contacts)
            // Their callers wait; each is sent and not answered.
            let waiting = (0..<3).map { _ in
                Task {
                    try await quartet.edge.send(
                        "POST", "/v1/commands/ResetContactCode", body: [:], token: anna.token,
                        key: EdgeClient.newKey())
                }
            }
            try await quartet.wait(
                for: "three commands",
                "SELECT count(DISTINCT command_id) FROM session_client.contacts_commands WHERE type = 'ResetContactCode'"
            ) { $0.hasPrefix("3") }
            let refused = try await quartet.edge.send(
                "POST", "/v1/commands/ResetContactCode", body: [:], token: anna.token, key: EdgeClient.newKey())
            #expect(refused.status == 503 && refused.body["code"] == "overloaded")
            #expect(refused.headers["retry-after"] == "1")
            // The other services are not concerned.
            try await anna.act("CheckIn")

            try await quartet.start(.contacts)
            for task in waiting {
                let reply = try await task.value
                #expect(reply.status == 200 || reply.status == 202)
            }
            try await quartet.waitUntilQuiet()
            let again = try await anna.act("ResetContactCode")
            #expect(again["code"].string != nil)
        }
    }
}
