import EdgeClient
import TestKit
import Testing

/// The main job, through the four real executables and the public API.
@Suite("End to end: the story", .timeLimit(.minutes(60)))
struct StoryTests {
    @Test(
        """
        two people sign up, one pings the other, and both see all of it live (R9, S6, S7, S12, S13, S15, S27, S28, \
        S35, S36)
        """)
    func story() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let bob = try await Device.signUp("Bob", name: "Bob", at: quartet.edge)
            // R9
            let account = try await bob.read("/v1/account")
            #expect(account["handle"] == "bob" && account["name"] == "Bob" && account["isClosed"] == false)
            #expect(account["devices"].array.map { $0["id"].string } == [bob.id])
            let views = (anna: try await LiveView.open(anna), bob: try await LiveView.open(bob))
            let unread = try await views.bob.snapshot(of: "notifications")["unread"]
            #expect(unread == 0)
            try await Self.meet(anna, bob, views)
            try await Self.ping(anna, bob, views)
            try await Self.clear(anna, bob, views)
            try await Self.expectHistory(anna, bob)
        }
    }

    /// What each of the two sees.
    private typealias Views = (anna: LiveView, bob: LiveView)

    /// Anna looks up Bob's code (S35) and adds him; the roles are mirrored (S7).
    private static func meet(_ anna: Device, _ bob: Device, _ views: Views) async throws {
        let code = try await views.bob.snapshot(of: "contacts")["code"]
        let owner = try await anna.read("/v1/contact-codes/\(code.string ?? "")")
        #expect(owner == ["handle": "bob", "name": "Bob"])
        let added = try await anna.act("AddContact", ["code": code, "iAmResponder": true])
        #expect(added["contact"]["account"].string == bob.account)
        let mirrored = try await views.bob.wait("ContactAdded", in: "contacts").data["body"]["contact"]
        #expect(mirrored["account"].string == anna.account)
        #expect(mirrored["isMyResponder"] == true && mirrored["iAmResponder"] == false)
        try await views.bob.wait(notification: "contactAdded")
        try await views.anna.wait(notification: "contactAdded")
    }

    /// Anna pings Bob, and both see it (S27).
    private static func ping(_ anna: Device, _ bob: Device, _ views: Views) async throws {
        let ping = try await anna.act("SendPing", ["contact": .string(bob.account)])
        let received = try await views.bob.wait("PingReceived", in: "contacts")
        #expect(received.data["body"]["at"] == ping["at"])
        let told = try await views.bob.wait(notification: "pingReceived")
        #expect(told["notification"]["subject"].string == anna.account && told["unread"] == 2)
        let pending = try await (anna.card(of: bob), bob.card(of: anna))
        #expect(pending.0["contact"]["outgoingPing"] == ping["at"])
        #expect(pending.1["contact"]["incomingPing"] == ping["at"])
    }

    /// Bob clears all pings and checks in (S15); Anna sees both.
    private static func clear(_ anna: Device, _ bob: Device, _ views: Views) async throws {
        let operation = try await bob.operate("ClearAllReceivedPings", ["checkIn": true])
        #expect(operation["state"] == "done")
        #expect(operation["result"]["contacts"] == [.string(anna.account)])
        #expect(operation["result"]["isCheckedIn"] == true)
        try await views.bob.wait("OperationEnded", in: "operations")
        try await views.bob.wait(notification: "pingsCleared")
        let answered = try await views.anna.wait("PingAnswered", in: "contacts")
        #expect(answered.data["body"]["direction"] == "outgoing")
        try await views.anna.wait(notification: "pingAnswered")
        try await views.anna.wait(notification: "dependentCheckedIn")
        try await views.anna.wait("Bob's check-in on his card") {
            $0.name == "person" && $0.data["account"].string == bob.account && $0.data["checkIn"]["last"].int != nil
        }
    }

    /// Reading shows what was seen live: the contacts (S6, S12), each notification once and their count (S13, S28).
    private static func expectHistory(_ anna: Device, _ bob: Device) async throws {
        let contacts = try await bob.read("/v1/contacts")["contacts"].array
        #expect(contacts.count == 1 && contacts[0]["contact"]["incomingPing"] == .null)
        let responders = try await bob.read("/v1/contacts?role=responder")["contacts"].array
        let dependents = try await bob.read("/v1/contacts?role=dependent")["contacts"].array
        #expect(responders.count == 1 && dependents.isEmpty)
        let kinds = try await (anna.kinds(), bob.kinds())
        #expect(kinds.0 == ["dependentCheckedIn", "pingAnswered", "pingSent", "contactAdded"])
        #expect(kinds.1.sorted() == ["contactAdded", "pingReceived", "pingsCleared"])
        let unreadKinds = try await bob.kinds(unread: true)
        #expect(unreadKinds.sorted() == ["contactAdded", "pingsCleared"])
        let counts = try await (anna.unread(), bob.unread())
        #expect(counts.0 == 4 && counts.1 == 2)
    }

    @Test("a contact is changed by version and removed on both sides, and shows nothing from then on (S8, S9)")
    func changedAndRemoved() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob)
            try await bob.act("UpdateProfile", ["expectedVersion": 1, "emergencyNote": "Insulin in the fridge"])
            let annaSees = try await LiveView.open(anna)
            try await annaSees.wait("Bob's card with the note") {
                $0.name == "person" && $0.data["emergencyNote"] == "Insulin in the fridge"
            }

            // S8: field by field, and a stale version is refused.
            let change: JSON = [
                "contact": .string(bob.account), "expectedVersion": 1, "nickname": "Bobby", "notes": "two\nlines",
            ]
            try await anna.act("UpdateContact", change)
            let stale = try await anna.ask("UpdateContact", change)
            #expect(stale.status == 409 && stale.body["code"] == "staleVersion")
            let card = try await anna.card(of: bob)
            #expect(card["contact"]["nickname"] == "Bobby" && card["contact"]["version"] == 2)
            #expect(
                card["contact"]["iAmResponder"] == true && card["person"]["emergencyNote"] == "Insulin in the fridge")
            let roleless = try await anna.ask(
                "UpdateContact", ["contact": .string(bob.account), "expectedVersion": 2, "iAmResponder": false])
            #expect(roleless.status == 422 && roleless.body["code"] == "roleRequired")

            // Without the role Anna sees less, at once.
            try await anna.act(
                "UpdateContact",
                ["contact": .string(bob.account), "expectedVersion": 2, "isMyResponder": true, "iAmResponder": false])
            let swapped = try await anna.card(of: bob)
            #expect(swapped["person"]["emergencyNote"] == .null && swapped["person"]["checkIn"] == .null)
            try await bob.act("CheckIn")

            // S9
            try await anna.act("RemoveContact", ["contact": .string(bob.account)])
            try await annaSees.wait("the end of Bob's card") {
                $0.name == "person.ended" && $0.data["account"].string == bob.account
            }
            let gone = try await anna.edge.send("GET", "/v1/contacts/\(bob.account)", token: anna.token)
            #expect(gone.status == 404 && gone.body["code"] == "notContact")
            try await bob.act("UpdateProfile", ["expectedVersion": 2, "name": "Robert"])
            let left = try await bob.read("/v1/contacts")["contacts"].array
            #expect(left.isEmpty)
            // Two things that Anna does see come after what she mustn't.
            try await anna.act("UpdateProfile", ["expectedVersion": 1, "name": "Ann"])
            try await annaSees.wait("ProfileUpdated", in: "account")
            let people = annaSees.all.filter { $0.name == "person" }
            #expect(!people.contains { $0.data["name"] == "Robert" })
            let lost = annaSees.all.firstIndex { $0.name == "person" && $0.data["emergencyNote"] == .null }
            let shown = annaSees.all.lastIndex { $0.name == "person" && $0.data["emergencyNote"] != .null }
            #expect(try #require(lost) > (try #require(shown)))
            try await quartet.wait(
                for: "both to be told", "SELECT count(*) FROM notifications.notification WHERE kind = 'contactRemoved'"
            ) { $0 == "2" }
        }
    }

    @Test("cancelling or answering a ping ends it on both sides and clears its notification (S27)")
    func cancelledAndAnswered() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let bobSees = try await LiveView.open(bob)
            let toBob: JSON = ["contact": .string(bob.account)]
            let toAnna: JSON = ["contact": .string(anna.account)]

            let unanswered = try await bob.act("RespondToPing", toAnna)
            #expect(unanswered == .null, "nothing waits, so nothing happens")
            let backwards = try await bob.ask("SendPing", toAnna)
            #expect(backwards.status == 409 && backwards.body["code"] == "notDependent")

            try await anna.act("SendPing", toBob)
            let again = try await anna.act("SendPing", toBob)
            #expect(again == .null, "one ping at a time")
            try await bobSees.wait(notification: "pingReceived")
            try await anna.act("CancelPing", toBob)
            try await bobSees.wait(notification: "pingCancelled")
            let afterCancel = try await bob.kinds(unread: true)
            #expect(afterCancel.sorted() == ["contactAdded", "pingCancelled"])

            let tooSoon = try await anna.ask("SendPing", toBob)
            #expect(tooSoon.status == 429 && tooSoon.body["code"] == "tooSoon")
            try await quartet.wait(
                for: "no ping in either card",
                "SELECT count(*) FROM contacts.contact WHERE outgoing_ping_at IS NOT NULL OR incoming_ping_at IS NOT NULL"
            ) { $0 == "0" }
        }
    }

    @Test(
        "reading and clearing on one device shows on the other, and pages stay stable while notifications arrive (S37)")
    func reading() async throws {
        try await Quartet.with { quartet in
            try await quartet.announceEveryAlert()
            let phone = try await quartet.signUp("anna")
            let tablet = try await Device.signIn("Anna", at: quartet.edge)
            let tabletSees = try await LiveView.open(tablet)
            try await quartet.wait(for: "the new device to be told", "SELECT max(unread) FROM notifications.unread") {
                $0 == "1"
            }
            for _ in 0..<6 {
                try await phone.act("RaiseAlert")
                try await phone.act("ClearAlert")
            }
            try await quartet.wait(for: "twelve alerts and a device", "SELECT max(unread) FROM notifications.unread") {
                $0 == "13"
            }
            let first = try await phone.read("/v1/notifications?limit=5&category=alerts")
            #expect(first["unread"] == 13 && first["notifications"].array.count == 5)
            try await phone.act("RaiseAlert")
            try await quartet.wait(for: "one more", "SELECT max(unread) FROM notifications.unread") { $0 == "14" }
            var seen = first["notifications"].array.compactMap { $0["id"].string }
            var next = first["next"].string
            while let cursor = next {
                let page = try await phone.read("/v1/notifications?limit=5&category=alerts&before=\(cursor)")
                seen += page["notifications"].array.compactMap { $0["id"].string }
                next = page["next"].string
            }
            #expect(seen.count == 12 && Set(seen).count == 12)

            let one = try #require(seen.last)
            try await phone.act("MarkRead", ["id": .string(one)])
            let read = try await tabletSees.wait("NotificationRead", in: "notifications").data["body"]
            #expect(read["id"].string == one && read["unread"] == 13)
            try await phone.act("ClearNotifications", ["selection": ["kinds": ["alertRaised"]]])
            let cleared = try await tabletSees.wait("NotificationsCleared", in: "notifications").data["body"]
            #expect(cleared["count"] == 7)
            try await tablet.act("MarkAllRead")
            let unread = try await phone.unread()
            #expect(unread == 0)
            let history = try await phone.read("/v1/notifications?limit=200")["notifications"].array
            #expect(history.count == 14, "the history keeps what was cleared")
        }
    }

    @Test("a reset code stops working at once, the new one works at once, and looking codes up is rate-limited (S35)")
    func codes() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let old = try await bob.read("/v1/contacts")["code"]
            let reset = try await bob.act("ResetContactCode")["code"]
            #expect(reset != old && reset.string != nil)
            let dead = try await anna.edge.send("GET", "/v1/contact-codes/\(old.string ?? "")", token: anna.token)
            #expect(dead.status == 404)
            let refused = try await anna.ask("AddContact", ["code": old, "iAmResponder": true])
            #expect(refused.status == 404 && refused.body["field"] == "code")
            let unknown = try await anna.ask("AddContact", ["handle": "nobody", "iAmResponder": true])
            #expect(unknown.status == 404 && unknown.body["field"] == "handle")
            let himself = try await bob.ask("AddContact", ["handle": "bob", "iAmResponder": true])
            #expect(himself.status == 409 && himself.body["code"] == "yourself")
            try await anna.act("AddContact", ["code": reset, "iAmResponder": true])
            let twice = try await anna.ask("AddContact", ["code": reset, "iAmResponder": true])
            #expect(twice.status == 409 && twice.body["code"] == "alreadyContact")

            // Looking codes up is slowed down, long before reading is.
            let last = try await EdgeClient.untilTooMany(atOnce: 20, otherwise: [404]) {
                try await anna.edge.send("GET", "/v1/contact-codes/\(old.string ?? "")", token: anna.token)
            }
            #expect(last.body["code"] == "tooManyLookUps", "\(last)")
        }
    }

    @Test("two people who make each other their responder at the same moment get one relation (S7)")
    func mutualAdds() async throws {
        try await Quartet.with { quartet in
            for pair in 0..<5 {
                let anna = try await Device.signUp("anna\(pair)", at: quartet.edge)
                let bob = try await Device.signUp("bob\(pair)", at: quartet.edge)
                // The second of the two answers the first one's request.
                async let first = anna.ask("AddContact", ["handle": .string("bob\(pair)"), "isMyResponder": true])
                async let second = bob.ask("AddContact", ["handle": .string("anna\(pair)"), "isMyResponder": true])
                let statuses = try await [first.status, second.status]
                #expect(statuses == [200, 200])
            }
            let relations = try await quartet.psql("SELECT count(*) FROM contacts.relation")
            #expect(relations == "5")
            let waiting = try await quartet.psql("SELECT count(*) FROM contacts.request")
            #expect(waiting == "0")
        }
    }
}
