import EdgeClient
import Foundation
import TestKit
import Testing

/// Operations that span services: answering all pings, signing out.
@Suite("End to end: operations", .timeLimit(.minutes(60)))
struct OperationTests {
    @Test("answering all pings notifies each sender once and clears the notifications of the pings (S27, S28)")
    func respondToAll() async throws {
        try await Quartet.with { quartet in
            let bob = try await quartet.signUp("bob")
            var friends: [Device] = []
            for name in ["anna", "carl", "dora"] {
                let friend = try await Device.signUp(name, at: quartet.edge)
                try await friend.add(bob)
                try await friend.act("SendPing", ["contact": .string(bob.account)])
                friends.append(friend)
            }
            try await quartet.waitUntilQuiet()
            let key = EdgeClient.newKey()
            let done = try await bob.operate("RespondToAllPings", key: key)
            #expect(done["state"] == "done")
            #expect(Set(done["result"]["contacts"].array.compactMap(\.string)) == Set(friends.map(\.account)))
            let again = try await bob.operate("RespondToAllPings", key: key)
            #expect(again == done, "the same request, once")
            let nothing = try await bob.operate("RespondToAllPings")
            #expect(nothing["result"]["contacts"] == [])
            try await quartet.waitUntilQuiet()
            for friend in friends {
                let kinds = try await friend.kinds()
                #expect(kinds.filter { $0 == "pingAnswered" }.count == 1)
            }
            let unread = try await bob.kinds(unread: true)
            #expect(!unread.contains("pingReceived") && !unread.contains("pingsCleared"))
            let left = try await bob.read("/v1/contacts?ping=incoming")["contacts"].array
            #expect(left.isEmpty)
        }
    }

    @Test("clearing all pings leaves the notification of a ping that came too late to be cleared (S28)")
    func pingOnItsWay() async throws {
        try await Quartet.with { quartet in
            let (bob, anna, carl) = try await quartet.signUp("bob", "anna", "carl")
            for friend in [anna, carl] { try await friend.add(bob) }
            try await anna.act("SendPing", ["contact": .string(bob.account)])
            try await quartet.waitUntilQuiet()
            // Carl's ping has an earlier time than the clearing, and contacts commits it right after that.
            let time = Int64(Date().timeIntervalSince1970 * 1_000_000)
            try await quartet.askNotifications(
                "DeliverNotification",
                [
                    "id": .string(EdgeClient.newKey()), "kind": "pingReceived", "subject": .string(carl.account),
                    "details": ["at": .int(time)],
                ], for: bob)
            try await quartet.waitUntilQuiet()
            let done = try await bob.operate("ClearAllReceivedPings")
            #expect(done["result"]["contacts"] == [.string(anna.account)])
            try await quartet.waitUntilQuiet()
            let unread = try await bob.read("/v1/notifications?limit=200&unread=true")["notifications"].array
            let pings = unread.filter { $0["kind"] == "pingReceived" }.map { $0["subject"].string }
            #expect(pings == [carl.account])
        }
    }

    @Test(
        """
        an operation whose step was recorded with another command goes on where that fits again, and when an operator has it \
        resumed; so does one that failed
        """)
    func changedStep() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            for (number, isResumed, isFailed) in [(1, false, false), (2, true, false), (3, true, true)] {
                try await quartet.kill(.contacts)
                let asked = Task {
                    try? await anna.edge.send(
                        "POST", "/v1/operations/ClearAllReceivedPings", token: anna.token, key: EdgeClient.newKey())
                }
                try await quartet.wait(
                    for: "the step to wait", "SELECT count(*) FROM session_client.saga_step WHERE outcome IS NULL"
                ) { $0 == "1" }
                let id = try await quartet.psql("SELECT id FROM session_client.saga WHERE state = 'running'")
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                let hash = try await quartet.psql("SELECT body_hash FROM session_client.saga_step WHERE saga = '\(id)'")
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                // As if another version had begun it, and was replaced.
                _ = try await quartet.psql(
                    "UPDATE session_client.saga_step SET body_hash = gen_random_uuid() WHERE saga = '\(id)'")
                try await quartet.kill(.sessionClient)
                _ = await asked.value
                try await quartet.start(.sessionClient)
                try await quartet.start(.contacts)
                try await quartet.wait(
                    for: "the version to be noticed",
                    "SELECT count(*) FROM session_client.saga WHERE id = '\(id)' AND last_error LIKE '%another command%'"
                ) { $0 == "1" }
                let state = try await quartet.psql("SELECT state FROM session_client.saga WHERE id = '\(id)'")
                #expect(state.hasPrefix("running"), "\(number)")
                if isFailed {
                    // As 0.1.0 left it.
                    _ = try await quartet.psql(
                        """
                        UPDATE session_client.saga SET state = 'failed', ended_at = clock_timestamp(), owner = NULL
                         WHERE id = '\(id)'
                        """)
                }
                _ = try await quartet.psql(
                    isResumed
                        ? "SELECT session_client.resume_saga('\(id)', 'a test')"
                        : "UPDATE session_client.saga_step SET body_hash = '\(hash)' WHERE saga = '\(id)'")
                try await quartet.wait(
                    for: "operation \(number) to end", "SELECT state FROM session_client.saga WHERE id = '\(id)'"
                ) { $0.hasPrefix("done") }
            }
            let acts = try await quartet.psql(
                "SELECT count(*) FROM session_client.operator_act WHERE act = 'resume_saga'")
            #expect(acts.hasPrefix("2"))
            try await quartet.waitUntilQuiet()
        }
    }

    @Test(
        "an operation that can't go on gives way to the account's others, and every effect of all is there once (S15)")
    func givesWay() async throws {
        try await Quartet.with { quartet in
            let (bob, anna, carl) = try await quartet.signUp("bob", "anna", "carl")
            for friend in [anna, carl] { try await friend.add(bob) }
            try await anna.ping(bob)
            try await quartet.waitUntilQuiet()
            let allow = try await quartet.refuse(step: "summary")
            async let first = bob.operate("ClearAllReceivedPings")
            try await quartet.waitForRest(of: "ClearAllReceivedPings", because: "not this step")
            try await carl.ping(bob)
            let second = try await bob.operate("RespondToAllPings")
            #expect(second["state"] == "done" && second["result"]["contacts"] == [.string(carl.account)])
            let state = try await quartet.psql(
                "SELECT state FROM session_client.saga WHERE type = 'ClearAllReceivedPings'")
            #expect(state == "running", "the second one waited for nothing")
            try await allow()
            let cleared = try await first
            #expect(cleared["state"] == "done" && cleared["result"]["contacts"] == [.string(anna.account)])
            try await quartet.waitUntilQuiet()
            for friend in [anna, carl] {
                let answers = try await friend.kinds().count { $0 == "pingAnswered" }
                #expect(answers == 1)
            }
            let kinds = try await bob.kinds()
            #expect(kinds.count { $0 == "pingsCleared" } == 1)
            let unread = try await bob.kinds(unread: true)
            #expect(!unread.contains("pingReceived"))
        }
    }

    @Test("an operation whose record can't be read holds up no other one, and goes on once it can be read (S15)")
    func unreadableStep() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await anna.ping(bob)
            let allow = try await quartet.refuse(step: "summary")
            async let first = bob.operate("ClearAllReceivedPings")
            try await quartet.waitForRest(of: "ClearAllReceivedPings", because: "not this step")
            let kept = try await quartet.psql(
                "SELECT result FROM session_client.saga_step WHERE name = 'clear' AND outcome = 'accepted'")
            _ = try await quartet.psql(
                """
                UPDATE session_client.saga_step SET result = '{"position": "unknown"}' WHERE name = 'clear'
                """)
            try await quartet.waitForRest(of: "ClearAllReceivedPings", because: "can''t be read")
            try await allow()
            for device in [bob, anna] {
                let other = try await device.operate("RespondToAllPings")
                #expect(other["state"] == "done")
            }
            _ = try await quartet.psql(
                "UPDATE session_client.saga_step SET result = $$\(kept)$$ WHERE name = 'clear'")
            let cleared = try await first
            #expect(cleared["state"] == "done" && cleared["result"]["contacts"] == [.string(anna.account)])
            try await quartet.waitUntilQuiet()
        }
    }

    @Test(
        "signing out works though another operation of the account is stuck, and ends the streams at every edge (S17)")
    func signOut() async throws {
        try await Quartet.with { quartet in
            let phone = try await quartet.signUp("anna")
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            let other = try await quartet.startAnother(.sessionClient)
            let far = Device(phone, at: try await quartet.edge(of: other))
            let (sees, seesFar) = try await (LiveView.open(phone), LiveView.open(far))
            // An operation that waits for a service which isn't there; and nobody to tell of pushes either.
            try await quartet.kill(.contacts)
            quartet.send(.stop, to: .notifications)
            let stuck = Task {
                try? await tablet.edge.send("POST", "/v1/operations/ClearAllReceivedPings", token: tablet.token)
            }
            try await quartet.wait(
                for: "the operation to run", "SELECT count(*) FROM session_client.saga WHERE state = 'running'"
            ) { $0 == "1" }
            let key = EdgeClient.newKey()
            let asked = Task {
                try await quartet.edge.insist(
                    "/v1/sign-out", ["device": .string(phone.id)], token: tablet.token, key: key)
            }
            for view in [sees, seesFar] {
                let end = try await view.wait("the end") { $0.name == "end" }
                #expect(end.data == ["reason": "signedOut", "why": "revoked"])
                try await view.waitForEnd()
            }
            quartet.send(.resume, to: .notifications)
            let out = try await asked.value
            #expect(out.status == 204, "\(out)")
            for device in [phone, far] {
                let refused = try await device.edge.send("GET", "/v1/account", token: device.token)
                #expect(refused.status == 401 && refused.body["reason"] == "revoked", "\(refused)")
            }
            try await quartet.start(.contacts)
            _ = await stuck.value
            await other.end()
        }
    }
}

extension Quartet {
    /// Waits until an operation rests after an error.
    /// - Parameter reason: A part of it, as it stands in SQL.
    func waitForRest(of operation: String, because reason: String) async throws {
        try await wait(
            for: "\(operation) to rest",
            """
            SELECT count(*) FROM session_client.saga
             WHERE type = '\(operation)' AND state = 'running' AND last_error LIKE '%\(reason)%'
            """
        ) { $0 == "1" }
    }
}
