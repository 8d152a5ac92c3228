import EdgeClient
import Foundation
import TestKit
import Testing

/// What strangers get.
@Suite("End to end: abuse", .timeLimit(.minutes(60)))
struct AbuseTests {
    @Test("nobody reads or changes what isn't theirs (T22)")
    func strangers() async throws {
        try await Quartet.with { quartet in
            let (anna, bob, eve) = try await quartet.signUp("anna", "bob", "eve")
            try await anna.add(bob)
            try await anna.ping(bob)
            try await Self.expectNoContacts(for: eve, amongThem: anna, bob)
            try await Self.expectNoOperations(for: eve, of: bob)
            try await Self.expectNoNotifications(for: eve, of: bob, quartet)

            // No command has a field for the account that asks, so nobody can speak for another.
            let forged = try await eve.ask("CheckIn", ["account": .string(anna.account)])
            #expect(forged.status == 400 && forged.body["field"] == "account")
            let state = try await anna.read("/v1/account")
            #expect(state["checkIn"]["last"] == .null)

            // Only a responder sees the note.
            try await bob.act("UpdateProfile", ["expectedVersion": 1, "emergencyNote": "secret"])
            try await eve.add(bob, isMyResponder: true, iAmResponder: false)
            let seen = try await (anna.card(of: bob), eve.card(of: bob))
            #expect(seen.0["person"]["emergencyNote"] == "secret" && seen.1["person"]["emergencyNote"] == .null)
            #expect(seen.1["person"]["name"] == "Bob" && seen.1["person"]["checkIn"] == .null)
        }
    }

    /// A stranger can't see, ping, remove or add by account id.
    private static func expectNoContacts(for eve: Device, amongThem anna: Device, _ bob: Device) async throws {
        let card = try await eve.edge.send("GET", "/v1/contacts/\(anna.account)", token: eve.token)
        #expect(card.status == 404 && card.body["code"] == "notContact")
        let ping = try await eve.ask("SendPing", ["contact": .string(anna.account)])
        #expect(ping.status == 404 && ping.body["code"] == "notContact")
        let removal = try await eve.ask("RemoveContact", ["contact": .string(bob.account)])
        #expect(removal.status == 404)
        let byAccount = try await eve.ask("AddContact", ["contact": .string(bob.account), "iAmResponder": true])
        #expect(byAccount.status == 400 && byAccount.body["field"] == "contact")
    }

    /// Another account's operations are answered like ones that don't exist, and its Idempotency-Keys are its own.
    private static func expectNoOperations(for eve: Device, of bob: Device) async throws {
        let key = EdgeClient.newKey()
        let operation = try await bob.operate("ClearAllReceivedPings", key: key)
        for id in [operation["id"].string ?? "", EdgeClient.newKey()] {
            let reply = try await eve.edge.send("GET", "/v1/operations/\(id)", token: eve.token)
            #expect(reply.status == 404 && reply.body["code"] == "notFound")
        }
        let same = try await eve.operate("ClearAllReceivedPings", key: key)
        #expect(same["id"] != operation["id"] && same["result"]["contacts"] == [])
    }

    /// Another account's notifications and devices are answered like ones that don't exist, and don't change.
    private static func expectNoNotifications(for eve: Device, of bob: Device, _ quartet: Quartet) async throws {
        let theirs = try #require(try await bob.read("/v1/notifications")["notifications"].array.first?["id"].string)
        for command in ["MarkRead", "AnswerDrill"] {
            #expect(try await eve.ask(command, ["id": .string(theirs)]).status == 404)
        }
        for id in [theirs, EdgeClient.newKey()] {
            let one = try await eve.edge.send("GET", "/v1/notifications/\(id)", token: eve.token)
            #expect(one.status == 404 && one.body["code"] == "notFound", "\(one)")
            let ids: JSON = .array([.string(id)])
            for (command, body) in [
                ("ClearNotifications", ["selection": ["ids": ids]] as JSON), ("ShowNotifications", ["ids": ids]),
            ] {
                let reply = try await eve.ask(command, body)
                #expect(reply.status == 200 && reply.body["event"] == .null, "\(command): \(reply)")
            }
            let out = try await eve.edge.insist("/v1/sign-out", ["device": .string(id)], token: eve.token)
            let foreign = try await eve.edge.insist("/v1/sign-out", ["device": .string(bob.id)], token: eve.token)
            #expect(out.status == 404 && out.body == foreign.body, "\(out) \(foreign)")
        }
        let own = try await bob.read("/v1/notifications/\(theirs)")
        let shown = try await quartet.psql("SELECT count(*) FROM notifications.shown")
        #expect(own["read"] == .null && own["cleared"] == .null && shown == "0", "\(own)")
    }

    @Test("a device's seventeenth stream is refused until one is closed; other devices have their own (T21)")
    func tooManyStreams() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            var views: [LiveView] = []
            for _ in 0..<16 {
                let view = try await LiveView.open(anna)
                views.append(view)
            }
            await #expect(throws: EdgeClient.Refused.self) { try await quartet.edge.stream(token: anna.token) }
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            views.append(try await LiveView.open(tablet))
            await views[0].close()
            for attempt in 0... {
                do {
                    let view = try await LiveView.open(anna)
                    views.append(view)
                    break
                } catch  where attempt < 1200 {
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            for view in views { await view.close() }
        }
    }
}
