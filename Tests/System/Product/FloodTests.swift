import EdgeClient
import TestKit
import Testing

/// Nobody can flood another with notifications by doing and undoing something again and again.
@Suite("End to end: floods", .timeLimit(.minutes(60)))
struct FloodTests {
    /// Of each flood: notifications takes the first as they come, the others while it is away and so all at once.
    private static let rounds = (first: 10, others: 20)

    @Test(
        """
        adding and removing someone again and again changes the state each time, but sends only a few notifications \
        and the last (S46)
        """)
    func floods() async throws {
        try await Quartet.with { quartet in
            try await ChildProcess.with(
                "notifications", ["migrate", "--burst", "6"], environment: ["DATABASE_URL": quartet.databaseURL]
            ) { try await $0.waitForExit(.exited(0)) }
            let (bob, anna, eve) = try await quartet.signUp("bob", "anna", "eve")
            let begun = ContinuousClock.now
            func flood(_ rounds: Int) async throws {
                for _ in 0..<rounds {
                    try await eve.add(bob)
                    try await eve.act("RemoveContact", ["contact": .string(bob.account)])
                }
            }
            try await flood(Self.rounds.first)
            // Others aren't held up by that.
            try await anna.add(bob)
            try await bob.wait(toHearOf: anna, nil)
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.notifications)
            try await flood(Self.rounds.others)
            try await quartet.start(.notifications)
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.notifications)
            let more = Self.more(since: begun)
            let changes = try await quartet.psql(
                "SELECT count(*) FROM contacts.log WHERE type = 'ContactRemoved' AND key = 'account/\(bob.account)'")
            #expect(changes == "\(Self.rounds.first + Self.rounds.others)", "the state changes at once")
            let (eves, annas) = (try await bob.notifications(about: eve), try await bob.notifications(about: anna))
            #expect((6...6 + more).contains(eves.count) && annas.count == 1, "\(eves) \(annas)")
            let held = try await quartet.psql(
                "SELECT string_agg(kind, ' ') FROM notifications.held WHERE account = '\(bob.account)'")
            // After a minute, it isn't held back any more.
            #expect(held == "contactRemoved" || held.isEmpty && more > 0, "the newest alone: \(held)")

            let bobSees = try await LiveView.open(bob)
            try await quartet.start(.notifications)
            try await Self.becomeDue(quartet)
            if !held.isEmpty { try await bobSees.wait(notification: "contactRemoved") }
            try await quartet.wait(for: "nothing to be held back", "SELECT count(*) FROM notifications.held") {
                $0 == "0"
            }
            let all = try await bob.notifications(about: eve)
            #expect(all.count == eves.count + (held.isEmpty ? 0 : 1) && all.first == "contactRemoved", "\(all)")
        }
    }

    @Test(
        """
        inviting someone again and again sends only a few notifications, and to the same session at most one a minute (S46)
        """)
    func invitations() async throws {
        try await Quartet.with { quartet in
            try await ChildProcess.with(
                "notifications", ["migrate", "--burst", "6"], environment: ["DATABASE_URL": quartet.databaseURL]
            ) { try await $0.waitForExit(.exited(0)) }
            let (bob, anna, eve) = try await quartet.signUp("bob", "anna", "eve")
            try await eve.add(bob)
            try await anna.add(bob)
            let begun = ContinuousClock.now
            func flood(_ rounds: Int) async throws {
                for _ in 0..<rounds {
                    let group = try await Group.create(by: eve)
                    try await group.invite(bob, by: eve)
                    try await group.act(eve, "RemoveParticipant", ["participant": .string(bob.account)])
                    let again = try await group.ask(
                        eve, "ActivateGroupSession", ["contacts": [.string(bob.account)]])
                    #expect(again.status == 429 && again.body["code"] == "tooSoon", "\(again)")
                    try await group.act(eve, "EndGroupSession")
                }
            }
            try await flood(Self.rounds.first)
            // Others aren't held up by that.
            let annas = try await Group.create(by: anna)
            try await annas.invite(bob, by: anna)
            try await bob.wait(toHearOf: anna, "groupInvitation")
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.notifications)
            try await flood(Self.rounds.others)
            try await quartet.start(.notifications)
            try await quartet.waitUntilQuiet()
            let told = try await bob.kinds().count { $0 == "groupInvitation" }
            let more = Self.more(since: begun)
            #expect((7...7 + more).contains(told), "six of Eve and one of Anna: \(told)")
            #expect(try await bob.invitations() == [annas.id: 1])
            // What was held back is about sessions that are over.
            let held = try await quartet.psql(
                "SELECT count(*) FROM notifications.held WHERE account = '\(bob.account)'")
            #expect(held == "0")
        }
    }

    /// How many more may have come: one for each minute that it took.
    private static func more(since begun: ContinuousClock.Instant) -> Int {
        Int((ContinuousClock.now - begun) / .seconds(60))
    }

    /// The clock can't be moved, so held notifications are made due.
    private static func becomeDue(_ quartet: Quartet) async throws {
        _ = try await quartet.psql(
            """
            WITH due AS (UPDATE notifications.held SET due_at = date_trunc('milliseconds', clock_timestamp())
                          RETURNING account, pace, due_at)
            UPDATE notifications.timer AS t
               SET due_at = d.due_at,
                   body = json_build_object('account', d.account, 'pace', d.pace,
                                            'due', notifications.microseconds(d.due_at))
              FROM due AS d
             WHERE t.key = 'account/' || d.account AND t.name = 'DeliverHeldNotification/' || d.pace
            """)
    }
}

extension Device {
    /// The kinds of this account's notifications about another device's account, newest first.
    fileprivate func notifications(about other: Device) async throws -> [String] {
        try await read("/v1/notifications?limit=200")["notifications"].array
            .filter { $0["subject"].string == other.account }.compactMap { $0["kind"].string }
    }

    /// Waits for a notification about another device's account.
    /// - Parameter kind: Nil for any.
    fileprivate func wait(toHearOf other: Device, _ kind: String?) async throws {
        let end = ContinuousClock.now + .patience
        repeat {
            if try await notifications(about: other).contains(where: { kind == nil || $0 == kind }) { return }
            try await Task.sleep(for: .milliseconds(20))
        } while ContinuousClock.now < end
        throw TimedOut("waited two minutes to hear of \(other.account)")
    }
}
