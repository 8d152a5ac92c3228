import EdgeClient
import RPCClient
import TestKit
import Testing

/// W3C trace context (https://www.w3.org/TR/trace-context/): by a request's `traceparent`, an operator finds all that it led to.
@Suite("End to end: traces", .timeLimit(.minutes(60)))
struct TraceTests {
    private static func trace(_ digit: Int) -> String {
        "00-\(String(repeating: "\(digit)", count: 32))-00f067aa0ba902b7-01"
    }

    @Test("a request's traceparent is in every row of every log that the request leads to, over both transports (T24)")
    func rows() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob)
            try await quartet.waitUntilQuiet()
            let (ping, clear) = (Self.trace(1), Self.trace(2))
            try await quartet.rpc { rpc in
                _ = try await rpc.call(
                    "SendPing", ["contact": .string(bob.account)], token: anna.token, key: EdgeClient.newKey(),
                    metadata: ["traceparent": ping])
            }
            try await quartet.waitUntilQuiet()
            let cleared = try await bob.send("/v1/operations/ClearAllReceivedPings", ["checkIn": true], under: clear)
            #expect(cleared.isSuccess, "\(cleared)")
            try await quartet.waitUntilQuiet()

            let always: Set = [
                "contacts.log", "notifications.log", "session_client.contacts_commands",
                "session_client.notifications_commands",
            ]
            let inOperation: Set = [
                "session_client.operations", "session_client.saga", "session_client.session_commands",
            ]
            for (trace, tables) in [(ping, always), (clear, always.union(inOperation))] {
                let rows = try await quartet.rows(of: trace)
                #expect(Set(rows.filter { $0.with > 0 }.map { $0.table }).isSuperset(of: tables), "\(rows)")
                #expect(rows.filter { $0.without > 0 }.map { $0.table } == [])
            }
        }
    }

    @Test(
        "every line about a request that fails has its traceparent, at the edge and in the service that gives it up (T24)"
    )
    func lines() async throws {
        try await Quartet.with(services: [.session, .notifications, .sessionClient]) { quartet in
            try await quartet.start(.contacts, environment: ["CONSUMER_GIVE_UP_AFTER": "1s"])
            let anna = try await quartet.signUp("anna")
            try await quartet.waitUntilQuiet()
            _ = try await quartet.psql(
                """
                ALTER TABLE contacts.account ADD CONSTRAINT nobody_is_careful CHECK (NOT is_approval_required) NOT VALID;
                REVOKE SELECT ON session.account_state FROM session_client
                """)
            let (read, call, command, untaken) = (Self.trace(1), Self.trace(2), Self.trace(3), Self.trace(4))
            let refused = try await quartet.edge.send(
                "GET", "/v1/account", token: anna.token, headers: ["traceparent": read])
            #expect(refused.body["code"] == "internal")
            await #expect(throws: RPCClient.Refused.self) {
                try await quartet.rpc { rpc in
                    _ = try await rpc.call("GetAccount", token: anna.token, metadata: ["traceparent": call])
                }
            }
            let failed = try await anna.send("/v1/commands/SetContactApproval", ["isRequired": true], under: command)
            #expect(failed.body["code"] == "failed", "\(failed)")
            _ = try await quartet.psql(
                """
                ALTER TABLE session_client.contacts_commands
                  ADD CONSTRAINT nothing_is_taken CHECK (kind <> 'command') NOT VALID
                """)
            let reply = try await anna.send("/v1/commands/SetContactApproval", ["isRequired": true], under: untaken)
            #expect(reply.body["code"] == "refused", "\(reply)")

            let lines: [(Quartet.Service, String, String)] = [
                (.sessionClient, "a request failed", read), (.sessionClient, "a request failed", call),
                (.contacts, "a batch failed", command), (.contacts, "gave a message up", command),
                (.sessionClient, "the database refused a row", untaken),
            ]
            for (service, text, trace) in lines {
                try await quartet.process(of: service).waitForLine("\"\(text)\" under \(trace)") {
                    $0.contains(text) && $0.contains("trace_parent=\(trace)")
                }
            }
            #expect(try await quartet.psql("SELECT trace_parent FROM contacts.dead_letter") == command)
            _ = try await quartet.psql(
                """
                ALTER TABLE contacts.account DROP CONSTRAINT nobody_is_careful;
                ALTER TABLE session_client.contacts_commands DROP CONSTRAINT nothing_is_taken;
                GRANT SELECT ON session.account_state TO session_client
                """)
        }
    }

    @Test("a gRPC call without a traceparent gets one, which is in its rows and in the line about its failure (T24)")
    func made() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            try await quartet.waitUntilQuiet()
            // The device is signed out by a command before the operation is begun that ends its pushes.
            _ = try await quartet.psql(
                "ALTER TABLE session_client.saga ADD CONSTRAINT nothing_begins CHECK (type <> 'SignOut') NOT VALID")
            await #expect(throws: RPCClient.Refused.self) {
                try await quartet.rpc { rpc in
                    _ = try await rpc.call("SignOut", token: anna.token, key: EdgeClient.newKey())
                }
            }
            let line = try await quartet.process(of: .sessionClient).waitForLine("the failed sign-out under a trace") {
                $0.contains("a request failed") && $0.contains("trace_parent=")
            }
            let said = line.text.firstMatch(of: /trace_parent=(00-[0-9a-f]{32}-[0-9a-f]{16}-01)/)
            let trace = try #require(said?.output.1)
            #expect(
                try await quartet.psql(
                    "SELECT type FROM session_client.session_commands WHERE trace_parent = '\(trace)'") == "SignOut")
            _ = try await quartet.psql("ALTER TABLE session_client.saga DROP CONSTRAINT nothing_begins")
        }
    }
}

extension Device {
    /// Asks for something under a trace.
    fileprivate func send(_ path: String, _ body: JSON, under trace: String) async throws -> EdgeClient.Reply {
        let key = EdgeClient.newKey()
        return try await EdgeClient.untilFinal {
            try await edge.send("POST", path, body: body, token: token, key: key, headers: ["traceparent": trace])
        }
    }
}

extension Quartet {
    /// The rows that a traced request led to, by the correlation that they share.
    fileprivate func rows(of trace: String) async throws -> [(table: String, with: Int, without: Int)] {
        let tables = try await psql(
            """
            SELECT c.oid::regclass FROM pg_class AS c
             WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
               AND 2 = (SELECT count(*) FROM pg_attribute AS a
                         WHERE a.attrelid = c.oid AND a.attname IN ('correlation_id', 'trace_parent'))
            """
        ).split(separator: "\n")
        let requests = tables.map { "SELECT correlation_id FROM \($0) WHERE trace_parent = '\(trace)'" }
        let counts = tables.map { table in
            """
            SELECT '\(table) ' || count(*) FILTER (WHERE trace_parent = '\(trace)') || ' '
                || count(*) FILTER (WHERE trace_parent IS DISTINCT FROM '\(trace)')
              FROM \(table) WHERE correlation_id IN (SELECT correlation_id FROM request)
            """
        }
        let found = try await psql(
            """
            WITH request AS (\(requests.joined(separator: " UNION ")))
            \(counts.joined(separator: " UNION ALL "))
            """)
        return try found.split(separator: "\n").map { line -> (table: String, with: Int, without: Int) in
            let parts = line.split(separator: " ").map(String.init)
            guard parts.count == 3, let with = Int(parts[1]), let without = Int(parts[2]) else {
                throw Unexpected("psql said \(line)")
            }
            return (table: parts[0], with: with, without: without)
        }
    }
}
