import EdgeClient
import TestKit
import Testing

/// Nobody stays alone without knowing it.
@Suite("End to end: nobody to tell", .timeLimit(.minutes(60)))
struct EndToEndReachTests {
    @Test("who has no responder any more sees it at once and is notified once; a new responder ends that (A16)")
    func nobody() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let alone = try await LiveView.open(anna)
            #expect(try await alone.snapshot(of: "contacts")["responderReach"] == "nobody")
            try await anna.add(bob, isMyResponder: true, iAmResponder: false)
            try await alone.wait(reach: "reachable")
            try await quartet.settleReach(of: anna)
            try await alone.wait(settled: "reachable")

            let sees = try await LiveView.open(anna)
            #expect(try await sees.snapshot(of: "contacts")["responderReach"] == "reachable")
            try await anna.act("RemoveContact", ["contact": .string(bob.account)])
            try await sees.wait(reach: "nobody")
            try await quartet.settleReach(of: anna)
            let told = try await sees.wait(notification: "system")["notification"]
            #expect(told["details"]["text"] == "Nobody would be told if you missed a check-in. Add a responder.")
            #expect(told["subject"].string == anna.account)

            // A responder who doesn't stay changes nothing.
            try await anna.add(bob, isMyResponder: true, iAmResponder: false)
            try await sees.wait(reach: "reachable")
            try await anna.act("RemoveContact", ["contact": .string(bob.account)])
            try await quartet.waitUntilQuiet()
            #expect(try await anna.kinds(unread: true).contains("system"))

            try await anna.add(bob, isMyResponder: true, iAmResponder: false)
            try await sees.wait(reach: "reachable")
            try await quartet.settleReach(of: anna)
            try await sees.waitUntilCleared()
            try await quartet.waitUntilQuiet()
            #expect(try await anna.kinds().count { $0 == "system" } == 1)
            #expect(try await anna.kinds(unread: true).contains("system") == false)
        }
    }

    @Test("who has only responders without a stream for long is notified, until one of them opens one (A16)")
    func unreachable() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let mallory = try await quartet.signUp("mallory")
            try await bob.add(anna)
            // Bob never read that it would be shown to Mallory, too.
            try await mallory.add(bob, isMyResponder: true, iAmResponder: false)
            let sees = try await LiveView.open(anna)
            try await quartet.settleReach(of: anna)
            try await sees.wait(settled: "reachable")
            try await quartet.lapseReach(of: bob)
            try await sees.wait(reach: "unreachable")
            try await quartet.settleReach(of: anna)
            let told = try await sees.wait(notification: "system")["notification"]
            #expect(
                told["details"]["text"]
                    == "The one responder who hears when you miss a check-in couldn't be reached for a long time.")
            // Never since when.
            let state = try await LiveView.open(anna).snapshot(of: "contacts")
            #expect(state["responderReach"] == "unreachable")
            #expect(!"\(state)".contains("reached"))

            let knows = try await LiveView.open(mallory).snapshot(of: "contacts")
            #expect(knows["responderReach"] == "reachable")

            let refreshed = try await quartet.edge.insist("/v1/token", ["refreshToken": .string(bob.refreshToken)])
            _ = try await LiveView.open(Device(refreshed, edge: quartet.edge))
            let returns = "SELECT count(returns_at) FROM contacts.account WHERE account = '\(bob.account)'"
            try await quartet.wait(for: "Bob's return to be known", returns) { $0 == "1" }
            // When he opened the app, Anna isn't to see.
            try await quartet.waitUntilQuiet()
            let later = try await LiveView.open(anna).snapshot(of: "contacts")
            #expect(later["responderReach"] == "unreachable")
            try await quartet.restoreReach(of: bob)
            try await sees.wait(reach: "reachable")
            try await quartet.settleReach(of: anna)
            try await sees.waitUntilCleared()
            #expect(try await anna.kinds(unread: true).contains("system") == false)
        }
    }

    @Test(
        """
        a responder who never opens the app can be reached if their phone takes pushes, even while session-client is away, but \
        not if pushes fail; however many are taken, contacts hears of one a day (A16)
        """)
    func pushed() async throws {
        let isBroken = Observed(true)
        let receiver = PushReceiver { _, _ in isBroken.value ? 503 : 200 }
        try await receiver.listen {
            try await Quartet.with(services: [.session, .contacts]) { quartet in
                try await quartet.start(.notifications, environment: receiver.environment)
                try await quartet.start(.sessionClient)
                try await quartet.announceEveryAlert()
                let (anna, bob) = try await quartet.signUp("anna", "bob")
                try await bob.add(anna)
                try await bob.act("RegisterPush", ["token": "bobs-phone", "platform": "ios"])
                let sees = try await LiveView.open(anna)
                try await quartet.lapseReach(of: bob)
                try await sees.wait(reach: "unreachable")
                try await anna.act("RaiseAlert")
                try await quartet.wait(
                    for: "a push to fail",
                    "SELECT count(*) > 0 FROM notifications.push_attempt WHERE result = 'retried'"
                ) { $0 == "t" }
                try await quartet.waitUntilQuiet()
                #expect(try await quartet.psql("SELECT count(*) FROM notifications.push_taken") == "0")
                let still = try await LiveView.open(anna).snapshot(of: "contacts")
                #expect(still["responderReach"] == "unreachable")

                // The policy has its place in the log from its first start on.
                try await quartet.wait(
                    for: "the policy to have begun",
                    "SELECT count(DISTINCT partition) FROM session_client.batch WHERE source = 'notifications.log'"
                ) { $0 == "8" }
                let bobSaw = try await LiveView.open(bob)
                let before = try #require(bobSaw.lastEventID)
                await bobSaw.close()
                try await quartet.kill(.sessionClient)
                isBroken.update { $0 = false }
                _ = try await quartet.psql("UPDATE notifications.push SET next_attempt_at = clock_timestamp()")
                let taken = "SELECT count(*) FROM notifications.log WHERE type = 'PushTaken'"
                try await quartet.wait(for: "the push to be taken", taken) { $0 == "1" }
                try await quartet.start(.sessionClient)
                try await quartet.wait(
                    for: "Bob's return to be known",
                    "SELECT count(returns_at) FROM contacts.account WHERE account = '\(bob.account)'"
                ) { $0 == "1" }
                try await quartet.restoreReach(of: bob)
                try await quartet.wait(
                    for: "Bob to be reachable",
                    "SELECT responder_reach FROM contacts.account WHERE account = '\(anna.account)'"
                ) { $0 == "reachable" }

                // One by one: a push that the end of its alarm overtakes isn't sent.
                for count in 2...4 {
                    try await anna.act("ClearAlert")
                    try await anna.act("RaiseAlert")
                    try await receiver.received.wait("\(count) alerts") { pushes in
                        let raised = pushes.filter { $0.body["notification"]["kind"] == "dependentAlertRaised" }
                        return Set(raised.map(\.id)).count == count ? true : nil
                    }
                }
                try await quartet.wait(for: "all to be taken", "SELECT count(*) FROM notifications.push") { $0 == "0" }
                try await quartet.waitUntilQuiet()
                #expect(try await quartet.psql(taken) == "1")
                let told = try await quartet.psql(
                    "SELECT count(DISTINCT command_id) FROM session_client.contacts_commands WHERE type = 'RecordReached'"
                )
                #expect(told == "1")
                // It is no app's.
                let bobSees = try await LiveView.open(bob, after: before)
                try await bobSees.wait(notification: "dependentAlertRaised")
                #expect(!bobSees.all.contains { $0.data["type"] == "PushTaken" })
            }
        }
    }

    @Test("what a process of an earlier release did to the roles is noticed (A16)")
    func healed() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob, isMyResponder: true, iAmResponder: false)
            let sees = try await LiveView.open(anna)
            // As a process would leave it that doesn't know these columns.
            _ = try await quartet.psql(
                """
                UPDATE contacts.account SET responder_reach = 'nobody', settled_reach = 'nobody', unsettled_at = NULL
                 WHERE account = '\(anna.account)';
                DELETE FROM contacts.timer WHERE key = 'account/\(anna.account)';
                """)
            try await quartet.restart(.contacts)
            try await sees.waitForAll("the reach to be mended") { events in
                events.count { $0.isReach("reachable") } == 1
            }
            try await quartet.wait(
                for: "the timers to be back",
                "SELECT count(*) FROM contacts.timer WHERE key = 'account/\(anna.account)'"
            ) { $0 == "2" }
        }
    }
}

extension Quartet {
    // The world's clock can't be moved, so the past is.

    /// Makes a change of an account's responders older than a minute.
    func settleReach(of device: Device) async throws {
        _ = try await psql(
            """
            UPDATE contacts.account SET unsettled_at = unsettled_at - interval '1 minute'
             WHERE account = '\(device.account)';
            UPDATE contacts.timer SET due_at = due_at - interval '1 minute'
             WHERE key = 'account/\(device.account)' AND name = 'SettleResponderReach';
            """)
    }

    /// Makes the last time when an account was reached older than a month.
    func lapseReach(of device: Device) async throws {
        _ = try await psql(
            """
            UPDATE session.device SET last_seen_at = last_seen_at - interval '31 days'
             WHERE account = '\(device.account)';
            UPDATE notifications.push_taken SET taken_at = taken_at - interval '34 days'
             WHERE account = '\(device.account)';
            UPDATE contacts.account SET reachable_until = reachable_until - interval '34 days'
             WHERE account = '\(device.account)';
            UPDATE contacts.timer SET due_at = due_at - interval '34 days'
             WHERE key = 'account/\(device.account)' AND name = 'LapseReach';
            """)
    }

    /// Makes the return of an account that was reached again older than a day.
    func restoreReach(of device: Device) async throws {
        _ = try await psql(
            """
            UPDATE contacts.account SET returns_at = returns_at - interval '1 day'
             WHERE account = '\(device.account)';
            UPDATE contacts.timer SET due_at = due_at - interval '1 day'
             WHERE key = 'account/\(device.account)' AND name = 'RestoreReach';
            """)
    }
}

extension LiveView {
    fileprivate func waitUntilCleared() async throws {
        try await wait("the notification to be cleared") {
            $0.name == "notifications.event" && $0.data["type"] == "NotificationsCleared"
        }
    }

    fileprivate func wait(reach: String) async throws { try await wait("the reach \(reach)") { $0.isReach(reach) } }

    fileprivate func wait(settled reach: String) async throws {
        try await wait("the settled reach \(reach)") {
            $0.name == "contacts.event" && $0.data["type"] == "ResponderReachSettled"
                && $0.data["body"]["reach"].string == reach
        }
    }
}

extension ServerSentEvent {
    fileprivate func isReach(_ reach: String) -> Bool {
        name == "contacts.event" && data["type"] == "ResponderReachChanged" && data["body"]["reach"].string == reach
    }
}
