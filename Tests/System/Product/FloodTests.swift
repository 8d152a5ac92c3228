import EdgeClient
import TestKit
import Testing

/// Nobody can flood another with notifications by doing and undoing something again and again.
@Suite("End to end: floods", .timeLimit(.minutes(60)))
struct FloodTests {
    private static let rounds = 30

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
            // After a minute there would be another one. So they come to notifications all at once, however long they take here.
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.notifications)
            for _ in 0..<Self.rounds {
                try await eve.add(bob)
                try await eve.act("RemoveContact", ["contact": .string(bob.account)])
            }
            // Others aren't held up by that.
            try await anna.add(bob)
            try await quartet.start(.notifications)
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.notifications)
            let changes = try await quartet.psql(
                "SELECT count(*) FROM contacts.log WHERE type = 'ContactRemoved' AND key = 'account/\(bob.account)'")
            #expect(changes == "\(Self.rounds)", "the state changes at once")
            let kinds = try await bob.kinds(unread: true)
            #expect(kinds.count == 7, "six of Eve and one of Anna: \(kinds)")
            let annas = try await bob.read("/v1/notifications")["notifications"][0]["subject"].string
            #expect(annas == anna.account)
            let held = try await quartet.psql(
                "SELECT string_agg(kind, ' ') FROM notifications.held WHERE account = '\(bob.account)'")
            #expect(held == "contactRemoved", "the newest alone")

            try await quartet.start(.notifications)
            let bobSees = try await LiveView.open(bob)
            try await Self.becomeDue(quartet)
            try await bobSees.wait(notification: "contactRemoved")
            try await quartet.wait(for: "nothing to be held back", "SELECT count(*) FROM notifications.held") {
                $0 == "0"
            }
            let all = try await bob.kinds(unread: true)
            #expect(all.count == 8)
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
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.notifications)
            for _ in 0..<Self.rounds {
                let group = try await Group.create(by: eve)
                try await group.invite(bob, by: eve)
                try await group.act(eve, "RemoveParticipant", ["participant": .string(bob.account)])
                let again = try await group.ask(
                    eve, "ActivateGroupSession", ["contacts": [.string(bob.account)]])
                #expect(again.status == 429 && again.body["code"] == "tooSoon", "\(again)")
                try await group.act(eve, "EndGroupSession")
            }
            let annas = try await Group.create(by: anna)
            try await annas.invite(bob, by: anna)
            try await quartet.start(.notifications)
            try await quartet.waitUntilQuiet()
            let told = try await bob.kinds().count { $0 == "groupInvitation" }
            #expect(told == 7, "six of Eve and one of Anna")
            #expect(try await bob.invitations() == [annas.id: 1])
            // What was held back is about sessions that are over.
            let held = try await quartet.psql(
                "SELECT count(*) FROM notifications.held WHERE account = '\(bob.account)'")
            #expect(held == "0")
        }
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
