import EdgeClient
import TestKit
import Testing

/// Without consent, a person shows nothing to others, on any route or in the stream.
@Suite("End to end: consent", .timeLimit(.minutes(60)))
struct EndToEndConsentTests {
    private static let nobody = "019ce635-a000-8695-80a6-4a7c4bf35624"

    /// Commands that name another account by its id.
    private static func attempts(_ account: String) -> [(name: String, body: JSON)] {
        let contact: JSON = ["contact": .string(account)]
        return [
            ("SendPing", contact), ("CancelPing", contact), ("RespondToPing", contact), ("RemoveContact", contact),
            ("RequestRoleChange", contact), ("AcceptRoleChange", contact), ("DeclineRoleChange", contact),
            ("WithdrawRoleChange", contact), ("DeclineContactRequest", contact), ("UnblockContact", contact),
            ("ApproveContactRequest", contact.adding("isMyResponder", true).adding("iAmResponder", true)),
            ("UpdateContact", contact.adding("expectedVersion", 1).adding("iAmResponder", true)),
            ("UpdateContact", contact.adding("expectedVersion", 1).adding("notes", "hers")),
        ]
    }

    /// Whatever a stalker tries is answered as if the account didn't exist.
    private static func expectNothing(of other: Device, seenBy stalker: Device) async throws {
        for path in ["", "/avatar"] {
            let real = try await stalker.edge.send("GET", "/v1/contacts/\(other.account)\(path)", token: stalker.token)
            let none = try await stalker.edge.send("GET", "/v1/contacts/\(nobody)\(path)", token: stalker.token)
            #expect(real.status == 404 && none.status == 404 && real.body == none.body, "\(path): \(real) \(none)")
        }
        for (real, none) in zip(attempts(other.account), attempts(nobody)) {
            let replies = try await (stalker.ask(real.name, real.body), stalker.ask(none.name, none.body))
            #expect(replies.0.status == 404 && replies.0.body == replies.1.body, "\(real.name): \(replies)")
        }
        let contacts = try await stalker.read("/v1/contacts")["contacts"].array
        #expect(contacts.isEmpty)
    }

    @Test(
        "after a request by handle or phone, nothing is shown and no one is pinged until the other accepts (S7, S33)")
    func stalker() async throws {
        try await Quartet.with { quartet in
            let (bob, eve) = try await quartet.signUp("bob", "eve")
            try await bob.act("UpdateProfile", ["expectedVersion": 1, "emergencyNote": "Insulin in the fridge"])
            let (bobSees, eveSees) = try await (LiveView.open(bob), LiveView.open(eve))
            let asked = try await eve.ask("AddContact", ["handle": "bob", "iAmResponder": true, "isMyResponder": true])
            #expect(asked.status == 200 && asked.body["event"] == "ContactRequestSent", "\(asked)")
            try await bobSees.wait(notification: "contactRequested")

            try await Self.expectNothing(of: bob, seenBy: eve)
            try await bob.act("CheckIn")
            try await bob.act("RaiseAlert")
            try await bob.act("UpdateProfile", ["expectedVersion": 2, "name": "Robert"])
            try await bobSees.wait(notification: "alertRaised")
            try await quartet.waitUntilQuiet()
            // The asked person sees who asks; the asker sees only what they asked for.
            let incoming = try await bob.read("/v1/contacts")["requests"][0]
            #expect(incoming["handle"] == "eve" && incoming["name"] == "Eve" && incoming["direction"] == "incoming")
            #expect(incoming["isMyResponder"] == true && incoming["iAmResponder"] == true)
            let outgoing = try await eve.read("/v1/contacts")["requests"][0]
            #expect(outgoing["handle"] == .null && outgoing["name"] == .null && outgoing["direction"] == "outgoing")
            // Something that Eve does see comes after all of it.
            try await eve.act("SetContactApproval", ["isRequired": true])
            try await eveSees.wait("ContactApprovalSet", in: "contacts")
            #expect(!eveSees.all.contains { $0.name == "person" || "\($0)".contains("Insulin") })
            let told = try await eve.kinds()
            #expect(told.isEmpty, "\(told)")

            let request: JSON = ["contact": .string(eve.account), "isMyResponder": true, "iAmResponder": true]
            try await bob.act("ApproveContactRequest", request)
            try await eveSees.wait(notification: "contactRequestAccepted")
            try await eveSees.wait("Bob's card with the note") {
                $0.name == "person" && $0.data["emergencyNote"] == "Insulin in the fridge"
            }
            let card = try await eve.card(of: bob)
            #expect(card["contact"]["iAmResponder"] == true && card["contact"]["isMyResponder"] == true)
            #expect(card["person"]["alertRaised"].int != nil)
            try await eve.act("SendPing", ["contact": .string(bob.account)])

            // Removed, she is a stranger again.
            try await bob.act("RemoveContact", ["contact": .string(eve.account)])
            try await eveSees.wait("the end of Bob's card") { $0.name == "person.ended" }
            try await Self.expectNothing(of: bob, seenBy: eve)
        }
    }

    @Test("requests are declined, withdrawn and approved, and the other side hears of each (S7)")
    func requests() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            let (bobSees, annaSees) = try await (LiveView.open(bob), LiveView.open(anna))
            let (toBob, toAnna): (JSON, JSON) = (["contact": .string(bob.account)], ["contact": .string(anna.account)])
            let code = try await bob.read("/v1/contacts")["code"]
            func ask(_ body: JSON = ["handle": "bob", "iAmResponder": true]) async throws -> EdgeClient.Reply {
                try await anna.ask("AddContact", body)
            }
            let first = try await ask()
            #expect(first.body["event"] == "ContactRequestSent", "\(first)")
            try await bobSees.wait(notification: "contactRequested")
            let twice = try await ask()
            #expect(twice.status == 409 && twice.body["code"] == "alreadyRequested")
            try await bob.act("DeclineContactRequest", toAnna)
            try await annaSees.wait(notification: "contactRequestDeclined")
            // By code, when the other wants to approve.
            try await bob.act("SetContactApproval", ["isRequired": true])
            let byCode = try await ask(["code": code, "iAmResponder": true])
            #expect(byCode.body["event"] == "ContactRequestSent", "\(byCode)")
            try await anna.act("WithdrawContactRequest", toBob)
            try await bobSees.wait(notification: "contactRequestWithdrawn")
            let yes = toAnna.adding("isMyResponder", true).adding("iAmResponder", false)
            let late = try await bob.ask("ApproveContactRequest", yes)
            #expect(late.status == 404 && late.body["field"] == "contact")
            _ = try await ask()
            let other = try await bob.ask("ApproveContactRequest", yes.adding("iAmResponder", true))
            #expect(other.status == 409 && other.body["code"] == "requestChanged", "\(other)")
            try await bob.act("ApproveContactRequest", yes)
            try await annaSees.wait(notification: "contactRequestAccepted")
            let card = try await anna.card(of: bob)
            #expect(card["contact"]["iAmResponder"] == true && card["contact"]["isMyResponder"] == false)
            try await quartet.waitUntilQuiet()
            let waiting = try await bob.kinds(unread: true)
            #expect(!waiting.contains("contactRequested"), "what was answered doesn't wait: \(waiting)")
        }
    }

    @Test(
        "nobody gets to see more without consent; both see the open request, and each answer is announced (S8, S46)")
    func widening() async throws {
        try await Quartet.with { quartet in
            let (bob, eve) = try await quartet.signUp("bob", "eve")
            try await bob.act("UpdateProfile", ["expectedVersion": 1, "emergencyNote": "Insulin in the fridge"])
            try await eve.act("AddContact", ["handle": "bob", "isMyResponder": true])
            try await bob.act(
                "ApproveContactRequest",
                ["contact": .string(eve.account), "isMyResponder": false, "iAmResponder": true])
            let (bobSees, eveSees) = try await (LiveView.open(bob), LiveView.open(eve))
            let (toBob, toEve): (JSON, JSON) = (["contact": .string(bob.account)], ["contact": .string(eve.account)])

            let alone = try await eve.ask(
                "UpdateContact", toBob.adding("expectedVersion", 1).adding("iAmResponder", true))
            #expect(alone.status == 409 && alone.body["code"] == "consentRequired", "\(alone)")
            #expect(alone.body["field"] == "iAmResponder")
            try await eve.act("RequestRoleChange", toBob)
            try await bobSees.wait(notification: "roleChangeRequested")
            let (mine, theirs) = try await (eve.card(of: bob), bob.card(of: eve))
            #expect(mine["contact"]["outgoingRoleRequest"].int != nil)
            #expect(mine["contact"]["outgoingRoleRequest"] == theirs["contact"]["incomingRoleRequest"])
            #expect(mine["contact"]["iAmResponder"] == false && mine["person"]["emergencyNote"] == .null)
            let ping = try await eve.ask("SendPing", toBob)
            #expect(ping.status == 409 && ping.body["code"] == "notDependent")
            let own = try await eve.ask("AcceptRoleChange", toBob)
            #expect(own.status == 404 && own.body["code"] == "notFound", "nobody accepts their own request: \(own)")

            try await bob.act("DeclineRoleChange", toEve)
            try await eveSees.wait(notification: "roleChangeDeclined")
            try await eve.act("RequestRoleChange", toBob)
            try await eve.act("WithdrawRoleChange", toBob)
            try await bobSees.wait(notification: "roleChangeWithdrawn")
            let unasked = try await bob.ask("AcceptRoleChange", toEve)
            #expect(unasked.status == 404)
            // Someone who sees nothing still sees nothing in the stream.
            try await bob.act("CheckIn")
            try await quartet.waitUntilQuiet()
            #expect(!eveSees.all.contains { "\($0)".contains("Insulin") || $0.data["checkIn"] != .null })

            try await eve.act("RequestRoleChange", toBob)
            try await bob.act("AcceptRoleChange", toEve)
            try await eveSees.wait(notification: "roleChangeAccepted")
            try await bobSees.wait(notification: "contactRoleChanged")
            try await eveSees.wait("the note") { $0.name == "person" && $0.data["emergencyNote"] != .null }
            let card = try await eve.card(of: bob)
            #expect(card["contact"]["iAmResponder"] == true && card["contact"]["outgoingRoleRequest"] == .null)
            // The seen one stops it alone, at once.
            try await bob.act(
                "UpdateContact", toEve.adding("expectedVersion", 2).adding("isMyResponder", false))
            let less = try await eve.card(of: bob)
            #expect(less["person"]["emergencyNote"] == .null && less["person"]["checkIn"] == .null)
        }
    }

    @Test(
        "blocked and unknown people get the same answer, by handle and by code, when adding and looking up (S9, S35)")
    func blocked() async throws {
        try await Quartet.with { quartet in
            let (bob, eve) = try await quartet.signUp("bob", "eve")
            let eveSees = try await LiveView.open(eve)
            try await eve.act("AddContact", ["handle": "bob", "iAmResponder": true])
            try await bob.act("BlockContact", ["contact": .string(eve.account)])
            let end = try await eveSees.wait("ContactRequestEnded", in: "contacts").data["body"]
            #expect(end["reason"] == "declined", "a block looks like a no")
            let code = try await bob.read("/v1/contacts")["code"]
            let noCode = JSON.string(EdgeClient.newKey())
            let keys = [EdgeClient.newKey(), EdgeClient.newKey()]
            let byHandle = try await (
                eve.ask("AddContact", ["handle": "bob", "iAmResponder": true], key: keys[0]),
                eve.ask("AddContact", ["handle": "nobody-here", "iAmResponder": true], key: keys[1])
            )
            #expect(byHandle.0.status == 404 && byHandle.0.body == byHandle.1.body, "\(byHandle)")
            // The same way, too: the service answers for both, and again the same.
            let rejected = try await quartet.psql(
                "SELECT count(*) FROM contacts.log WHERE outcome = 'rejected' AND body ->> 'code' = 'notFound'")
            let again = try await eve.ask("AddContact", ["handle": "nobody-here", "iAmResponder": true], key: keys[1])
            #expect(rejected == "2" && again.body == byHandle.1.body, "\(rejected) \(again)")
            let byCode = try await (
                eve.ask("AddContact", ["code": code, "iAmResponder": true]),
                eve.ask("AddContact", ["code": noCode, "iAmResponder": true])
            )
            #expect(byCode.0.status == 404 && byCode.0.body == byCode.1.body, "\(byCode)")
            let lookUps = try await (
                eve.edge.send("GET", "/v1/contact-codes/\(code.string ?? "")", token: eve.token),
                eve.edge.send("GET", "/v1/contact-codes/\(noCode.string ?? "")", token: eve.token)
            )
            #expect(lookUps.0.status == 404 && lookUps.0.body == lookUps.1.body, "\(lookUps)")
            try await Self.expectNothing(of: bob, seenBy: eve)
            let list = try await bob.read("/v1/contacts")["blocked"].array
            #expect(list == [.string(eve.account)])
            let own = try await bob.ask("AddContact", ["handle": "eve", "iAmResponder": true])
            #expect(own.status == 409 && own.body["code"] == "blocked")
            try await bob.act("UnblockContact", ["contact": .string(eve.account)])
            try await bob.add(eve)
        }
    }

    @Test("handles can't be enumerated, and one address can't fill up a person's requests (S35)")
    func enumeration() async throws {
        try await Quartet.with { quartet in
            let (bob, eve) = try await quartet.signUp("bob", "eve")
            var statuses: [Int] = []
            for number in 0..<40 where statuses.last != 429 {
                statuses.append(
                    try await eve.ask("AddContact", ["handle": .string("person-\(number)"), "iAmResponder": true])
                        .status)
            }
            #expect(statuses.last == 429 && statuses.dropLast().allSatisfy { $0 == 404 } && statuses.count > 10)
            // One handle, known or not, from as many accounts as there may be.
            for handle in ["bob", "nobody-here"] {
                var replies: [EdgeClient.Reply] = []
                for number in 0..<12 where replies.last?.status != 429 {
                    let other = try await Device.signUp("\(handle.prefix(3))-fan-\(number)x", at: quartet.edge)
                    replies.append(
                        try await other.ask("AddContact", ["handle": .string(handle), "iAmResponder": true]))
                }
                #expect(replies.last?.status == 429 && replies.count == 11, "\(handle): \(replies.map(\.status))")
                #expect(replies.last?.body["field"] == "handle")
            }
            let waiting = try await bob.read("/v1/contacts")["requests"].array.count
            #expect(waiting == 10)
        }
    }
}
