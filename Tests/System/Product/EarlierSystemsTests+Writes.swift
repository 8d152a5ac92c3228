import EdgeClient
import Foundation
import TestKit
import Testing

// Writes.

extension EarlierSystemsTests {
    @Test("of two changes to one version, one is refused and gets the current state: no update is lost (T26)")
    func lostUpdates() async throws {
        try await Quartet.with { quartet in
            let phone = try await quartet.signUp("anna")
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            let bob = try await quartet.signUp("bob")
            try await phone.add(bob)
            for round in 1...10 {
                // A name has letters alone.
                let name = "Anna " + String(repeating: "a", count: round)
                let note = "note \(round)"
                let version = try #require(try await phone.read("/v1/account")["profileVersion"].int)
                let profile = try await Self.race(
                    "UpdateProfile", [:], version, (phone, "name", .string(name)),
                    (tablet, "emergencyNote", .string(note)))
                let account = try await phone.read("/v1/account")
                #expect(profile.current == account)
                #expect(account["profileVersion"].int == version + 1)
                // From the state in the refusal, the other device makes its change again, and neither change is lost.
                try await profile.again(profile.current["profileVersion"])
                let merged = try await phone.read("/v1/account")
                #expect(merged["name"].string == name && merged["emergencyNote"].string == note)
                #expect(merged["profileVersion"].int == version + 2)

                let before = try #require(try await phone.card(of: bob)["contact"]["version"].int)
                let contact = try await Self.race(
                    "UpdateContact", ["contact": .string(bob.account)], before, (phone, "nickname", .string(note)),
                    (tablet, "notes", .string(note)))
                let card = try await phone.card(of: bob)
                #expect(contact.current == card)
                #expect(card["contact"]["version"].int == before + 1)
                try await contact.again(contact.current["contact"]["version"])
                let both = try await phone.card(of: bob)["contact"]
                #expect(both["nickname"].string == note && both["notes"].string == note)
                #expect(both["version"].int == before + 2)
            }
        }
    }

    /// Which of two changes was refused.
    private struct Refused: Sendable {
        /// The state that came with the refusal.
        let current: JSON
        /// Makes the change from another version.
        let again: @Sendable (_ version: JSON) async throws -> Void
    }

    /// One's change of one field.
    private typealias Change = (device: Device, field: String, value: JSON)

    /// Sends two changes of one version at the same moment: one must be accepted and the other refused as stale.
    private static func race(
        _ command: String, _ body: JSON, _ version: Int64, _ first: Change, _ second: Change
    ) async throws -> Refused {
        @Sendable func send(_ change: Change, _ version: JSON) async throws -> EdgeClient.Reply {
            let changed = body.adding("expectedVersion", version).adding(change.field, change.value)
            return try await change.device.ask(command, changed)
        }
        async let one = send(first, .int(version))
        async let other = send(second, .int(version))
        let replies = try await [one, other]
        let statuses = replies.map(\.status).sorted()
        try #require(statuses == [200, 409], "\(replies)")
        let refused = replies[0].status == 409 ? (replies[0], first) : (replies[1], second)
        #expect(refused.0.body["code"] == "staleVersion" && refused.0.body["field"] == "expectedVersion")
        return Refused(current: refused.0.body["current"]) { version in
            let reply = try await send(refused.1, version)
            #expect(reply.status == 200, "\(reply)")
        }
    }

    @Test("both sides of a relation always agree, while two people change it and contacts is killed (S8)")
    func oneSidedPair() async throws {
        try await withRandom { random in
            try await Quartet.with { quartet in
                let (anna, bob) = try await quartet.signUp("anna", "bob")
                try await anna.add(bob, isMyResponder: true)
                for _ in 0..<3 {
                    let isOn = Observed(true)
                    let (left, right) = (random.fork(), random.fork())
                    async let storm: Void = quartet.killAgainAndAgain(.contacts, while: isOn)
                    async let annas: Void = Self.meddle(anna, with: bob, random: left)
                    async let bobs: Void = Self.meddle(bob, with: anna, random: right)
                    _ = try await (annas, bobs)
                    isOn.update { $0 = false }
                    try await storm
                    try await quartet.waitUntilQuiet()
                    try await Self.expectMirrored(anna, bob)
                }
                // Both sides have the event of every command that concerns both.
                let halves = try await quartet.psql(
                    """
                    SELECT count(*)
                      FROM (SELECT l.command_id
                              FROM contacts.log AS l
                             WHERE l.type IN ('ContactAdded', 'ContactRemoved', 'PingCancelled', 'PingAnswered')
                                OR l.type = 'ContactUpdated' AND l.body ->> 'rolesChanged' = 'true'
                             GROUP BY l.command_id, l.type
                            HAVING count(DISTINCT l.key) <> 2
                            UNION ALL
                            SELECT l.command_id
                              FROM contacts.log AS l
                             WHERE l.type IN ('PingSent', 'PingReceived')
                             GROUP BY l.command_id
                            HAVING count(*) <> 2 OR count(DISTINCT l.key) <> 2) AS half
                    """)
                #expect(halves == "0")
            }
        }
    }

    /// Does at random, as one of two, what changes what they are to each other.
    private static func meddle(
        _ device: Device, with other: Device, random: SeededRandom
    ) async throws {
        var random = random
        let contact: JSON = ["contact": .string(other.account)]
        let code = try await other.read("/v1/contacts")["code"]
        for _ in 0..<25 {
            let reply: EdgeClient.Reply
            switch Int.random(in: 0..<13, using: &random) {
            case 0: reply = try await device.ask("RemoveContact", contact)
            case 1, 2: reply = try await device.ask("SendPing", contact)
            case 3: reply = try await device.ask("CancelPing", contact)
            case 4: reply = try await device.ask("RespondToPing", contact)
            case 5: reply = try await device.ask("RequestRoleChange", contact)
            case 6: reply = try await device.ask("AcceptRoleChange", contact)
            case 7: reply = try await device.ask("WithdrawRoleChange", contact)
            default:
                let responder = Bool.random(using: &random)
                let roles: JSON = [
                    "isMyResponder": .bool(responder), "iAmResponder": .bool(!responder || Bool.random(using: &random)),
                ]
                let card = try await device.edge.send("GET", "/v1/contacts/\(other.account)", token: device.token)
                let version = card.body["contact"]["version"]
                reply =
                    if version == .null {
                        try await device.ask("AddContact", roles.adding("code", code))
                    } else {
                        try await device.ask(
                            "UpdateContact",
                            roles.adding("contact", .string(other.account)).adding("expectedVersion", version))
                    }
            }
            // Refused or not: it is decided.
            #expect([200, 404, 409, 422, 429].contains(reply.status), "\(reply)")
        }
    }

    /// Each is to the other what the other is to them, or they are nothing to each other.
    private static func expectMirrored(_ one: Device, _ other: Device) async throws {
        let mine = try await one.edge.send("GET", "/v1/contacts/\(other.account)", token: one.token)
        let theirs = try await one.edge.send("GET", "/v1/contacts/\(one.account)", token: other.token)
        #expect(mine.status == theirs.status && [200, 404].contains(mine.status), "\(mine) \(theirs)")
        let mirrored = [
            ("isMyResponder", "iAmResponder"), ("iAmResponder", "isMyResponder"), ("outgoingPing", "incomingPing"),
            ("incomingPing", "outgoingPing"), ("outgoingRoleRequest", "incomingRoleRequest"),
            ("incomingRoleRequest", "outgoingRoleRequest"), ("added", "added"),
        ]
        for (field, mirror) in mirrored {
            let (here, there) = (mine.body["contact"][field], theirs.body["contact"][mirror])
            #expect(here == there, "\(field): \(mine) \(theirs)")
        }
    }

    @Test("clearing all pings is done only when every step is, and every step happens once (S15)")
    func swallowedErrors() async throws {
        try await Quartet.with { quartet in
            let bob = try await quartet.signUp("bob")
            var friends: [Device] = []
            for name in ["anna", "carl"] {
                let friend = try await Device.signUp(name, at: quartet.edge)
                try await friend.add(bob)
                try await friend.act("SendPing", ["contact": .string(bob.account)])
                friends.append(friend)
            }
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.notifications)
            async let ended = bob.operate("ClearAllReceivedPings", ["checkIn": true])
            try await quartet.wait(
                for: "the pings to be answered",
                "SELECT count(*) FROM session_client.saga_step WHERE name = 'clear' AND outcome = 'accepted'"
            ) { $0 == "1" }
            try await Self.expectRunning(for: bob)
            // Not done either for the replica that takes it over.
            try await quartet.restart(.sessionClient)
            try await Self.expectRunning(for: bob)
            let told = try await quartet.psql(
                "SELECT count(*) FROM notifications.notification WHERE kind IN ('pingAnswered', 'pingsCleared')")
            #expect(told == "0")

            try await quartet.start(.notifications)
            let operation = try await ended
            #expect(operation["state"] == "done" && operation["result"]["isCheckedIn"] == true)
            let answered = operation["result"]["contacts"].array.compactMap(\.string)
            #expect(Set(answered) == Set(friends.map(\.account)))
            try await quartet.waitUntilQuiet()
            for friend in friends {
                let acknowledged = try await friend.kinds().count { $0 == "pingAnswered" }
                #expect(acknowledged == 1)
                let card = try await friend.card(of: bob)
                #expect(card["contact"]["outgoingPing"] == .null)
            }
            let summaries = try await bob.kinds().count { $0 == "pingsCleared" }
            let unread = try await bob.kinds(unread: true).count { $0 == "pingReceived" }
            #expect(summaries == 1 && unread == 0)
            let checkIns = try await quartet.psql("SELECT count(*) FROM session.log WHERE type = 'CheckedIn'")
            #expect(checkIns == "1")
        }
    }

    /// The account's only operation is running, without a result.
    private static func expectRunning(for device: Device) async throws {
        let operations = try await device.read("/v1/operations")["operations"].array
        #expect(operations.count == 1)
        let id = operations.first?["id"].string ?? ""
        let reply = try await device.edge.send("GET", "/v1/operations/\(id)", token: device.token)
        #expect(reply.status == 202 && reply.body["state"] == "running" && reply.body["result"] == .null, "\(reply)")
    }

    @Test("list, stream, events and rows agree on the unread count after any history (S13)")
    func twoCounts() async throws {
        try await withRandom { random in
            try await Quartet.with { quartet in
                try await quartet.announceEveryAlert()
                let phone = try await quartet.signUp("anna")
                let tablet = try await Device.signIn("anna", at: quartet.edge)
                for _ in 0..<4 {
                    let (left, right) = (random.fork(), random.fork())
                    async let phones: Void = Self.live(phone, random: left)
                    async let tablets: Void = Self.live(tablet, random: right)
                    _ = try await (phones, tablets)
                    try await quartet.waitUntilQuiet()

                    let list = try await phone.read("/v1/notifications?limit=200")
                    let listed = list["notifications"].array.count { $0["read"] == .null && $0["cleared"] == .null }
                    let sees = try await LiveView.open(tablet)
                    let state = try await sees.snapshot(of: "notifications")
                    await sees.close()
                    let counted = try await quartet.psql(
                        """
                        SELECT count(*) FROM notifications.notification
                         WHERE account = '\(phone.account)' AND read_at IS NULL AND cleared_at IS NULL
                        """)
                    let said = try await quartet.psql(
                        """
                        SELECT body ->> 'unread' FROM notifications.log
                         WHERE key = 'account/\(phone.account)' AND kind = 'event' AND body ->> 'unread' IS NOT NULL
                         ORDER BY position DESC LIMIT 1
                        """)
                    let unread = try #require(Int64(counted))
                    #expect(list["next"] == .null, "the whole history fits on a page")
                    #expect(listed == Int(unread) && list["unread"].int == unread)
                    #expect(state["unread"].int == unread && said == counted)
                    let wrong = try await quartet.psql("SELECT count(*) FROM notifications.wrong_count")
                    #expect(wrong == "0")
                }
            }
        }
    }

    /// Raises and clears alerts, and reads and clears their notifications, at random.
    private static func live(_ device: Device, random: SeededRandom) async throws {
        var random = random
        for _ in 0..<25 {
            switch Int.random(in: 0..<16, using: &random) {
            case 0..<5: try await device.act("RaiseAlert")
            case 5..<10: try await device.act("ClearAlert")
            case 10..<13:
                let page = try await device.read("/v1/notifications?limit=20")["notifications"].array
                guard let id = page.randomElement(using: &random)?["id"] else { continue }
                try await device.act("MarkRead", ["id": id])
            case 13:
                let page = try await device.read("/v1/notifications?limit=20")["notifications"].array
                let ids = page.filter { _ in Bool.random(using: &random) }.map { $0["id"] }
                guard !ids.isEmpty else { continue }
                try await device.act("ClearNotifications", ["selection": ["ids": .array(ids)]])
            case 14:
                let kind: JSON = Bool.random(using: &random) ? "alertRaised" : "alertCleared"
                try await device.act("ClearNotifications", ["selection": ["kinds": [kind], "category": "alerts"]])
            default: try await device.act("MarkAllRead")
            }
        }
    }

    @Test("a write whose acknowledgement was lost happens once when it is sent again under its key")
    func lostAcknowledgement() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let writes: [(service: Quartet.Service, command: String, body: JSON, event: String)] = [
                (.session, "CheckIn", [:], "CheckedIn"),
                (.session, "UpdateProfile", ["expectedVersion": 1, "emergencyNote": "once"], "ProfileUpdated"),
                (.contacts, "ResetContactCode", [:], "ContactCodeReset"),
                (.contacts, "SendPing", ["contact": .string(bob.account)], "PingSent"),
            ]
            for (service, command, body, event) in writes {
                let key = EdgeClient.newKey()
                // The service stands still, so the edge is killed with the command sent and not answered.
                quartet.send(.stop, to: service)
                let lost = Task {
                    try await quartet.edge.send(
                        "POST", "/v1/commands/\(command)", body: body, token: anna.token, key: key)
                }
                try await quartet.wait(
                    for: "\(command) to be sent",
                    "SELECT count(DISTINCT command_id) FROM session_client.\(service.rawValue)_commands WHERE type = '\(command)'"
                ) { $0 == "1" }
                try await quartet.kill(.sessionClient)
                _ = await lost.result
                quartet.send(.resume, to: service)
                try await quartet.start(.sessionClient)

                let first = try await anna.ask(command, body, key: key)
                #expect(first.status == 200 && first.body["event"].string == event, "\(first)")
                let second = try await anna.ask(command, body, key: key)
                try await quartet.restart(.sessionClient)
                let third = try await anna.ask(command, body, key: key)
                #expect(second.body == first.body && third.body == first.body, "\(second) \(third)")
                let done = try await quartet.psql(
                    "SELECT count(*) FROM \(service.rawValue).log WHERE type = '\(event)'")
                #expect(done == "1", "\(command)")
            }
            let code = try await anna.code()
            let codes = try await quartet.psql(
                "SELECT body ->> 'code' FROM contacts.log WHERE type = 'ContactCodeReset'")
            #expect(code == codes)
        }
    }
}
