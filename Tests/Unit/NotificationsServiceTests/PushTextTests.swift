import QuartetNotificationsContract
import QuartetVocabulary
import Testing

@testable import NotificationsService
@testable import QuartetNotificationsRules

@Suite("Notifications: what a push says by itself")
struct PushTextTests {
    private static let created = Instant(microseconds: 1_800_000_000_000_000)

    private static func pushed(_ kind: NotificationKind, _ details: NotificationDetails) -> PushedNotification {
        PushedNotification(QuartetNotification(id: .new(), kind: kind, details: details, created: created))
    }

    @Test("the push of a group session says whether it has started or ended (S36)")
    func groups() {
        let (start, end) = (PushText(.groupStarted), PushText(.groupEnded))
        #expect(start.body.contains("started") && end.body.contains("ended") && start.title == end.title)
    }

    @Test("the push of a grace says that nothing is missed yet, ends with it, and gives way to the alarm's (A3)")
    func grace() {
        let (deadline, ends) = (Self.created, Self.created + .minutes(10))
        let grace = Self.pushed(.checkInMissed, .init(deadline: deadline, graceEnds: ends))
        let alarm = Self.pushed(.checkInMissed, .init(deadline: deadline, graceEnds: ends, alarm: .new()))
        #expect(grace.expires == ends && alarm.expires == Self.created + .days(1))
        #expect(grace.alarmName != nil && grace.alarmName == alarm.alarmName)
        let (first, second) = (
            PushText(.checkInMissed, isOfGrace: grace.details.isOfGrace),
            PushText(.checkInMissed, isOfGrace: alarm.details.isOfGrace)
        )
        #expect(first != second && !first.title.contains("missed") && second.title.contains("missed"))
    }

    @Test(
        "the pushes of a trip ask whether one has arrived, and none says that a check-in or a call is one's own doing (A7)"
    )
    func trip() {
        let ends = Self.created + .minutes(10)
        let grace = Self.pushed(.checkInMissed, .init(deadline: Self.created, graceEnds: ends, trip: .new()))
        #expect(grace.expires == ends && grace.alarmName?.hasPrefix("trip/") == true)
        let moved = Self.pushed(
            .checkInMissed,
            .init(deadline: Self.created + .hours(1), graceEnds: ends + .hours(1), trip: grace.details.trip))
        #expect(moved.alarmName != grace.alarmName, "it doesn't take the place of the one before, without a sound")
        let reminder = Self.pushed(.checkInReminder, .init(deadline: ends, trip: .new()))
        // It doesn't take the place of what says that the time has passed, nor the other way round: that would come without a sound.
        #expect(reminder.expires == ends && reminder.alarmName == nil)
        let missed = Self.pushed(.alertRaised, .init(deadline: ends, trip: .new(), alarm: .new()))
        let titles = [grace, reminder, missed].map { PushText($0).title }
        #expect(titles == ["Have you arrived?", "Your trip ends soon", "Have you arrived?"])
    }

    @Test(
        """
        the push of a drill says first that it is one and no alarm, and nothing that an alarm says; nothing that is pushed \
        of an alarm says drill (A11)
        """)
    func drill() {
        let drill = PushText(Self.pushed(.system, .init(drill: .new(), drillEnds: Self.created)))
        #expect(drill.title == "Drill: no alarm" && PushText(.system) != drill)
        for kind in NotificationKind.allCases where kind.isOfAlarm {
            #expect(!drill.body.contains(PushText(kind).body.dropLast()) && drill.title != PushText(kind).title)
        }
        let news = [
            NotificationDetails(drill: .new(), drillEnds: Self.created), .init(drill: .new()),
            .init(drill: .new(), drillEnds: Self.created, isOwnDrill: true), .init(drill: .new(), isOwnDrill: true),
        ].map { PushText(Self.pushed(.system, $0)) }
        #expect(Set(news).count == DrillNews.allCases.count && !news.contains(PushText(.system)))
        #expect(PushText(Self.pushed(.system, .init(drill: .new(), isOwnDrill: true))).title == "Your drill is over")
        for kind in NotificationKind.allCases where kind != .system {
            let marked = PushText(Self.pushed(kind, .init(drill: .new(), drillEnds: Self.created, alarm: .new())))
            #expect(marked == PushText(kind), "a kind of alarms is never marked")
        }
    }

    @Test("the push of a reminder says that it is one (S39)")
    func reminder() {
        let pushed = Self.pushed(.system, .init(reminder: "Water the bonsai"))
        let text = PushText(pushed)
        #expect(text.title == "A reminder" && text != PushText(.system) && !text.body.contains("bonsai"))
        // It waits for all others, but it isn't silent.
        #expect(pushed.priority == .normal)
    }

    @Test("the push that asks whether somebody is still on it says so, and ends with their time (A2)")
    func renewal() {
        let ends = Self.created + .minutes(5)
        let question = Self.pushed(.system, .init(onItUntil: ends, text: "Are you still on it?"))
        #expect(question.expires == ends && PushText(question).title == "Are you still on it?")
        #expect(PushText(Self.pushed(.system, .init(text: "Are you still on it?"))).title == "Quartet")
    }

    @Test(
        "the pushes of an unanswered ping ask whether one is all right, also where it is only a reminder, and end with the time to answer (A4)"
    )
    func ping() {
        let (sent, due) = (Self.created - .minutes(25), Self.created + .minutes(5))
        func warning(_ kind: NotificationKind) -> PushedNotification {
            Self.pushed(kind, .init(deadline: due, graceEnds: due, pinged: sent, pinger: .new()))
        }
        let (loud, reminder, other) = (
            warning(.checkInMissed), warning(.checkInReminder), warning(.checkInMissed)
        )
        #expect(loud.expires == due && reminder.expires == due)
        // Warnings of several people's pings don't take each other's place, without a sound; nor does a reminder a warning's.
        #expect(loud.alarmName?.hasPrefix("ping/") == true && loud.alarmName != other.alarmName)
        #expect(reminder.alarmName == nil)
        #expect(PushText(reminder) == PushText(loud) && PushText(reminder) != PushText(.checkInReminder))
        #expect(PushText(reminder).body.contains("Answer soon"))
        let alarm = AlarmID.new()
        let raised = Self.pushed(.alertRaised, .init(pinged: sent, pinger: .new(), alarm: alarm))
        #expect(raised.alarmName == "\(alarm)" && PushText(raised).title == PushText(loud).title)
        #expect(PushText(raised).body.contains("an alert is on"))
    }

    @Test("the push of a call for help that came late says so, and one that didn't doesn't (S34)")
    func lateCall() {
        let late = NotificationDetails(at: Self.created, pressed: Self.created - .minutes(20), alarm: .new())
        let text = PushText(Self.pushed(.dependentAlertRaised, late))
        #expect(text.body.contains("late") && text.body.hasPrefix(PushText(.dependentAlertRaised).body))
        #expect(
            PushText(Self.pushed(.dependentAlertRaised, .init(at: Self.created))) == PushText(.dependentAlertRaised))
    }

    @Test("what is about one alarm has one name, and what is about none has none")
    func names() {
        let alarm = AlarmID.new()
        let (begun, ended) = (
            Self.pushed(.dependentCheckInMissed, .init(deadline: Self.created, alarm: alarm)),
            Self.pushed(.dependentCheckedInLate, .init(alarm: alarm))
        )
        #expect(begun.alarmName != nil && begun.alarmName == ended.alarmName)
        #expect(Self.pushed(.pingReceived, .none).alarmName == nil)
    }
}
