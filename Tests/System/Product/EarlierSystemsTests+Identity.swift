import EdgeClient
import TestKit
import Testing

// The asking account.

extension EarlierSystemsTests {
    @Test("nobody can act for another account, whatever ids a request contains (T22)")
    func believedID() async throws {
        try await Quartet.with { quartet in
            let (anna, bob, eve) = try await quartet.signUp("anna", "bob", "eve")
            try await anna.add(bob)
            try await eve.add(bob)
            // A request that waits, so that there is something to answer for another.
            let carl = try await quartet.signUp("carl")
            try await anna.act("AddContact", ["handle": "carl", "iAmResponder": true])
            try await quartet.waitUntilQuiet()
            let before = try await Self.everything(of: [anna, bob, eve, carl])

            try await Self.expectForeignFieldsRefused(from: eve, about: bob, naming: anna)
            try await Self.expectForeignRequestsRefused(from: eve, of: [anna, carl])
            let device = try await eve.edge.insist("/v1/sign-out", ["device": .string(anna.id)], token: eve.token)
            #expect(device.status == 404 && device.body["field"] == "device")
            try await Self.expectNamesIgnored(from: eve, naming: anna, seeing: before[2])
            try await quartet.waitUntilQuiet()
            let after = try await Self.everything(of: [anna, bob, eve, carl])
            #expect(after == before)
            // The person who was asked may answer.
            try await carl.act(
                "ApproveContactRequest",
                ["contact": .string(anna.account), "isMyResponder": true, "iAmResponder": false])
        }
    }

    /// Every command, with a body that is good for Eve.
    private static func commands(about bob: Device, _ anna: Device) -> [(name: String, body: JSON)] {
        let person: JSON = ["contact": .string(bob.account)]
        return [
            ("UpdateProfile", ["expectedVersion": 1, "name": "Eve the first"]), ("CheckIn", [:]),
            ("SetCheckInInterval", ["interval": 3_600_000_000]), ("SetCheckInReminders", ["reminders": []]),
            ("RaiseAlert", [:]), ("ClearAlert", [:]), ("SetContactApproval", ["isRequired": true]),
            ("AddContact", ["handle": "carl", "iAmResponder": true]),
            ("ApproveContactRequest", person.adding("isMyResponder", true).adding("iAmResponder", false)),
            ("RequestRoleChange", person), ("AcceptRoleChange", person), ("DeclineRoleChange", person),
            ("WithdrawRoleChange", person),
            ("DeclineContactRequest", person), ("WithdrawContactRequest", person),
            ("UpdateContact", person.adding("expectedVersion", 1).adding("nickname", "B")),
            ("RemoveContact", person), ("BlockContact", person), ("UnblockContact", person),
            ("SendPing", person), ("CancelPing", person), ("RespondToPing", person), ("ResetContactCode", [:]),
            ("MarkRead", ["id": .string(anna.id)]), ("MarkAllRead", [:]),
            ("ClearNotifications", ["selection": ["everything": true]]), ("RemovePhone", [:]),
            ("UpdateSecurity", ["isSingleDevice": true]), ("RegisterPush", ["token": "x", "platform": "web"]),
            ("UnregisterPush", [:]),
        ]
    }

    /// No command or operation has a field for another account or device.
    private static func expectForeignFieldsRefused(
        from eve: Device, about bob: Device, naming anna: Device
    ) async throws {
        let others = [("account", anna.account), ("by", anna.id), ("device", anna.id)]
        for (name, body) in commands(about: bob, anna) {
            for (field, other) in others {
                let reply = try await eve.ask(name, body.adding(field, .string(other)))
                #expect(reply.status == 400 && reply.body["code"] == "malformed", "\(name): \(reply)")
                #expect(reply.body["field"].string == field, "\(name): \(reply)")
            }
        }
        for name in ["ClearAllReceivedPings", "RespondToAllPings", "CloseAccount"] {
            for (field, other) in others {
                let reply = try await eve.edge.insist(
                    "/v1/operations/\(name)", [field: .string(other)], token: eve.token)
                #expect(reply.status == 400 && reply.body["field"].string == field, "\(name): \(reply)")
            }
        }
    }

    /// A request between two others isn't Eve's to answer.
    private static func expectForeignRequestsRefused(from eve: Device, of people: [Device]) async throws {
        for name in ["ApproveContactRequest", "DeclineContactRequest", "WithdrawContactRequest"] {
            for other in people {
                var body: JSON = ["contact": .string(other.account)]
                if name == "ApproveContactRequest" {
                    body = body.adding("isMyResponder", true).adding("iAmResponder", false)
                }
                let reply = try await eve.ask(name, body)
                #expect(reply.status == 404 && reply.body["code"] == "notFound", "\(name): \(reply)")
            }
        }
    }

    /// An account named in a query or a header changes nothing: Eve gets what is hers.
    private static func expectNamesIgnored(from eve: Device, naming anna: Device, seeing own: JSON) async throws {
        for name in ["account", "user", "sub"] {
            let named = try await eve.edge.send(
                "GET", "/v1/account?\(name)=\(anna.account)", token: eve.token,
                headers: ["x-account": anna.account, "x-\(name)-id": anna.account])
            #expect(named.status == 200 && named.body["account"].string == eve.account)
            let contacts = try await eve.read("/v1/contacts?\(name)=\(anna.account)")
            #expect(contacts["code"] == own["contacts"]["code"])
            let notifications = try await eve.read("/v1/notifications?\(name)=\(anna.account)")
            #expect(notifications == own["notifications"])
        }
    }

    /// What each person sees of their own account.
    private static func everything(of devices: [Device]) async throws -> [JSON] {
        var seen: [JSON] = []
        for device in devices {
            seen.append([
                "account": try await device.read("/v1/account"), "contacts": try await device.read("/v1/contacts"),
                "notifications": try await device.read("/v1/notifications"),
            ])
        }
        return seen
    }
}
