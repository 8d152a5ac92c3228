import NotificationsContract
import NotificationsRules
import StoreKit
import TestKit
import Testing
import Vocabulary

@testable import NotificationsService

@Suite("Notifications: drills")
struct DrillTests {
    private static let tables = DatabaseTemplate.tables(of: "notifications", in: "Notifications")

    private static func details(began: Instant, length: Interval = .hours(1)) -> NotificationDetails {
        NotificationDetails(at: began, drill: .new(), drillEnds: began + length, text: "Drill")
    }

    @Test(
        """
        a drill is a notification like others: of no alarm, with no critical sound, and nothing on the device gives \
        way to it (A11)
        """)
    func quiet() throws {
        var inbox = Inbox()
        let (anna, eve) = (try inbox.person(), inbox.id() as AccountID)
        try inbox.register(anna)
        let details = Self.details(began: inbox.time)
        try inbox.ask(anna, DeliverNotification(id: inbox.id(), kind: .system, subject: eve, details: details))
        #expect(inbox.state(anna).unread == 1)
        let pushed = try #require(inbox.rows.pushes.first?.body.notification)
        #expect(pushed.priority == .normal && pushed.category == .system && pushed.alarmName == nil)
        #expect(pushed.expires == details.drillEnds)
        #expect(PushText(pushed).title.hasPrefix("Drill") && !DeliverNotification.urgentKinds.contains("system"))
    }

    @Test(
        "a drill that an alarm of its person has overtaken, or that is over, is pushed to nobody; an alarm of before or of others doesn't matter (A11)",
        arguments: [NotificationKind.dependentAlertRaised, .dependentCheckInMissed])
    func overtaken(_ kind: NotificationKind) throws {
        var inbox = Inbox()
        let (anna, eve, bob) = (try inbox.person(), inbox.id() as AccountID, inbox.id() as AccountID)
        try inbox.register(anna)
        func alarm(of person: AccountID, in inbox: inout Inbox) throws {
            let details = NotificationDetails(at: inbox.time, alarm: inbox.id())
            try inbox.ask(anna, DeliverNotification(id: inbox.id(), kind: kind, subject: person, details: details))
        }
        func isPushed(_ details: NotificationDetails, in inbox: inout Inbox) throws -> Bool {
            let (id, before) = (inbox.id() as NotificationID, inbox.state(anna).unread)
            try inbox.ask(anna, DeliverNotification(id: id, kind: .system, subject: eve, details: details))
            let isUnread = inbox.state(anna).unread > before
            #expect(inbox.rows.pushes.contains { $0.body.notification.id == id } == isUnread)
            return isUnread
        }
        try alarm(of: eve, in: &inbox)
        inbox.pass(.seconds(1))
        let early = Self.details(began: inbox.time)
        #expect(try isPushed(early, in: &inbox))
        inbox.pass(.seconds(1))
        try alarm(of: bob, in: &inbox)
        #expect(try isPushed(Self.details(began: early.at ?? inbox.time), in: &inbox))
        try alarm(of: eve, in: &inbox)
        #expect(try !isPushed(Self.details(began: early.at ?? inbox.time), in: &inbox))
        inbox.pass(.seconds(1))
        #expect(try !isPushed(Self.details(began: inbox.time, length: .seconds(0)), in: &inbox))
    }

    @Test("an alarm is pushed as ever while a drill of the same person is there (A11)")
    func alarm() throws {
        var inbox = Inbox()
        let (anna, eve) = (try inbox.person(), inbox.id() as AccountID)
        try inbox.register(anna)
        let drill = Self.details(began: inbox.time)
        try inbox.ask(anna, DeliverNotification(id: inbox.id(), kind: .system, subject: eve, details: drill))
        let details = NotificationDetails(at: inbox.time, alarm: inbox.id())
        try inbox.ask(
            anna, DeliverNotification(id: inbox.id(), kind: .dependentAlertRaised, subject: eve, details: details))
        let pushed = try #require(inbox.rows.pushes.last?.body.notification)
        #expect(inbox.rows.pushes.count == 2 && pushed.priority == .critical && pushed.alarmName != nil)
        #expect(PushText(pushed) == PushText(.dependentAlertRaised) && !PushText(pushed).title.contains("Drill"))
    }

    /// What may have happened when the push of a drill is about to be sent once more.
    enum Meanwhile: CaseIterable {
        case withdrawn, over, alarm
    }

    @Test(
        "the push of a drill that failed isn't sent once more when an alarm came, or the drill was withdrawn or is over (A11)",
        arguments: Meanwhile.allCases)
    func drillIsOver(_ meanwhile: Meanwhile) async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            let (bob, eve) = (AccountID.new(), AccountID.new())
            try await outbox.open(bob)
            outbox.receiver.answer { push in
                push.notification.details.isOfDrill ? .failure(.unavailable("it is off")) : .success(.taken("it"))
            }
            let drill = try await outbox.addDrill(of: eve, to: bob)
            func asked() -> Int { outbox.receiver.asked.value.count { $0.notification.id == drill } }
            try await outbox.sending {
                try await outbox.receiver.wait("the first attempt", count: 1)
                try await outbox.waitUntil("it to wait", "p.last_error IS NOT NULL", are: 1)
                // It isn't due meanwhile, however it was on its way.
                try await outbox.psql("UPDATE notifications.push SET attempts = 61, next_attempt_at = 'infinity'")
                switch meanwhile {
                case .withdrawn: try await outbox.clear(drill, of: bob)
                case .over:
                    try await outbox.psql(
                        """
                        UPDATE notifications.notification
                           SET details = jsonb_set(details::jsonb, '{drillEnds}', '1')::json
                        """)
                case .alarm:
                    try await outbox.addAlarm(of: eve, to: bob)
                    try await outbox.waitUntil("the drill alone to wait", "true", are: 1)
                }
                let before = asked()
                try await outbox.psql("UPDATE notifications.push SET next_attempt_at = clock_timestamp()")
                try await outbox.waitUntil("nothing to wait", "true", are: 0)
                #expect(asked() == before)
            }
            let dropped = try await outbox.psql(
                "SELECT answer FROM notifications.push_attempt WHERE result = 'expired'")
            #expect(dropped == "the drill is over")
        }
    }
}
