import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Notifications: nobody is flooded")
struct PaceTests {
    /// Sends the timers' commands that are due.
    private static func runTimers(of account: AccountID, in inbox: inout Inbox) throws {
        for timer in inbox.rows.wantedTimers(of: account) where timer.due <= inbox.time {
            try inbox.ask(nil, timer.command.body)
        }
    }

    @Test(
        "the first six are delivered at once, then one a minute, and the newest in the end (S46, S27)",
        arguments: [true, false])
    func flood(isPing: Bool) throws {
        var inbox = Inbox()
        let (anna, ben) = (try inbox.person(), try inbox.person())
        let kinds: [NotificationKind] =
            isPing ? [.pingReceived, .pingCancelled] : [.contactAdded, .contactRemoved]
        var last: NotificationID?
        for round in 0..<690 {
            last = try inbox.tell(anna, kinds[round % 2], about: ben)
            inbox.pass(Interval(microseconds: 15_000))
            try Self.runTimers(of: anna, in: &inbox)
        }
        #expect(inbox.state(anna).unread == 6)
        #expect(inbox.rows.held.keys.count == 1)
        // A notification about another person comes at once.
        try inbox.tell(anna, kinds[0], about: inbox.id())
        #expect(inbox.state(anna).unread == 7)
        inbox.pass(.minutes(1))
        try Self.runTimers(of: anna, in: &inbox)
        #expect(inbox.state(anna).unread == 8)
        #expect(inbox.state(anna).notifications.first?.id == last && inbox.rows.held.keys.isEmpty)
    }

    @Test(
        "news of sessions that somebody starts and ends in a loop is held back, and doesn't hold back invitations (S36)"
    )
    func sessions() throws {
        var inbox = Inbox()
        let (anna, ben) = (try inbox.person(), try inbox.person())
        var last: NotificationID?
        for round in 0..<100 {
            last = try inbox.tell(anna, round.isMultiple(of: 2) ? .groupStarted : .groupEnded, about: ben)
            inbox.pass(Interval(microseconds: 100_000))
        }
        #expect(inbox.state(anna).unread == 6 && inbox.rows.held.keys.count == 1)
        let invitation = try inbox.tell(anna, .groupInvitation, about: ben)
        try inbox.tell(anna, .groupEnded, about: inbox.id())
        #expect(inbox.state(anna).unread == 8 && inbox.state(anna).notifications.map(\.id).contains(invitation))
        inbox.pass(.minutes(1))
        try Self.runTimers(of: anna, in: &inbox)
        #expect(inbox.state(anna).notifications.first?.id == last && inbox.rows.held.keys.isEmpty)
    }

    @Test("the start of a session doesn't take the place of the end of another one, which is held back (S36)")
    func heldEnd() throws {
        var inbox = Inbox()
        let (anna, ben) = (try inbox.person(), try inbox.person())
        for _ in 0..<6 { try inbox.tell(anna, .groupStarted, about: ben) }
        try inbox.tell(anna, .groupStarted, about: ben)
        let end = try inbox.tell(anna, .groupEnded, about: ben)
        try inbox.tell(anna, .groupStarted, about: ben)
        #expect(inbox.state(anna).unread == 6)
        inbox.pass(.minutes(1))
        try Self.runTimers(of: anna, in: &inbox)
        #expect(inbox.state(anna).unread == 7 && inbox.state(anna).notifications.first?.id == end)
    }

    @Test(
        """
        whatever comes when, no more than the limit is delivered at once, nothing waits longer than a minute, and the \
        newest is delivered (S46)
        """)
    func random() async throws {
        try await withRandom { random in
            for _ in 0..<20 {
                var inbox = Inbox(seed: random.next())
                let (anna, ben) = (try inbox.person(), try inbox.person())
                let limits = inbox.rows.limits
                var newest: (id: NotificationID, at: Instant)?
                func check() throws {
                    let times = inbox.state(anna).notifications.map(\.created).sorted()
                    for (index, time) in times.enumerated() where index >= limits.burst {
                        let isFar = time >= times[index - 1] + limits.burstInterval
                        try #require(isFar || time >= times[index - limits.burst] + limits.burstWindow)
                    }
                    for (_, held) in inbox.rows.held.keys.map({ ($0, inbox.rows.held[$0]) }) {
                        try #require(try #require(held).due <= inbox.time + limits.burstInterval)
                    }
                }
                for _ in 0..<200 {
                    inbox.pass(.seconds(Int64.random(in: 0...(random.oneIn(4) ? 120 : 3), using: &random)))
                    try Self.runTimers(of: anna, in: &inbox)
                    let kind: NotificationKind = Bool.random(using: &random) ? .pingReceived : .pingCancelled
                    newest = (try inbox.tell(anna, kind, about: ben), inbox.time)
                    try check()
                }
                inbox.pass(.minutes(1))
                try Self.runTimers(of: anna, in: &inbox)
                try #require(inbox.state(anna).notifications.contains { $0.id == newest?.id })
                try #require(inbox.rows.held.keys.isEmpty)
            }
        }
    }

    @Test("a notification held back until it was over isn't delivered, and clearing takes nothing unseen (S27)")
    func dropped() throws {
        var inbox = Inbox()
        inbox.rows.limits.burst = 1
        let (anna, ben) = (try inbox.person(), try inbox.person())
        try inbox.tell(anna, .pingAnswered, about: ben)
        inbox.pass(.seconds(1))
        try inbox.tell(anna, .pingReceived, about: ben)
        try inbox.ask(anna, ClearNotifications(selection: .init(everything: true)))
        #expect(inbox.rows.held.keys.count == 1)
        let answered = NotificationSelection(kinds: [.pingReceived], subjects: [ben], occurredBy: inbox.time)
        try inbox.ask(anna, ClearNotifications(selection: answered))
        #expect(inbox.rows.held.keys.isEmpty)
        #expect(inbox.rows.wantedTimers(of: anna).allSatisfy { $0.due > inbox.time + .hours(1) })
    }

    @Test("the same notification, or an older one, changes nothing while one is held back (S13)")
    func late() throws {
        var inbox = Inbox()
        inbox.rows.limits.burst = 1
        let (anna, ben) = (try inbox.person(), try inbox.person())
        let early: NotificationID = inbox.id()
        inbox.pass(.seconds(1))
        try inbox.tell(anna, .pingSent, about: ben)
        let held = try inbox.tell(anna, .pingAnswered, about: ben)
        for id in [held, early] {
            try inbox.ask(anna, DeliverNotification(id: id, kind: .pingSent, subject: ben))
        }
        #expect(inbox.rows.held.keys.compactMap { inbox.rows.held[$0]?.id } == [held])
        #expect(inbox.rows.held.keys.compactMap { inbox.rows.held[$0]?.kind } == [.pingAnswered])
        inbox.pass(.minutes(1))
        try Self.runTimers(of: anna, in: &inbox)
        #expect(inbox.state(anna).notifications.map(\.id).contains(held) && inbox.state(anna).unread == 2)
    }
}
