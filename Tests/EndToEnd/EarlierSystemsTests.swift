import EdgeClient
import Foundation
import Glibc
import Synchronization
import TestKit
import Testing

/// Each mistake that systems of this kind made before, tried on the four executables.
@Suite("End to end: what earlier systems got wrong", .serialized, .timeLimit(.minutes(30)))
struct EarlierSystemsTests {
    // MARK: Deadlines

    @Test("S30: seconds added to milliseconds in an expiry: a deadline is check-in plus interval, to the microsecond")
    func mixedUnits() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", at: quartet.edge)
            try await anna.act("CheckIn")
            let leads: [(name: String, lead: Int64)] = [
                ("RemindCheckIn/twoHours", 7_200_000_000), ("RemindCheckIn/thirtyMinutes", 1_800_000_000),
            ]
            // The shortest and the longest, what no whole second or millisecond is, and each side of a reminder's lead;
            // never so near to one that it comes while this runs.
            let intervals: [Int64] = [
                3_600_000_000, 3_600_000_001, 7_200_000_000, 8_100_000_001, 90_061_000_999, 604_800_000_000,
            ]
            for interval in intervals {
                let result = try await anna.act("SetCheckInInterval", ["interval": .int(interval)])
                let checkIn = try await anna.read("/v1/account")["checkIn"]
                let due = try #require(checkIn["last"].int) + interval
                #expect(checkIn["interval"].int == interval && checkIn["due"].int == due)
                #expect(result["due"].int == due)
                let timers = try await quartet.psql(
                    """
                    SELECT string_agg(name || ' ' || session.microseconds(due_at), ', ' ORDER BY due_at)
                      FROM session.timer
                    """)
                let wanted = leads.filter { $0.lead < interval }.map { "\($0.name) \(due - $0.lead)" }
                #expect(timers == (wanted + ["ExpireCheckIn \(due)"]).joined(separator: ", "))
                let others = try await quartet.psql(
                    "SELECT count(*) FROM session.timer WHERE (body ->> 'deadline')::bigint <> \(due)")
                #expect(others == "0")
            }

            // Where the last check-in plus the interval has passed, the interval begins now.
            _ = try await quartet.psql(
                """
                UPDATE session.account SET last_check_in_at = last_check_in_at - interval '3 days',
                                           due_at = due_at - interval '3 days'
                """)
            let day: Int64 = 86_400_000_000
            let shortened = try await anna.act("SetCheckInInterval", ["interval": .int(day)])
            let due = try #require(shortened["at"].int) + day
            #expect(shortened["due"].int == due)
            let expiry = try await quartet.psql(
                "SELECT session.microseconds(due_at) FROM session.timer WHERE name = 'ExpireCheckIn'")
            #expect(expiry == "\(due)")
        }
    }

    @Test(
        "S31: reminders missed because a poll's windows were narrower than its interval: a passed one is told, once",
        arguments: [90, 10])
    func missedReminder(minutesLeft: Int) async throws {
        try await Quartet.with { quartet in
            let bob = try await Device.signUp("bob", at: quartet.edge)
            try await bob.act("CheckIn")
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.session)
            // While nothing ran, the time of one reminder passed, or that of both.
            _ = try await quartet.psql(
                """
                WITH moved AS (
                    UPDATE session.account
                       SET last_check_in_at = clock_timestamp() - interval '22 hours',
                           due_at = date_trunc('milliseconds', clock_timestamp()) + interval '\(minutesLeft) minutes'
                     WHERE account = '\(bob.account)' RETURNING account, due_at
                )
                UPDATE session.timer AS t
                   SET due_at = m.due_at - CASE t.name WHEN 'RemindCheckIn/twoHours' THEN interval '2 hours'
                                                       WHEN 'RemindCheckIn/thirtyMinutes' THEN interval '30 minutes'
                                                       ELSE interval '0' END,
                       body = CASE WHEN t.name LIKE 'RemindCheckIn/%'
                                   THEN json_build_object('account', m.account,
                                                          'deadline', session.microseconds(m.due_at),
                                                          'lead', split_part(t.name, '/', 2))
                                   ELSE json_build_object('account', m.account,
                                                          'deadline', session.microseconds(m.due_at)) END
                  FROM moved AS m
                """)
            try await quartet.start(.session)
            let told = "SELECT count(*) FROM notifications.notification WHERE kind = 'checkInReminder'"
            try await quartet.wait(for: "the reminder", told) { $0 != "0" }
            // Killed and started again, it isn't told again.
            try await quartet.restart(.session)
            try await quartet.restart(.sessionClient)
            try await quartet.waitUntilTimersAreDone()
            try await quartet.waitUntilQuiet()

            let isLate = minutesLeft < 30
            let leads = try await bob.read("/v1/notifications")["notifications"].array
                .filter { $0["kind"].string == "checkInReminder" }.map { $0["details"]["lead"].int }
            // Of two that are due, the later one tells more, so it alone is told.
            let lead: Int64 = isLate ? 1_800_000_000 : 7_200_000_000
            #expect(leads == [lead])
            let timers = try await quartet.psql("SELECT string_agg(name, ' ' ORDER BY due_at) FROM session.timer")
            #expect(timers == (isLate ? "ExpireCheckIn" : "RemindCheckIn/thirtyMinutes ExpireCheckIn"))
            let checkIn = try await bob.read("/v1/account")["checkIn"]
            #expect(checkIn["missed"] == false)
        }
    }

    @Test(
        "S32 S34: responders alerted again at every poll for ever: what goes on is told again a few times, once each",
        arguments: ["checkInMissed", "alertRaised"])
    func alertedForEver(alarm: String) async throws {
        try await Quartet.with { quartet in
            let isMissed = alarm == "checkInMissed"
            let bob = try await Device.signUp("bob", at: quartet.edge)
            let anna = try await Device.signUp("anna", at: quartet.edge)
            try await anna.add(bob)
            if isMissed {
                try await bob.act("CheckIn")
                try await quartet.waitUntilQuiet()
                try await quartet.kill(.session)
                _ = try await quartet.psql(
                    """
                    WITH moved AS (
                        UPDATE session.account
                           SET last_check_in_at = clock_timestamp() - interval '3 days',
                               due_at = date_trunc('milliseconds', clock_timestamp()) - interval '1 day'
                         WHERE account = '\(bob.account)' RETURNING account, due_at
                    ), gone AS (DELETE FROM session.timer WHERE name LIKE 'RemindCheckIn/%')
                    UPDATE session.timer AS t
                       SET due_at = m.due_at,
                           body = json_build_object('account', m.account, 'deadline', session.microseconds(m.due_at))
                      FROM moved AS m
                     WHERE t.name = 'ExpireCheckIn'
                    """)
                try await quartet.start(.session)
            } else {
                try await bob.act("RaiseAlert")
            }

            let waiting = "SELECT count(*) FROM session.timer WHERE name = 'RepeatAlarm/\(alarm)'"
            try await quartet.wait(for: "the first repetition to be wanted", waiting) { $0 == "1" }
            let column = isMissed ? "missed_told_at" : "alert_told_at"
            var times = 0
            while try await quartet.psql(waiting) == "1" {
                times += 1
                try #require(times <= 10, "it goes on for ever")
                // The world's clock can't be moved, so the time when it was told last is.
                _ = try await quartet.psql(
                    """
                    WITH moved AS (
                        UPDATE session.account SET \(column) = \(column) - interval '31 minutes'
                         WHERE account = '\(bob.account)' RETURNING account
                    )
                    UPDATE session.timer AS t SET due_at = t.due_at - interval '31 minutes'
                      FROM moved AS m
                     WHERE t.key = 'account/' || m.account AND t.name = 'RepeatAlarm/\(alarm)'
                    """)
                // Killed while it is due, it is told all the same, and once.
                if times % 2 == 1 { try await quartet.restart(.session) }
                let expected = "\(times)"
                try await quartet.wait(
                    for: "repetition \(times)", "SELECT count(*) FROM session.log WHERE type = 'AlarmRepeated'"
                ) { $0 == expected }
            }
            #expect(times > 0)

            try await quartet.restart(.session)
            try await quartet.waitUntilTimersAreDone()
            try await quartet.waitUntilQuiet()
            let kind = isMissed ? "dependentCheckInMissed" : "dependentAlertRaised"
            let told = try await anna.read("/v1/notifications")["notifications"].array
                .filter { $0["kind"].string == kind }.map { $0["details"]["count"].int }
            // Newest first; the first time has no count.
            let wanted: [Int64?] = (0...times).map { $0 == 0 ? nil : Int64($0) }
            #expect(Array(told.reversed()) == wanted)
            let own = try await bob.kinds().count { $0 == alarm }
            #expect(own == 1, "the person who knows it is told once")
            let repeated = try await quartet.psql("SELECT count(*) FROM session.log WHERE type = 'AlarmRepeated'")
            let timers = try await quartet.psql("SELECT count(*) FROM session.timer")
            #expect(repeated == "\(times)" && timers == "0", "nothing is wanted any more, so nothing can come")
        }
    }

    // MARK: Writes

    @Test("lost updates when two people edit: of two changes of one version one is refused and told what is there")
    func lostUpdates() async throws {
        try await Quartet.with { quartet in
            let phone = try await Device.signUp("anna", name: "Anna", at: quartet.edge)
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            let bob = try await Device.signUp("bob", name: "Bob", at: quartet.edge)
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
                // From what it was told the other one makes its change again, and nothing of either is lost.
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
        /// What it was told is there now.
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

    @Test("a pair changed on one side only: two people change what they are to each other while contacts is killed")
    func oneSidedPair() async throws {
        try await withRandom { random in
            try await Quartet.with { quartet in
                let anna = try await Device.signUp("anna", at: quartet.edge)
                let bob = try await Device.signUp("bob", at: quartet.edge)
                try await anna.add(bob, responder: true)
                for _ in 0..<3 {
                    let isOn = Observed(true)
                    let (left, right) = (random.fork(), random.fork())
                    async let storm: Void = quartet.killAgainAndAgain(.contacts, while: isOn)
                    async let annas: Void = Self.meddle(anna, with: bob, called: "bob", random: left)
                    async let bobs: Void = Self.meddle(bob, with: anna, called: "anna", random: right)
                    _ = try await (annas, bobs)
                    isOn.update { $0 = false }
                    try await storm
                    try await quartet.waitUntilQuiet()
                    try await Self.expectMirrored(anna, bob)
                }
                // What both sides must hear of one command, both heard.
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
        _ device: Device, with other: Device, called handle: String, random: SeededRandom
    ) async throws {
        var random = random
        let contact: JSON = ["contact": .string(other.account)]
        for _ in 0..<25 {
            let reply: EdgeClient.Reply
            switch Int.random(in: 0..<10, using: &random) {
            case 0: reply = try await device.ask("RemoveContact", contact)
            case 1, 2: reply = try await device.ask("SendPing", contact)
            case 3: reply = try await device.ask("CancelPing", contact)
            case 4: reply = try await device.ask("RespondToPing", contact)
            default:
                let responder = Bool.random(using: &random)
                let roles: JSON = [
                    "responder": .bool(responder), "dependent": .bool(!responder || Bool.random(using: &random)),
                ]
                let card = try await device.edge.send("GET", "/v1/contacts/\(other.account)", token: device.token)
                let version = card.body["contact"]["version"]
                reply =
                    if version == .null {
                        try await device.ask("AddContact", roles.adding("handle", .string(handle)))
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
            ("responder", "dependent"), ("dependent", "responder"), ("outgoingPing", "incomingPing"),
            ("incomingPing", "outgoingPing"), ("added", "added"),
        ]
        for (field, mirror) in mirrored {
            let (here, there) = (mine.body["contact"][field], theirs.body["contact"][mirror])
            #expect(here == there, "\(field): \(mine) \(theirs)")
        }
    }

    @Test("an id in the request believed instead of the caller's own: nobody speaks for another, whatever they write")
    func believedID() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", name: "Anna", at: quartet.edge)
            let bob = try await Device.signUp("bob", name: "Bob", at: quartet.edge)
            let eve = try await Device.signUp("eve", name: "Eve", at: quartet.edge)
            try await anna.add(bob)
            try await eve.add(bob)
            // A request that waits, so that there is something to answer for another.
            let carl = try await Device.signUp("carl", at: quartet.edge)
            try await carl.act("SetContactApproval", ["isRequired": true])
            try await anna.act("AddContact", ["handle": "carl", "dependent": true])
            try await quartet.waitUntilQuiet()
            let before = try await Self.everything(of: [anna, bob, eve, carl])

            let person: JSON = ["contact": .string(bob.account)]
            let commands: [(name: String, body: JSON)] = [
                ("UpdateProfile", ["expectedVersion": 1, "name": "Eve the first"]), ("CheckIn", [:]),
                ("SetCheckInInterval", ["interval": 3_600_000_000]), ("SetCheckInReminders", ["leads": []]),
                ("RaiseAlert", [:]), ("ClearAlert", [:]), ("SetContactApproval", ["isRequired": true]),
                ("AddContact", ["handle": "carl", "dependent": true]), ("ApproveContactRequest", person),
                ("DeclineContactRequest", person), ("WithdrawContactRequest", person),
                ("UpdateContact", person.adding("expectedVersion", 1).adding("nickname", "B")),
                ("RemoveContact", person), ("BlockContact", person), ("UnblockContact", person),
                ("SendPing", person), ("CancelPing", person), ("RespondToPing", person), ("ResetContactCode", [:]),
                ("MarkRead", ["id": .string(anna.id)]), ("MarkAllRead", [:]),
                ("ClearNotifications", ["selection": ["everything": true]]), ("RemovePhone", [:]),
                ("UpdateSecurity", ["isSingleDevice": true]), ("RegisterPush", ["token": "x", "platform": "web"]),
                ("UnregisterPush", [:]),
            ]
            let others = [("account", anna.account), ("by", anna.id), ("device", anna.id)]
            for (name, body) in commands {
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

            // What is Anna's or between Anna and Carl isn't Eve's to answer.
            for name in ["ApproveContactRequest", "DeclineContactRequest", "WithdrawContactRequest"] {
                for other in [anna, carl] {
                    let reply = try await eve.ask(name, ["contact": .string(other.account)])
                    #expect(reply.status == 404 && reply.body["code"] == "notFound", "\(name): \(reply)")
                }
            }
            let device = try await eve.edge.insist("/v1/sign-out", ["device": .string(anna.id)], token: eve.token)
            #expect(device.status == 404 && device.body["field"] == "device")

            // Said in the address or in a header, it is somebody else all the same.
            for name in ["account", "user", "sub"] {
                let named = try await eve.edge.send(
                    "GET", "/v1/account?\(name)=\(anna.account)", token: eve.token,
                    headers: ["x-account": anna.account, "x-\(name)-id": anna.account])
                #expect(named.status == 200 && named.body["account"].string == eve.account)
                let contacts = try await eve.read("/v1/contacts?\(name)=\(anna.account)")
                #expect(contacts["code"] == before[2]["contacts"]["code"])
                let told = try await eve.read("/v1/notifications?\(name)=\(anna.account)")
                #expect(told == before[2]["notifications"])
            }
            try await quartet.waitUntilQuiet()
            let after = try await Self.everything(of: [anna, bob, eve, carl])
            #expect(after == before)
            // Who was asked may answer.
            try await carl.act("ApproveContactRequest", ["contact": .string(anna.account)])
        }
    }

    /// What each of some people sees of their own.
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

    @Test("a clear-all of four calls with errors swallowed: it is done when all of it is, and all of it is there once")
    func swallowedErrors() async throws {
        try await Quartet.with { quartet in
            let bob = try await Device.signUp("bob", at: quartet.edge)
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
            // Not done for whoever takes it up either.
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

    /// The one operation of somebody is said to run, with nothing that came of it.
    private static func expectRunning(for device: Device) async throws {
        let operations = try await device.read("/v1/operations")["operations"].array
        #expect(operations.count == 1)
        let id = operations.first?["id"].string ?? ""
        let reply = try await device.edge.send("GET", "/v1/operations/\(id)", token: device.token)
        #expect(reply.status == 202 && reply.body["state"] == "running" && reply.body["result"] == .null, "\(reply)")
    }

    @Test("an unread count kept in two ways: list, stream, events and rows say the same after any history")
    func twoCounts() async throws {
        try await withRandom { random in
            try await Quartet.with { quartet in
                let phone = try await Device.signUp("anna", at: quartet.edge)
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

    /// Raises and clears alerts, reads and clears what was told of them, at random.
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

    @Test("a write applied twice because only its acknowledgement was lost: sent again under its key it is done once")
    func lostAcknowledgement() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", at: quartet.edge)
            let bob = try await Device.signUp("bob", at: quartet.edge)
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
                    "SELECT count(*) FROM session_client.\(service.rawValue)_commands WHERE type = '\(command)'"
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

    // MARK: Streams

    @Test("\"subscribed\" said before it was true: what is done right after a stream's beginning always arrives in it")
    func earlySubscription() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", at: quartet.edge)
            for round in 1...40 {
                let isOdd = round % 2 == 1
                let note = "note \(round)"
                let sees = try await LiveView.open(anna)
                async let profile = anna.act(
                    "UpdateProfile", ["expectedVersion": .int(Int64(round)), "emergencyNote": .string(note)])
                async let approval = anna.act("SetContactApproval", ["isRequired": .bool(isOdd)])
                async let alert = anna.act(isOdd ? "RaiseAlert" : "ClearAlert")
                async let operation = anna.operate("ClearAllReceivedPings")
                _ = try await (profile, approval, alert, operation)
                try await sees.wait("\(note) in session") {
                    $0.name == "session.event" && $0.data["body"]["emergencyNote"].string == note
                }
                try await sees.wait("the choice of round \(round) in contacts") {
                    $0.name == "contacts.event" && $0.data["body"]["isRequired"] == .bool(isOdd)
                }
                try await sees.wait(notification: isOdd ? "alertRaised" : "alertCleared")
                try await sees.wait("OperationEnded", in: "operations")
                await sees.close()
            }
        }
    }

    @Test("a stuck upload that blocks all downloads: pictures go up and down while others stand still half-way")
    func stuckUpload() async throws {
        try await Quartet.with { quartet in
            let phone = try await Device.signUp("anna", at: quartet.edge)
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            let bob = try await Device.signUp("bob", at: quartet.edge)
            try await bob.add(phone)
            let port = try await quartet.edgePort()
            let (half, rest) = (Array(Self.picture.prefix(35)), Array(Self.picture.dropFirst(35)))
            var stuck: [RawConnection] = []
            for _ in 0..<3 {
                let upload = try RawConnection(port: port)
                let headers = ["content-type: image/png", "content-length: \(Self.picture.count)"]
                try upload.send(Self.request("PUT", "/v1/account/avatar", phone, headers))
                try upload.send(half)
                stuck.append(upload)
            }

            for device in [tablet, bob] {
                let uploaded = try await device.edge.send(
                    "PUT", "/v1/account/avatar", raw: Self.picture, token: device.token,
                    headers: ["content-type": "image/png"])
                #expect([200, 204].contains(uploaded.status), "\(uploaded)")
            }
            try await Self.expectPictures(tablet, bob, port)
            // One that breaks off in the middle changes nothing; one that goes on is done.
            stuck[0].breakOff()
            try await Self.expectPictures(tablet, bob, port)
            try stuck[1].send(rest)
            let late = try await stuck[1].reply()
            #expect([200, 204].contains(late.status))
            try await Self.expectPictures(tablet, bob, port)
        }
    }

    /// A PNG of one pixel.
    private static let picture = Array(
        Data(
            base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"
                + "rkJggg==") ?? Data())

    /// Anna's picture is to be had by herself and by Bob, whose contact she is.
    private static func expectPictures(_ anna: Device, _ bob: Device, _ port: UInt16) async throws {
        for (device, path) in [
            (anna, "/v1/account/avatar"), (bob, "/v1/account/avatar"), (bob, "/v1/contacts/\(anna.account)/avatar"),
        ] {
            let download = try RawConnection(port: port)
            try download.send(request("GET", path, device))
            let reply = try await download.reply()
            #expect(reply.status == 200 && reply.body == picture, "\(path): \(reply.status)")
        }
    }

    /// The head of a request, byte by byte.
    private static func request(
        _ method: String, _ path: String, _ device: Device, _ headers: [String] = []
    ) -> [UInt8] {
        let first = ["\(method) \(path) HTTP/1.1", "host: 127.0.0.1", "authorization: Bearer \(device.token)"]
        let head = (first + headers).map { $0 + "\r\n" }.joined()
        return Array((head + "\r\n").utf8)
    }

    @Test("a resume buffer that forgets silently: who comes back to what isn't kept any more is told to begin anew")
    func silentlyForgotten() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", at: quartet.edge)
            let sees = try await LiveView.open(anna)
            let place = try #require(sees.lastEventID)
            await sees.close()
            var codes: [JSON] = []
            for _ in 0..<3 { codes.append(try await anna.act("ResetContactCode")["code"]) }
            let last = codes[2]
            try await quartet.waitUntilQuiet()

            // While it is kept, the stream goes on exactly there.
            let resumed = try await LiveView.open(anna, after: place)
            try await resumed.wait("the last of three changes") { $0.data["body"]["code"] == last }
            let changes = resumed.all.filter { $0.data["type"] == "ContactCodeReset" }.map { $0.data["body"]["code"] }
            #expect(changes == codes)
            #expect(resumed.all.contains { $0.name == "contacts.resumed" })
            await resumed.close()

            // As retention does a month later: the newest row of each partition stays.
            _ = try await quartet.psql("UPDATE contacts.log SET recorded_at = recorded_at - interval '40 days'")
            let forgotten = try await quartet.psql(
                "SELECT sum(contacts.log_delete_old(p.partition, 1000)) FROM contacts.log_partition AS p")
            #expect((Int(forgotten) ?? 0) > 0)

            let again = try await LiveView.open(anna, after: place)
            let beginning = try #require(again.all.first { $0.name.hasPrefix("contacts.") })
            #expect(beginning.name == "contacts.snapshot" && beginning.data["refetched"] == true)
            #expect(beginning.data["state"]["code"] == last, "nothing of it is lost")
            for stream in ["session", "notifications", "operations"] {
                #expect(again.all.contains { $0.name == "\(stream).resumed" }, "\(stream) has forgotten nothing")
            }
            // And from here on it is whole again.
            try await anna.act("ResetContactCode")
            try await again.wait("ContactCodeReset", in: "contacts")
            await again.close()
        }
    }

    @Test("a connection drop that nobody notices: streams that broke off without a word give their places back")
    func unnoticedDrop() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", at: quartet.edge)
            let port = try await quartet.edgePort()
            var streams: [RawConnection] = []
            for _ in 0..<16 {
                let stream = try RawConnection(port: port)
                try stream.send(Self.request("GET", "/v1/stream", anna))
                let status = try await stream.status()
                #expect(status == 200)
                streams.append(stream)
            }
            await #expect(throws: EdgeClient.Refused.self) { try await quartet.edge.stream(token: anna.token) }
            for stream in streams { stream.breakOff() }
            // All of them: as many as there may be.
            var views: [LiveView] = []
            for _ in 0..<16 { views.append(try await Self.openWhenThereIsRoom(anna)) }
            await #expect(throws: EdgeClient.Refused.self) { try await quartet.edge.stream(token: anna.token) }
            try await anna.act("RaiseAlert")
            for view in views {
                try await view.wait("AlertRaised", in: "session")
                await view.close()
            }
        }
    }

    /// Opens a stream as soon as there is a place for it. When the server hears of a drop nobody else can be told.
    private static func openWhenThereIsRoom(_ device: Device) async throws -> LiveView {
        var attempt = 0
        while true {
            do {
                return try await LiveView.open(device)
            } catch let refused as EdgeClient.Refused where refused.status == 429 && attempt < 300 {
                attempt += 1
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}

extension JSON {
    /// The same object with one more field.
    fileprivate func adding(_ name: String, _ value: JSON) -> JSON {
        guard case .object(var fields) = self else { return self }
        fields[name] = value
        return .object(fields)
    }
}

extension Quartet {
    /// Ends one of the three owners by kill -9 and starts it again, over and over while `isOn`: each time when it has
    /// decided something since it was started, so that it is hit at work and not only kept from it.
    func killAgainAndAgain(_ service: Service, while isOn: Observed<Bool>) async throws {
        let decided = "SELECT count(*) FROM \(service.rawValue).outcome"
        while isOn.value {
            try await kill(service)
            let before = Int(try await psql(decided)) ?? 0
            try await start(service)
            try await wait(for: "\(service.rawValue) to decide something", decided) {
                !isOn.value || (Int($0) ?? 0) > before
            }
        }
    }

    /// Waits until no timer is due and what timers sent has its outcome.
    fileprivate func waitUntilTimersAreDone() async throws {
        try await wait(
            for: "all timers to be done",
            """
            SELECT (SELECT count(*) FROM session.timer WHERE due_at <= clock_timestamp())
                 + (SELECT count(*) FROM session.due AS d
                     WHERE NOT EXISTS (SELECT FROM session.outcome AS o WHERE o.command_id = d.command_id))
            """
        ) { $0 == "0" }
    }

    /// The port on which the edge listens.
    fileprivate func edgePort() async throws -> UInt16 {
        let line = try await process(of: .sessionClient).waitForLine(containing: "the HTTP API is served")
        let address = try #require(line.text.firstRange(of: "http://127.0.0.1:"))
        return try #require(UInt16(line.text[address.upperBound...].prefix { $0.isNumber }))
    }
}

/// A connection of bytes, for what no HTTP client does: to stop in the middle of a request, and to break off.
private final class RawConnection: Sendable {
    /// An answer.
    struct Reply: Sendable {
        let status: Int
        let body: [UInt8]
    }

    /// The other side isn't there, or says nothing that can be read.
    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    private let descriptor: Mutex<Int32?>

    init(port: UInt16) throws {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        descriptor = Mutex(made)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(made, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Broken(description: "can't connect: \(String(cString: strerror(errno)))") }
        // Only for a test that is broken: whoever waits for an answer must not wait for ever.
        var patience = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        descriptor.withLock { descriptor in if let open = descriptor { close(open) } }
    }

    /// Sends bytes.
    func send(_ bytes: [UInt8]) throws {
        try descriptor.withLock { descriptor in
            var sent = 0
            while let open = descriptor, sent < bytes.count {
                let written = bytes[sent...].withUnsafeBytes {
                    Glibc.send(open, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else {
                    throw Broken(description: "can't send: \(String(cString: strerror(errno)))")
                }
                sent += written
            }
        }
    }

    /// Leaves without a word: the other side finds the connection reset.
    func breakOff() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            var rude = linger(l_onoff: 1, l_linger: 0)
            setsockopt(open, SOL_SOCKET, SO_LINGER, &rude, socklen_t(MemoryLayout<linger>.size))
            close(open)
            descriptor = nil
        }
    }

    /// Waits for the whole answer to what was asked.
    func reply() async throws -> Reply {
        try await read { bytes in
            guard let (status, head, body) = Self.parts(of: bytes) else { return nil }
            let length =
                head.split(whereSeparator: \.isNewline).first { $0.hasPrefix("content-length:") }
                .flatMap { Int($0.dropFirst("content-length:".count).filter(\.isNumber)) } ?? 0
            return body.count < length ? nil : Reply(status: status, body: Array(body.prefix(length)))
        }
    }

    /// Waits for the beginning of an answer that may have no end.
    func status() async throws -> Int { try await read { Self.parts(of: $0)?.status } }

    /// Reads until what came makes something; on a thread of its own, since it blocks.
    private func read<Value: Sendable>(_ make: @escaping @Sendable ([UInt8]) -> Value?) async throws -> Value {
        let open = descriptor.withLock { $0 } ?? -1
        return try await withCheckedThrowingContinuation { continuation in
            Thread {
                var bytes: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let count = recv(open, &buffer, buffer.count, 0)
                    if count < 0 && errno == EINTR { continue }
                    guard count > 0 else { break }
                    bytes += buffer[..<count]
                    if let value = make(bytes) { return continuation.resume(returning: value) }
                }
                let said = String(decoding: bytes.prefix(500), as: UTF8.self)
                continuation.resume(throwing: Broken(description: "no whole answer came, only: \(said)"))
            }.start()
        }
    }

    /// The status, the head in lower case, and what came of the body; nil while the head isn't whole.
    private static func parts(of bytes: [UInt8]) -> (status: Int, head: String, body: ArraySlice<UInt8>)? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased()
        guard let status = head.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        return (status, head, bytes[end.upperBound...])
    }
}
