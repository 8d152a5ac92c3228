import NotificationsContract
import NotificationsRules
import StoreKit
import TestKit
import Testing
import Vocabulary

@testable import NotificationsService

@Suite("Notifications: drills")
struct DrillTests {
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
}
