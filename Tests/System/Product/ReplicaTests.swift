import EdgeClient
import TestKit
import Testing

/// Two of each service on one database.
@Suite("End to end: replicas", .serialized, .timeLimit(.minutes(60)))
struct ReplicaTests {
    @Test("with two replicas of each service and one of each killed, everything is done once")
    func twoOfEach() async throws {
        try await Quartet.with { quartet in
            var others: [Quartet.Service: ChildProcess] = [:]
            for service in Quartet.Service.allCases { others[service] = try await quartet.startAnother(service) }
            let second = try #require(others[.sessionClient])
            let secondEdge = try await quartet.edge(of: second)
            let anna = try await quartet.signUp("anna")
            let bob = try await Device.signUp("bob", at: secondEdge)
            try await anna.add(bob)
            let bobSees = try await LiveView.open(bob)
            let annaSees = try await LiveView.open(anna)

            // Said at one edge, seen at the other.
            try await anna.act("SendPing", ["contact": .string(bob.account)])
            try await bobSees.wait("PingReceived", in: "contacts")
            try await bobSees.wait(notification: "pingReceived")

            // The replicas that own half of everything go without a word.
            for service in [Quartet.Service.session, .contacts, .notifications] { others[service]?.send(.kill) }
            try await bob.act("CheckIn")
            try await annaSees.wait(notification: "dependentCheckedIn")

            // An operation is begun at one edge, which is killed; asked for again at the other, it is the same one.
            let key = EdgeClient.newKey()
            let begun = Task {
                try await secondEdge.send(
                    "POST", "/v1/operations/ClearAllReceivedPings", token: bob.token, key: key)
            }
            try await quartet.wait(for: "the operation to begin", "SELECT count(*) FROM session_client.saga") {
                $0 == "1"
            }
            second.send(.kill)
            _ = try? await begun.value
            let elsewhere = Device(bob, at: quartet.edge)
            let operation = try await elsewhere.operate("ClearAllReceivedPings", key: key)
            #expect(operation["state"] == "done" && operation["result"]["contacts"] == [.string(anna.account)])
            try await quartet.wait(for: "one operation in all", "SELECT count(*) FROM session_client.saga") {
                $0 == "1"
            }
            try await quartet.waitUntilQuiet()
            let kinds = try await (anna.kinds().sorted(), elsewhere.kinds().sorted())
            #expect(kinds.0 == ["contactAdded", "dependentCheckedIn", "pingAnswered", "pingSent"])
            #expect(kinds.1 == ["contactAdded", "pingReceived", "pingsCleared"])
            for process in others.values { await process.end() }
        }
    }

    @Test("a device signed out at one edge is signed out at all of them")
    func signedOutEverywhere() async throws {
        try await Quartet.with { quartet in
            let other = try await quartet.startAnother(.sessionClient)
            let edge = try await quartet.edge(of: other)
            let phone = try await quartet.signUp("anna")
            let tablet = try await Device.signIn("anna", at: edge)
            // Both edges know the phone.
            let phoneElsewhere = Device(phone, at: edge)
            let sees = try await LiveView.open(phoneElsewhere)
            let out = try await quartet.edge.insist("/v1/sign-out", ["device": .string(phone.id)], token: tablet.token)
            #expect(out.status == 204)
            let end = try await sees.wait("the end of the stream at the other edge") { $0.name == "end" }
            #expect(end.data["reason"] == "signedOut")
            let refused = try await edge.send("GET", "/v1/account", token: phone.token)
            #expect(refused.status == 401)
            await other.end()
        }
    }
}
