import EdgeClient
import TestKit
import Testing

/// What operators' API keys open over HTTP, and for whom.
@Suite("End to end: operators over HTTP", .timeLimit(.minutes(60)))
struct OperatorRouteTests {
    private static let id = "019b0000-0000-7000-8000-000000000001"
    private static let reads = [
        "", "/queries", "/queries/lag", "/story/\(id)", "/told/\(id)", "/tail", "/groups/\(id)", "/metrics",
    ]
    private static let acts: [(path: String, body: JSON)] = [
        ("/retry-dead-letter", ["message": .string(id), "reason": "r"]),
        ("/discard-dead-letter", ["message": .string(id), "reason": "r"]),
        ("/retry-parked", ["service": "contacts", "source": "s", "key": "k", "reason": "r"]),
        ("/discard-parked", ["service": "contacts", "source": "s", "key": "k", "reason": "r"]),
        ("/set-retention", ["service": "contacts", "subject": "log", "keep": 86_400_000_000, "reason": "r"]),
        ("/accept-truncation", ["service": "contacts", "source": "s", "reason": "r"]),
        ("/redact", ["service": "contacts", "account": .string(id), "reason": "r"]),
        ("/resume-operation", ["operation": .string(id), "reason": "r"]),
        ("/send-test-push", ["account": .string(id), "device": .string(id), "reason": "r"]),
    ]

    private static let paths =
        reads.map { $0.replacing(id, with: "{id}").replacing("/lag", with: "/{id}") } + acts.map(\.path)

    /// The operators' routes of the document, with the same name for all that they ask about.
    private static func declared(at quartet: Quartet) async throws -> Set<String> {
        let document = try await quartet.edge.send("GET", "/openapi.json").body
        guard case .object(let paths) = document["paths"] else { return [] }
        let operators = paths.filter { _, operations in
            guard case .object(let operations) = operations else { return false }
            return operations.values.contains { $0["security"].array.first?["operatorKey"] == [] }
        }
        return Set(operators.keys.map { $0.replacing("/v1/operator", with: "").replacing(/\{\w+\}/, with: "{id}") })
    }

    @Test(
        """
        strangers, apps, revoked keys and, where something is done, keys that only read are refused on every route, and what \
        takes too long on one; without configuration there are none (T22, R15)
        """
    )
    func access() async throws {
        try await Quartet.withOperators { quartet in
            let anna = try await quartet.signUp("anna")
            let (reader, gone) = (try await quartet.makeKey("reader", "read"), try await quartet.makeKey("gone", "act"))
            func answer(_ token: String?, _ route: (path: String, body: JSON?)) async throws -> EdgeClient.Reply {
                try await quartet.edge.send(
                    route.body == nil ? "GET" : "POST", "/v1/operator\(route.path)", body: route.body, token: token)
            }
            let reads: [(path: String, body: JSON?)] = Self.reads.map { ($0, nil) }
            let routes = reads + Self.acts.map { ($0.path, $0.body) }
            #expect(try await answer(gone, ("", nil)).body["role"] == "act")
            #expect(try await Self.declared(at: quartet) == Set(Self.paths), "a route isn't tried here")
            try await quartet.operatorKeys("revoke", "--key-name", "gone", "--reason", "they left")
            // The right id with another's secret.
            let forged = "\(reader.prefix { $0 != "." }).\(gone.drop { $0 != "." }.dropFirst())"
            for route in routes {
                let nobody = try await answer(nil, route)
                #expect(nobody.status == 401 && nobody.body["code"] == "missingToken", "\(route.path) \(nobody)")
                for wrong in [anna.token, gone, forged, "quartet-operator-"] {
                    let reply = try await answer(wrong, route)
                    #expect(reply.status == 401 && reply.body["code"] == "invalidToken", "\(route.path) \(reply)")
                }
                let reply = try await answer(reader, route)
                if route.body != nil {
                    #expect(reply.status == 403 && reply.body["code"] == "keyMayOnlyRead", "\(route.path) \(reply)")
                } else {
                    #expect(reply.status == 200 || reply.body["code"].string?.hasSuffix("otFound") == true, "\(reply)")
                }
            }
            // An operator waits for nothing that takes longer than a second.
            let letGo = try await quartet.hold("LOCK TABLE session_client.operator_key IN ACCESS EXCLUSIVE MODE")
            let slow = try? await answer(reader, ("", nil))
            await letGo()
            #expect(slow?.status == 504 && slow?.body["code"] == "queryTooSlow", "\(String(describing: slow))")
            // An operator is nobody's app.
            let account = try await quartet.edge.send("GET", "/v1/account", token: reader)
            #expect(account.status == 401 && account.body["code"] == "invalidToken")
            let listed = try await quartet.operatorKeys("list")
            #expect(listed.count == 2 && listed[0].hasPrefix("reader  read  ") && listed[1].contains("revoked"))
            #expect(!listed.joined().contains(reader))

            try await quartet.restart(.sessionClient)
            for route in routes {
                let reply = try await answer(reader, route)
                #expect(reply.status == 404 && reply.body["code"] == "notFound", "\(route.path) \(reply)")
                let other = try await quartet.edge.send("PATCH", "/v1/operator\(route.path)", token: reader)
                #expect(other.status == 404 && other.headers["allow"] == nil, "\(route.path) \(other)")
            }
        }
    }

    @Test("wrong keys are counted by address, and then none from there is tried for a while")
    func guessing() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            let limit = ["GUESSES_PER_MINUTE": "3"]
            try await quartet.start(.sessionClient, environment: try quartet.forOperators.merging(limit) { $1 })
            let key = try await quartet.makeKey("anna", "read")
            for number in 1...4 {
                let wrong = try await quartet.edge.send("GET", "/v1/operator", token: key + "x")
                #expect(wrong.status == (number < 4 ? 401 : 429), "\(wrong)")
            }
        }
    }

    @Test("each act does what it says and leaves one row in the audit, with the key, the time and the reason (T22)")
    func audit() async throws {
        try await Quartet.withOperators { quartet in
            let anna = try await quartet.signUp("anna")
            let key = try await quartet.makeKey("on-call", "act")
            let letters = try await Self.makeDeadLetters(of: anna, quartet)
            let parked: JSON = .string("account/\(anna.account)")
            let source: JSON = "session_client.contacts_commands"
            func act(_ path: String, _ body: JSON) async throws -> EdgeClient.Reply {
                try await quartet.edge.send("POST", "/v1/operator/\(path)", body: body, token: key)
            }
            let operation =
                try await quartet.psql(
                    """
                    INSERT INTO session_client.saga (id, type, account, body, body_hash, state, ended_at, correlation_id)
                    VALUES (gen_random_uuid(), 'ClearAllReceivedPings', '\(anna.account)', '{}', gen_random_uuid(), 'failed',
                            clock_timestamp(), gen_random_uuid())
                    RETURNING id
                    """
                ).split(separator: "\n").first.map(String.init) ?? ""
            let acts: [(path: String, body: JSON)] = [
                ("retry-dead-letter", ["message": .string(letters[0]), "reason": "why 1"]),
                ("discard-dead-letter", ["message": .string(letters[1]), "reason": "why 2"]),
                ("retry-parked", ["service": "contacts", "source": source, "key": parked, "reason": "why 3"]),
                ("discard-parked", ["service": "contacts", "source": source, "key": parked, "reason": "why 4"]),
                ("set-retention", ["service": "session", "subject": "log", "keep": 86_400_000_000, "reason": "why 5"]),
                ("accept-truncation", ["service": "contacts", "source": source, "reason": "why 6"]),
                ("redact", ["service": "notifications", "account": .string(Self.id), "reason": "why 7"]),
                ("resume-operation", ["operation": .string(operation), "reason": "why 8"]),
                (
                    "send-test-push",
                    ["account": .string(anna.account), "device": .string(anna.id), "reason": "why 9"]
                ),
            ]
            try await anna.act("RegisterPush", ["token": "phone", "platform": "ios"])
            try await quartet.park(of: anna.account, error: "a test")
            let audit = "FROM session_client.operator_acts WHERE key_name = 'on-call' AND acted_as = 'quartet_operator'"
            for (number, (path, body)) in acts.enumerated() {
                var unsaid = body.members
                unsaid["reason"] = " "
                let refused = try await act(path, .object(unsaid))
                #expect(refused.status == 422 && refused.body["field"] == "reason", "\(path) \(refused)")
                let reply = try await act(path, body)
                #expect(reply.status == 200, "\(path) \(reply)")
                let rows = try await quartet.psql("SELECT act || ', ' || reason \(audit) ORDER BY acted_at")
                let expected =
                    path.replacing("-", with: "_").replacing("_operation", with: "_saga") + ", why \(number + 1)"
                #expect(rows.split(separator: "\n").count == number + 1 && rows.hasSuffix(expected), "\(rows)")
            }
            #expect(try await quartet.psql("SELECT is_discarded FROM contacts.parked").hasPrefix("t"))
            #expect(
                try await quartet.psql("SELECT keep = interval '1 day' FROM session.retention WHERE subject = 'log'")
                    == "t")
            let emptied = "SELECT count(*) FROM notifications.redaction WHERE account = '\(Self.id)'"
            #expect(try await quartet.psql(emptied).hasPrefix("1"))
            try await quartet.start(.contacts)
            try await quartet.wait(
                for: "the dead letter that was retried",
                "SELECT string_agg(state || coalesce(retry_outcome, ''), ',' ORDER BY died_at, position) FROM session_client.dead_letters"
            ) { $0.hasPrefix("retriedaccepted,discarded,open") }
            // Once: then there is nothing to do, and nothing to record.
            for (path, code) in [
                ("retry-dead-letter", "alreadyDecided"), ("discard-dead-letter", "alreadyDecided"),
                ("retry-parked", "notFound"), ("discard-parked", "notFound"),
            ] {
                let again = try await act(path, try #require(acts.first { $0.path == path }).body)
                #expect(again.body["code"].string == code, "\(path) \(again)")
            }
            let unknown = try await act("retry-dead-letter", ["message": .string(Self.id), "reason": "why"])
            let nothing = try await act(
                "set-retention",
                [
                    "service": "session", "subject": "nothing", "keep": 86_400_000_000, "reason": "why",
                ])
            let short = try await act(
                "set-retention", ["service": "session", "subject": "log", "keep": 1, "reason": "why"])
            #expect(unknown.status == 404 && nothing.status == 404 && short.body["field"] == "keep")
            let bounds: [(field: String, body: JSON)] = [
                ("keep", ["service": "session", "subject": "log", "keep": .int(.max), "reason": "why"]),
                ("keep", ["service": "session", "subject": "log", "keep": 315_360_000_000_001, "reason": "why"]),
                (
                    "truncateAfter",
                    [
                        "service": "session", "subject": "log", "keep": 86_400_000_000, "truncateAfter": .int(.max),
                        "reason": "why",
                    ]
                ),
            ]
            for (field, body) in bounds {
                let long = try await act("set-retention", body)
                #expect(long.status == 422 && long.body["field"].string == field, "\(long)")
                #expect(long.body["detail"].string?.contains("3,650 days") == true, "\(long)")
            }
            #expect(try await quartet.psql("SELECT count(*) \(audit)").hasPrefix("9"))
            let seen = try await quartet.edge.send("GET", "/v1/operator/queries/acts", token: key)
            #expect(seen.body.array.filter { $0["who"] == "on-call" }.count == 9)
        }
    }

    /// As contacts would have set them aside.
    private static func makeDeadLetters(of anna: Device, _ quartet: Quartet) async throws -> [String] {
        try await quartet.psql(
            """
            INSERT INTO contacts.dead_letter (message_id, source, partition, position, kind, type, version, key, account,
                                              body, command_id, code, error, attempts)
            SELECT gen_random_uuid(), 'session_client.contacts_commands', 0, n, 'command', 'SetContactApproval', 1,
                   'account/\(anna.account)', '\(anna.account)', '{"isRequired":true}', gen_random_uuid(), 'error', 'test', 5
              FROM generate_series(1, 2) AS n RETURNING message_id
            """
        ).split(separator: "\n").map(String.init)
    }
}
