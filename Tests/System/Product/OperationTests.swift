import EdgeClient
import Foundation
import TestKit
import Testing

/// What spans services: answering all pings, signing out, closing an account.
@Suite("End to end: operations", .timeLimit(.minutes(30)))
struct OperationTests {
    @Test("answering all pings notifies each sender once and clears the notifications of the pings (S27, S28)")
    func respondToAll() async throws {
        try await Quartet.with { quartet in
            let bob = try await Device.signUp("bob", name: "Bob", at: quartet.edge)
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
            let bob = try await Device.signUp("bob", at: quartet.edge)
            let anna = try await Device.signUp("anna", at: quartet.edge)
            let carl = try await Device.signUp("carl", at: quartet.edge)
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
        "signing out works though another operation of the account is stuck, and ends the streams at every edge (S17)")
    func signOut() async throws {
        try await Quartet.with { quartet in
            let phone = try await Device.signUp("anna", at: quartet.edge)
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

    @Test(
        "a closed account is closed everywhere, its contacts hear of it, and nothing of the person is left (S18)",
        arguments: [false, true])
    func closeAccount(isKilled: Bool) async throws {
        try await Quartet.with(services: []) { quartet in
            for service in Quartet.Service.allCases {
                try await quartet.start(service, environment: ["RETENTION_INTERVAL": "1s", "PHONE_CODES": "log"])
            }
            let bob = try await Device.signUp("bob-the-builder", name: "Robert Builder", at: quartet.edge)
            let anna = try await Device.signUp("anna", name: "Anna", at: quartet.edge)
            try await anna.add(bob)
            try await bob.act(
                "UpdateContact", ["contact": .string(anna.account), "expectedVersion": 1, "nickname": "Annabelle"])
            try await bob.act("UpdateProfile", ["expectedVersion": 1, "emergencyNote": "Penicillin allergy"])
            _ = try await bob.edge.send(
                "PUT", "/v1/account/avatar", raw: try AvatarTests.png(), token: bob.token,
                headers: ["content-type": "image/png"])
            let phone = try await quartet.edge.insist("/v1/phone", ["phone": "+4930777777"], token: bob.token)
            let code = try await quartet.lastPhoneCode(to: "+4930777777")
            _ = try await quartet.edge.insist(
                "/v1/phone/verification", ["phoneCode": phone.body["phoneCode"], "code": .string(code)],
                token: bob.token)
            _ = try await Device.signIn("bob-the-builder", device: "Roberts tablet", at: quartet.edge)
            try await bob.act("CheckIn")
            try await bob.act("RaiseAlert")
            try await anna.act("SendPing", ["contact": .string(bob.account)])
            try await quartet.waitUntilQuiet()
            let annaSees = try await LiveView.open(anna)
            let bobSees = try await LiveView.open(bob)
            let before = try #require(annaSees.lastEventID)

            if isKilled {
                // The saga has to be begun again by somebody else, between its steps.
                try await quartet.kill(.notifications)
                let asked = Task { try? await bob.edge.send("POST", "/v1/operations/CloseAccount", token: bob.token) }
                try await quartet.wait(
                    for: "contacts to have closed it",
                    "SELECT count(*) FROM session_client.saga_step WHERE name = 'contacts' AND outcome = 'accepted'"
                ) { $0 == "1" }
                try await quartet.kill(.sessionClient)
                _ = await asked.value
                try await quartet.start(
                    .sessionClient, environment: ["RETENTION_INTERVAL": "1s", "PHONE_CODES": "log"])
                try await quartet.start(.notifications, environment: ["RETENTION_INTERVAL": "1s"])
            } else {
                let closed = try await bob.operate("CloseAccount")
                #expect(closed["state"] == "done" && closed["result"]["account"].string == bob.account)
                let end = try await bobSees.wait("the end") { $0.name == "end" }
                #expect(end.data == ["reason": "signedOut", "why": "closed"])
                try await annaSees.wait("the end of Bob's card") {
                    $0.name == "person.ended" && $0.data["account"].string == bob.account
                }
            }
            try await quartet.wait(
                for: "the report, and every service to have emptied its logs",
                """
                SELECT count(*) FROM session_client.closed_account
                 WHERE account = '\(bob.account)' AND session_emptied_at IS NOT NULL AND contacts_emptied_at IS NOT NULL
                   AND notifications_emptied_at IS NOT NULL AND session_client_emptied_at IS NOT NULL
                """
            ) { $0 == "1" }

            // Others' streams keep what they are about: who comes back now still hears it.
            let annaAgain = try await LiveView.open(anna, after: before)
            try await annaAgain.wait("ContactRemoved", in: "contacts")
            let kept = try await annaAgain.wait("contacts to go on") { $0.name == "contacts.resumed" }
            #expect(kept.data == [:])

            // What arrives later is refused, whatever it is.
            let token = try await bob.edge.send("GET", "/v1/account", token: bob.token)
            #expect(token.status == 401)
            let signIn = try await quartet.edge.insist(
                "/v1/sign-in", ["handle": "bob-the-builder", "password": "a long enough password"])
            #expect(signIn.status == 401)
            let ping = try await anna.ask("SendPing", ["contact": .string(bob.account)])
            #expect(ping.status == 410 || ping.status == 404, "\(ping)")
            let handle = try await quartet.edge.insist(
                "/v1/sign-up", ["handle": "bob-the-builder", "password": "a long enough password"])
            #expect(handle.status == 409 && handle.body["code"] == "handleTaken", "it rests for a month")
            let left = try await anna.read("/v1/contacts")["contacts"].array
            #expect(left.isEmpty)
            let told = try await anna.kinds().filter { $0 == "contactRemoved" }
            #expect(told.count == 1)

            // Nothing of the person is left, wherever one looks; the handle alone rests, out of others' reach.
            for word in ["Robert Builder", "Roberts tablet", "Penicillin", "Annabelle", "4930777777"] {
                let found = try await quartet.tablesContaining(word)
                #expect(found.isEmpty, "\(word)")
            }
            let handles = try await quartet.tablesContaining("bob-the-builder")
            // Whoever tries to sign in by it is counted for a day, as at any other.
            let mayHaveIt = [
                "session.account", "session.log", "session.sign_in_attempt", "session_client.session_commands",
            ]
            #expect(Set(handles).isSubset(of: mayHaveIt))
            let rows = try await quartet.psql(
                """
                SELECT (SELECT count(*) FROM session.device WHERE account = '\(bob.account)')
                     + (SELECT count(*) FROM session.credential WHERE account = '\(bob.account)')
                     + (SELECT count(*) FROM session.avatar_chunk WHERE account = '\(bob.account)')
                     + (SELECT count(*) FROM contacts.contact WHERE account = '\(bob.account)')
                     + (SELECT count(*) FROM notifications.notification WHERE account = '\(bob.account)')
                """)
            #expect(rows == "0")
        }
    }
}

extension Quartet {
    /// The tables of the four schemas in which a text stands, in whichever column.
    func tablesContaining(_ text: String) async throws -> [String] {
        let tables = try await psql(
            """
            SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE c.relkind = 'r' AND n.nspname IN ('session', 'contacts', 'notifications', 'session_client')
             ORDER BY 1
            """
        ).split(separator: "\n").map(String.init)
        var found: [String] = []
        for table in tables {
            let count = try await psql("SELECT count(*) FROM \(table) AS t WHERE t::text ILIKE '%\(text)%'")
            if count != "0" { found.append(table) }
        }
        return found
    }
}
