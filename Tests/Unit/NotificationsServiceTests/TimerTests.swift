import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import StoreKit
import Testing

@Suite("Notifications: timers")
struct TimerTests {
    private static func forget(_ account: AccountID) -> NotificationsCommand {
        .reading(.forgetOldNotifications(ForgetOldNotifications(account: account)))
    }

    @Test("the history is cleaned up whenever its oldest becomes too old, until it is empty (S37)")
    func history() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        #expect(inbox.rows.wantedTimers(of: anna).isEmpty)
        let begun = inbox.time
        for _ in 0..<3 {
            try inbox.tell(anna)
            inbox.pass(.days(1))
        }
        for day in 0..<3 as Range<Int64> {
            let wanted = inbox.rows.wantedTimers(of: anna)
            #expect(wanted.map(\.due) == [begun + .days(day) + .days(30)])
            #expect(wanted.map(\.command) == [Self.forget(anna)])
            inbox.time = begun + .days(day) + .days(30) + Interval(microseconds: 1)
            let events = try inbox.ask(nil, Self.forget(anna).body)
            #expect(events.count == 1 && inbox.state(anna).notifications.count == 2 - Int(day))
        }
        #expect(inbox.rows.accounts[anna]?.forgetting == nil && inbox.rows.wantedTimers(of: anna).isEmpty)
        #expect(try inbox.ask(nil, Self.forget(anna).body).isEmpty)
    }

    @Test("when the oldest was dropped before its time, one clean-up finds nothing (S37)")
    func fullHistory() throws {
        var inbox = Inbox()
        inbox.rows.limits.history = 2
        let anna = try inbox.person()
        let begun = inbox.time
        for _ in 0..<4 {
            try inbox.tell(anna)
            inbox.pass(.days(1))
        }
        #expect(inbox.rows.wantedTimers(of: anna).map(\.due) == [begun + .days(30)])
        inbox.time = begun + .days(30) + .seconds(1)
        #expect(try inbox.ask(nil, Self.forget(anna).body).isEmpty)
        #expect(inbox.rows.wantedTimers(of: anna).map(\.due) == [begun + .days(32)])
    }

    @Test("nothing is kept for longer when the clock goes back (S37)")
    func clockWentBack() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        try inbox.tell(anna)
        inbox.pass(.hours(-1))
        try inbox.tell(anna)
        #expect(inbox.rows.wantedTimers(of: anna).map(\.due) == [inbox.time + .days(30)])
    }

    @Test("each scheduled notification has its timer until it is delivered, cancelled or impossible (S39)")
    func scheduled() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let begun = inbox.time
        let ids = (0..<3).map { _ in inbox.id() as NotificationID }
        for (hours, id) in zip([3, 1, 2] as [Int64], ids) {
            try inbox.ask(anna, ScheduleNotification(id: id, kind: .system, due: begun + .hours(hours)))
        }
        func deliver(_ index: Int, _ hours: Int64) -> NotificationsCommand {
            .scheduling(.deliverScheduledNotification(.init(account: anna, id: ids[index], due: begun + .hours(hours))))
        }
        #expect(inbox.rows.wantedTimers(of: anna).map(\.command) == [deliver(1, 1), deliver(2, 2), deliver(0, 3)])
        #expect(inbox.rows.wantedTimers(of: anna).map(\.due) == ([1, 2, 3] as [Int64]).map { begun + .hours($0) })
        try inbox.ask(anna, CancelNotification(id: ids[2]))
        inbox.pass(.hours(1))
        try inbox.ask(nil, deliver(1, 1).body)
        #expect(inbox.rows.wantedTimers(of: anna).map(\.command) == [deliver(0, 3), Self.forget(anna)])
        try inbox.ask(anna, CloseAccount())
        #expect(inbox.rows.wantedTimers(of: anna).isEmpty)
    }
}
