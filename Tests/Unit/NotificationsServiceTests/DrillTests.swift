import QuartetContractSupport
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import NotificationsService

@Suite("Notifications: drills")
struct DrillTests {
    private static let tables = DatabaseTemplate.tables(of: "notifications", in: "Notifications")

    private static func details(
        began: Instant, length: Interval = .hours(1), isOwn: Bool = false
    ) -> NotificationDetails {
        NotificationDetails(
            at: began, drill: .derived(at: began, from: Array("drill".utf8)), drillEnds: began + length,
            isOwnDrill: isOwn ? true : nil, text: "Drill")
    }

    /// Somebody who is to be told of another's drill, which ends in an hour.
    private static func person(
        in inbox: inout Inbox
    ) throws -> (anna: AccountID, drill: DrillID, told: DeliverNotification) {
        let (anna, eve) = (try inbox.person(), inbox.id() as AccountID)
        try inbox.register(anna)
        let details = details(began: inbox.time)
        let drill = try #require(details.drill)
        let told = DeliverNotification(id: .ofDrill(drill, to: anna), kind: .system, subject: eve, details: details)
        return (anna, drill, told)
    }

    /// What a policy sends when the drill is over.
    private static func withdraw(
        _ told: DeliverNotification, _ drill: DrillID, _ anna: AccountID, in inbox: inout Inbox
    )
        throws
    {
        let missing = NotificationDetails(drill: drill, drillEnds: Instant(microseconds: 0))
        try inbox.ask(
            anna, DeliverNotification(id: told.id, kind: .system, subject: told.subject, details: missing))
        try inbox.ask(
            anna,
            DeliverNotification(
                id: .ofEndOfDrill(drill, to: anna), kind: .system, subject: told.subject,
                details: .init(at: inbox.time, drill: drill)))
        try inbox.ask(anna, ClearNotifications(selection: NotificationSelection(ids: [told.id])))
    }

    @Test(
        "whoever heard of a drill is pushed its end in the drill's place, also if they read, answered or cleared it; who never heard of it isn't (A11)"
    )
    func withdrawn() throws {
        for (isRead, isAnswered, isCleared) in [
            (false, false, false), (true, false, false), (true, true, false), (true, false, true),
        ] {
            var inbox = Inbox()
            let (anna, drill, told) = try Self.person(in: &inbox)
            try inbox.ask(anna, told)
            if isRead { try inbox.ask(anna, MarkRead(id: told.id)) }
            if isAnswered { try inbox.ask(anna, AnswerDrill(id: told.id)) }
            inbox.pass(.seconds(1))
            if isCleared {
                try inbox.ask(anna, ClearNotifications(selection: NotificationSelection(ids: [told.id])))
            }
            try Self.withdraw(told, drill, anna, in: &inbox)
            let end = inbox.rows.pushes.map(\.body.notification).filter { $0.id == .ofEndOfDrill(drill, to: anna) }
            #expect(end.count == 1)
            if let end = end.first {
                #expect(PushText(end).body.contains("alarm is real") && end.alarmName == "drill/\(drill)")
                #expect(end.alarmName == inbox.rows.pushes.first?.body.notification.alarmName)
            }
            #expect(inbox.state(anna).notifications.first { $0.id == told.id }?.cleared != nil)
        }
    }

    @Test("a drill that comes after it was taken back comes to nobody (A11)")
    func tooLate() throws {
        var inbox = Inbox()
        let (anna, drill, told) = try Self.person(in: &inbox)
        try Self.withdraw(told, drill, anna, in: &inbox)
        inbox.pass(.seconds(1))
        try inbox.ask(anna, told)
        #expect(inbox.state(anna).unread == 0 && inbox.rows.pushes.isEmpty)
        #expect(try inbox.rejection(anna, AnswerDrill(id: told.id)) == .notFound)
    }

    @Test("a drill is answered by saying so alone, and while it is on (A11)")
    func answered() throws {
        var inbox = Inbox()
        let (anna, _, told) = try Self.person(in: &inbox)
        try inbox.ask(anna, told)
        try inbox.ask(anna, ShowNotifications(ids: [told.id], device: .new()))
        try inbox.ask(anna, MarkAllRead())
        func answer() -> Instant? { inbox.state(anna).notifications.first { $0.id == told.id }?.answered }
        #expect(answer() == nil)
        var late = inbox
        inbox.pass(.minutes(59))
        let event = try inbox.ask(anna, AnswerDrill(id: told.id)).first(as: DrillAnswered.self)
        #expect(answer() == event.at && event.unread == 0)
        #expect(try inbox.ask(anna, AnswerDrill(id: told.id)).isEmpty)
        late.pass(.hours(1))
        #expect(try late.rejection(anna, AnswerDrill(id: told.id)) == .notFound)
        let other = DeliverNotification(id: late.id(), kind: .system, details: .init(text: "Hello"))
        try late.ask(anna, other)
        #expect(try late.rejection(anna, AnswerDrill(id: other.id)) == .notFound)
    }

    @Test("an answer goes to the tables, the published state and the report's view, in whole seconds (A11)")
    func tables() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            let (bob, eve) = (AccountID.new(), AccountID.new())
            try await outbox.open(bob)
            let drill = try await outbox.addDrill(of: eve, to: bob)
            try await outbox.answer(drill, of: bob)
            let answered = try await outbox.psql(
                """
                SELECT r.answered_at = date_trunc('second', n.answered_at) AND r.notified_at = date_trunc('second', n.created_at)
                       AND n.read_at IS NOT NULL
                       AND s.state #>> '{notifications,0,answered}' = notifications.microseconds(n.answered_at)::text
                  FROM notifications.drill_receipt AS r
                  JOIN notifications.notification AS n ON n.account = r.account AND n.id = r.notification
                  JOIN notifications.notifications_state AS s ON s.account = n.account
                """)
            #expect(answered == "t")
        }
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
        #expect(pushed.priority == .normal && pushed.category == .system)
        #expect(pushed.expires == pushed.created + .minutes(10), "it isn't to come up beside an alarm")
        #expect(PushText(pushed).title.hasPrefix("Drill") && !DeliverNotification.urgentKinds.contains("system"))
    }

    @Test(
        "a drill that an alarm has overtaken, anybody's, or that is over, is pushed to nobody, nor while an alarm of anybody is on; one that is over doesn't matter (A11)",
        arguments: [NotificationKind.dependentAlertRaised, .dependentCheckInMissed])
    func overtaken(_ kind: NotificationKind) throws {
        var inbox = Inbox()
        let (anna, eve, bob) = (try inbox.person(), inbox.id() as AccountID, inbox.id() as AccountID)
        try inbox.register(anna)
        func alarm(of person: AccountID, in inbox: inout Inbox) throws -> AlarmID {
            let alarm = AlarmID.derived(at: inbox.time, from: Array("alarm".utf8), person.bytes)
            // The time of its beginning may be by another clock than that of the drill.
            let details = NotificationDetails(at: inbox.time - .hours(1), alarm: alarm)
            try inbox.ask(anna, DeliverNotification(id: inbox.id(), kind: kind, subject: person, details: details))
            return alarm
        }
        func end(_ alarm: AlarmID, of person: AccountID, in inbox: inout Inbox) throws {
            let kind: NotificationKind =
                kind == .dependentAlertRaised ? .dependentAlertCleared : .dependentCheckedInLate
            try inbox.ask(
                anna,
                DeliverNotification(
                    id: inbox.id(), kind: kind, subject: person, details: .init(at: inbox.time, alarm: alarm)))
        }
        func isPushed(_ details: NotificationDetails, in inbox: inout Inbox) throws -> Bool {
            let (id, before) = (inbox.id() as NotificationID, inbox.state(anna).unread)
            try inbox.ask(anna, DeliverNotification(id: id, kind: .system, subject: eve, details: details))
            let isUnread = inbox.state(anna).unread > before
            #expect(inbox.rows.pushes.contains { $0.body.notification.id == id } == isUnread)
            return isUnread
        }
        for person in [eve, bob] {
            let first = try alarm(of: person, in: &inbox)
            inbox.pass(.seconds(1))
            #expect(try !isPushed(Self.details(began: inbox.time), in: &inbox), "an alarm is on")
            try end(first, of: person, in: &inbox)
            inbox.pass(.seconds(1))
            let details = Self.details(began: inbox.time)
            #expect(try isPushed(details, in: &inbox))
            inbox.pass(.seconds(1))
            let second = try alarm(of: person, in: &inbox)
            try end(second, of: person, in: &inbox)
            #expect(try !isPushed(details, in: &inbox), "it comes late")
            inbox.pass(.seconds(1))
        }
        #expect(try !isPushed(Self.details(began: inbox.time, length: .seconds(0)), in: &inbox))
    }

    @Test(
        "an alarm of anybody clears the drills that somebody heard of, with it, and pushes their end in their place (A11)",
        arguments: [NotificationKind.dependentAlertRaised, .dependentCheckInMissed, .pingReceived, .alertRaised])
    func takenBack(_ kind: NotificationKind) throws {
        let isAlarm = kind.isOfAlarm && kind != .alertRaised
        for isAnswered in [true, false] {
            var inbox = Inbox()
            let (anna, drill, told) = try Self.person(in: &inbox)
            let own = Self.details(began: inbox.time - .seconds(1), isOwn: true)
            let ownDrill = try #require(own.drill)
            try inbox.ask(
                anna, DeliverNotification(id: .ofDrill(ownDrill, to: anna), kind: .system, details: own))
            try inbox.ask(anna, told)
            if isAnswered { try inbox.ask(anna, AnswerDrill(id: told.id)) }
            inbox.pass(.seconds(1))
            let (before, bob) = (inbox.rows.pushes.count, inbox.id() as AccountID)
            let alarm = AlarmID.derived(at: inbox.time, from: Array("alarm".utf8))
            try inbox.ask(
                anna,
                DeliverNotification(
                    id: inbox.id(), kind: kind, subject: kind == .alertRaised ? nil : bob,
                    details: NotificationDetails(at: inbox.time, alarm: kind.isOfAlarm ? alarm : nil)))
            let pushed = inbox.rows.pushes.dropFirst(before).map(\.body.notification)
            let history = inbox.state(anna).notifications
            func isOn(_ id: NotificationID) -> Bool { history.first { $0.id == id }?.cleared == nil }
            #expect(isOn(told.id) != isAlarm)
            #expect(
                isOn(.ofDrill(ownDrill, to: anna)) == (kind != .alertRaised),
                "one's own drill goes with one's own alarm")
            #expect(pushed.map(\.kind) == (kind == .pingReceived ? [kind] : [kind, .system]), "the alarm goes first")
            let ends = pushed.filter { $0.kind == .system }
            let ended = kind == .alertRaised ? ownDrill : drill
            #expect(ends.allSatisfy { $0.id == .ofEndOfDrill(ended, to: anna) && $0.alarmName == "drill/\(ended)" })
            // What the policy sends later changes nothing any more.
            let state = inbox.state(anna)
            if isAlarm {
                try Self.withdraw(told, drill, anna, in: &inbox)
                #expect(inbox.state(anna) == state)
                #expect(try inbox.rejection(anna, AnswerDrill(id: told.id)) == .notFound)
            }
        }
    }

    @Test("an alarm clears the drills of a day ago and says nothing of them any more (A11)")
    func takenBackLater() throws {
        var inbox = Inbox()
        let (anna, drill, told) = try Self.person(in: &inbox)
        try inbox.ask(anna, told)
        inbox.pass(.hours(25))
        try Self.alarm(to: anna, in: &inbox)
        let history = inbox.state(anna).notifications
        #expect(history.first { $0.id == told.id }?.cleared != nil && history.count == 2)
        #expect(!history.contains { $0.id == .ofEndOfDrill(drill, to: anna) })
    }

    @Test("where the history is full, what an alarm says of a drill pushes out neither the drill nor its answer (A11)")
    func full() throws {
        var inbox = Inbox()
        inbox.rows.limits.history = 2
        let (anna, _, told) = try Self.person(in: &inbox)
        try inbox.ask(anna, DeliverNotification(id: inbox.id(), kind: .system, details: .init(text: "Hello")))
        inbox.pass(.seconds(1))
        try inbox.ask(anna, told)
        try inbox.ask(anna, AnswerDrill(id: told.id))
        inbox.pass(.seconds(1))
        try Self.alarm(to: anna, in: &inbox)
        let history = inbox.state(anna).notifications
        let drill = try #require(history.first { $0.id == told.id })
        #expect(drill.answered != nil && drill.cleared != nil && history.count == 3)
    }

    private static func alarm(to anna: AccountID, in inbox: inout Inbox) throws {
        let alarm = AlarmID.derived(at: inbox.time, from: Array("alarm".utf8))
        let details = NotificationDetails(at: inbox.time, alarm: alarm)
        try inbox.ask(
            anna,
            DeliverNotification(id: inbox.id(), kind: .dependentAlertRaised, subject: inbox.id(), details: details))
    }

    @Test("an alarm is pushed as ever while a drill of the same person is there (A11)")
    func alarm() throws {
        var inbox = Inbox()
        let (anna, _, told) = try Self.person(in: &inbox)
        try inbox.ask(anna, told)
        inbox.pass(.seconds(1))
        let details = NotificationDetails(at: inbox.time, alarm: inbox.id())
        try inbox.ask(
            anna,
            DeliverNotification(id: inbox.id(), kind: .dependentAlertRaised, subject: told.subject, details: details))
        let pushed = try #require(inbox.rows.pushes.map(\.body.notification).first { $0.kind == .dependentAlertRaised })
        #expect(pushed.priority == .critical && pushed.alarmName != nil)
        #expect(PushText(pushed) == PushText(.dependentAlertRaised) && !PushText(pushed).title.contains("Drill"))
    }

    /// What may have happened when the push of a drill is about to be sent once more.
    enum Meanwhile: CaseIterable {
        case withdrawn, over, alarm, minutes
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
                case .minutes:
                    try await outbox.psql(
                        "UPDATE notifications.notification SET created_at = created_at - interval '10 minutes'")
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
