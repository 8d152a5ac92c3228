import EdgeClient
import RPCClient
import TestKit
import Testing

/// What is left for a call for help when everything else is used up.
@Suite("End to end: limits of urgent commands", .timeLimit(.minutes(60)))
struct UrgentLimitTests {
    @Test(
        """
        neither what an account did besides nor what strangers of its address do uses up its calls for help, over HTTP and \
        gRPC; both have limits of their own (T21, S22)
        """)
    func others() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            // Two commands at once, and five urgent ones; of the address ten times as many.
            try await quartet.start(
                .sessionClient,
                environment: ["COMMANDS_PER_MINUTE": "20", "URGENT_PER_MINUTE": "50", "ADDRESS_FACTOR": "10"])
            let anna = try await quartet.signUp("anna")
            @Sendable func send(_ command: String, as token: String) async throws -> EdgeClient.Reply {
                try await quartet.edge.send(
                    "POST", "/v1/commands/\(command)", body: [:], token: token, key: EdgeClient.newKey())
            }
            // More at once than her account may, and fewer than the address may, so that the refusal is the account's.
            func useUpHers(_ command: String) async throws -> EdgeClient.Reply {
                try await EdgeClient.untilTooMany(atOnce: 8) { try await send(command, as: anna.token) }
            }
            // Her token is known from this on.
            #expect(try await useUpHers("MarkAllRead").body["code"] == "tooManyCommands")
            let strangers = try await EdgeClient.untilTooMany(atOnce: 64, otherwise: [401]) {
                try await send("RaiseAlert", as: "nobody's")
            }
            #expect(strangers.body["code"] == "tooManyRequests", "\(strangers)")
            let raised = try await send("RaiseAlert", as: anna.token)
            #expect([200, 202].contains(raised.status), "\(raised)")
            #expect(raised.headers["ratelimit-policy"] == #""urgent";q=5;w=6"#, "\(raised)")
            try await quartet.rpc { rpc in
                let refused = try await RPCLimitTests.untilTooMany(atOnce: 64, otherwise: ["invalidToken"]) {
                    _ = try await rpc.call("CheckIn", token: "nobody's")
                }
                #expect(refused.allSatisfy { $0.code == "tooManyRequests" }, "\(refused)")
                _ = try await rpc.call("ClearAlert", token: anna.token)
            }
            let own = try await useUpHers("RaiseAlert")
            #expect(own.body["code"] == "tooManyCommands", "\(own)")
        }
    }

    @Test("whoever goes on with the token of a device that was signed out is a stranger (T21, S42)")
    func signedOut() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(
                .sessionClient, environment: ["URGENT_PER_MINUTE": "50", "ADDRESS_FACTOR": "1"])
            let anna = try await quartet.signUp("anna")
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            let sees = try await LiveView.open(tablet)
            let out = try await quartet.edge.insist("/v1/sign-out", ["device": .string(tablet.id)], token: anna.token)
            #expect(out.status == 204)
            // The edge has heard of it once it ends the stream.
            let end = try await sees.wait("the end") { $0.name == "end" }
            #expect(end.data["reason"] == "signedOut")
            let last = try await EdgeClient.untilTooMany(atOnce: 64, otherwise: [401]) {
                try await quartet.edge.send(
                    "POST", "/v1/commands/RaiseAlert", body: [:], token: tablet.token, key: EdgeClient.newKey())
            }
            #expect(last.body["code"] == "tooManyRequests", "\(last)")
            let raised = "SELECT count(*) FROM session_client.session_commands WHERE type = 'RaiseAlert'"
            #expect(try await quartet.psql(raised) == "0")
            // Not with those who are signed in.
            let own = try await quartet.edge.send(
                "POST", "/v1/commands/RaiseAlert", body: [:], token: anna.token, key: EdgeClient.newKey())
            #expect([200, 202].contains(own.status), "\(own)")
        }
    }
}
