import EdgeClient
import TestKit
import Testing

/// An operator's test of whether pushes reach a device.
@Suite("End to end: test pushes", .timeLimit(.minutes(60)))
struct EndToEndTestPushTests {
    private static let operate = "SET SESSION AUTHORIZATION quartet_operator; "
    private static let results = """
        SELECT string_agg(concat_ws(' ', r.result, r.answer), ', ' ORDER BY r.asked_at) FROM notifications.test_push_result AS r
        """

    @Test(
        """
        an operator's test push goes the way of every push and says that it is one; its result can be read, nobody counts as told \
        by it, and it is audited and bounded (A14)
        """)
    func webhook() async throws {
        let receiver = PushReceiver { push, _ in
            switch push.body["token"] {
            case "gone": 410
            case "refused": 400
            default: 200
            }
        }
        try await Quartet.with(pushingTo: receiver, hasOperators: true) { quartet in
            let (bob, anna, carol) = try await quartet.signUp("bob", "anna", "carol")
            for (device, token) in [(bob, "phone"), (anna, "gone"), (carol, "refused")] {
                try await device.act("RegisterPush", ["token": .string(token), "platform": "ios"])
            }
            for device in [bob, anna, carol] {
                _ = try await quartet.psql(
                    Self.operate
                        + "SELECT notifications.send_test_push('\(device.account)', '\(device.id)', 'she asked for it')"
                )
            }
            try await quartet.waitUntilPushed()
            let results = try await quartet.psql(Self.results)
            #expect(results.hasPrefix("accepted "), "\(results)")
            #expect(results.contains(", gone ") && results.contains(", refused "), "\(results)")
            let push = try #require(receiver.received.value.first { $0.body["token"] == "phone" })
            #expect(push.isSigned && push.body["id"].string == push.id && push.body["isTest"] == true)
            // Whoever doesn't know tests finds nothing that could be taken for a message, and no badge.
            #expect(push.body["notification"] == .null && push.body["unread"] == .null, "\(push.body)")

            // Nobody was told anything.
            let seen = try await bob.read("/v1/notifications")
            #expect(seen["unread"] == 0 && seen["notifications"] == [], "\(seen)")
            let counted = try await quartet.psql(
                """
                SELECT concat_ws(' ', (SELECT count(*) FROM notifications.notification),
                                 (SELECT count(*) FROM notifications.push_attempt), (SELECT count(*) FROM notifications.push_taken))
                """)
            #expect(counted == "0 0 0")
            let metrics = try await quartet.metrics(of: .notifications)
            #expect(!metrics.contains { $0.hasPrefix("quartet_push_total{") && !$0.hasSuffix(" 0") })
            // A device that is gone is gone.
            try await quartet.wait(
                for: "one device to be forgotten", "SELECT count(*) FROM notifications.push_device"
            ) { $0 == "2" }

            // The same over HTTP.
            let key = try await quartet.makeKey("on-call", "act")
            func send(_ device: String, _ reason: String) async throws -> EdgeClient.Reply {
                try await quartet.edge.send(
                    "POST", "/v1/operator/send-test-push",
                    body: ["account": .string(bob.account), "device": .string(device), "reason": .string(reason)],
                    token: key)
            }
            let unsaid = try await send(bob.id, " ")
            #expect(unsaid.status == 422 && unsaid.body["field"] == "reason", "\(unsaid)")
            let unknown = try await send(anna.id, "why")
            #expect(unknown.status == 404, "\(unknown)")
            #expect(unknown.body["detail"].string?.contains("registered for pushes") == true, "\(unknown)")
            for number in 2...5 {
                let reply = try await send(bob.id, "why \(number)")
                #expect(reply.status == 200 && reply.body["push"].string != nil, "\(reply)")
            }
            let sixth = try await send(bob.id, "why 6")
            #expect(sixth.status == 409 && sixth.body["code"] == "limitReached", "\(sixth)")
            #expect(sixth.body["detail"].string?.contains("five test pushes") == true, "\(sixth)")
            let audit = "SELECT count(*) FROM session_client.operator_acts WHERE act = 'send_test_push'"
            #expect(try await quartet.psql(audit) == "7")
            let listed = try await quartet.edge.send("GET", "/v1/operator/queries/test_pushes", token: key)
            #expect(listed.body.array.count == 7 && listed.body.array.allSatisfy { $0["person"].string != nil })
        }
    }

    @Test("a test push that nothing is set for is only logged, which no result calls accepted (A13, A14)")
    func logged() async throws {
        try await Quartet.with { quartet in
            let bob = try await quartet.signUp("bob")
            try await bob.act("RegisterPush", ["token": "phone", "platform": "ios"])
            _ = try await quartet.psql(
                Self.operate + "SELECT notifications.send_test_push('\(bob.account)', '\(bob.id)', 'a test')")
            try await quartet.waitUntilPushed()
            #expect(try await quartet.psql(Self.results) == "only logged it was only logged")
        }
    }

    @Test(
        "the services of Apple, Google and browsers get a test push as their documents want it, without a notification to count (A14)"
    )
    func services() async throws {
        try await PushServices.with { services in
            try await Quartet.with(services: [.session, .contacts]) { quartet in
                try await quartet.start(.notifications, environment: services.environment)
                try await quartet.start(.sessionClient)
                let subscriptions = try JSON(parsing: services.text("web.json"))
                let apple = "takes-1".utf8.map { String($0, radix: 16) }.joined()
                for (name, platform, token) in [
                    ("bob", "ios", apple), ("anna", "android", "takes-1"),
                    ("carol", "web", "\(subscriptions["takes"])"),
                ] {
                    let person = try await quartet.signUp(name)
                    try await person.act("RegisterPush", ["token": .string(token), "platform": .string(platform)])
                    _ = try await quartet.psql(
                        Self.operate
                            + "SELECT notifications.send_test_push('\(person.account)', '\(person.id)', 'a test')")
                }
                try await quartet.waitUntilPushed()
                let results = try await quartet.psql(Self.results)
                #expect(results.split(separator: ", ").count { $0.hasPrefix("accepted ") } == 3, "\(results)")
                let apns = try #require(try services.requests(of: "apns").first)["sent"]
                #expect(apns["aps"]["alert"]["title"] == "Test: no alarm" && apns["quartet"]["isTest"] == true)
                #expect(apns["quartet"]["notification"] == .null && apns["aps"]["badge"] == .null)
                #expect(apns["aps"]["interruption-level"] == "active")
                let fcm = try #require(try services.requests(of: "fcm").first)["sent"]
                #expect(fcm["notification"]["title"] == "Test: no alarm" && fcm["data"]["isTest"] == "true")
                #expect(fcm["data"]["notification"] == .null && fcm["data"]["unread"] == .null)
                let web = try #require(try services.requests(of: "web").first)["sent"]
                #expect(web["title"] == "Test: no alarm" && web["alarm"].string == nil && web["unread"] == .null)
                for service in ["apns", "fcm"] { try services.check(service) }
                try services.check("web", taken: 201...202)
            }
        }
    }
}
