import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import Testing

/// What lives may depend on is one list. Whatever is on it never waits behind what fails of the same person.
@Suite
struct UrgencyTests {
    private static func urgent(of types: [any MessageBody.Type]) -> Set<String> {
        Set(types.filter { $0.isUrgent }.map { $0.type })
    }

    @Test("urgent are alerts, check-ins, answers to pings, the timers of alarms, and what tells others of all that")
    func list() {
        #expect(
            Self.urgent(of: SessionCommand.types) == [
                "RaiseAlert", "ClearAlert", "CheckIn", "MissCheckIn", "AnnounceAlert", "RepeatAlarm", "HoldAlarm",
                "CloseAlarm", "StartTrip", "ExtendTrip", "EndTrip", "MissTrip", "RaiseUnansweredAlert",
                "EndUnansweredAlert",
            ])
        #expect(
            Self.urgent(of: SessionEvent.types) == [
                "AccountOpened", "AlertRaised", "AlertAnnounced", "AlertCleared", "AlarmRepeated", "AlertRaisedAgain",
                "UnansweredPingsDropped", "UnansweredPingsDiscarded",
                "AlarmClosingDue", "AlarmClosed",
                "CheckedIn", "CheckInGraceBegan", "CheckInMissed",
                "TripExtended", "TripEnded", "TripReminded", "TripGraceBegan",
            ])
        #expect(
            Self.urgent(of: ContactsCommand.types) == [
                "OpenAccount", "RelayAlert", "AcknowledgeAlarm", "DecideClosing", "ForgetAnswers", "RespondToPing",
                "RespondToAllPings", "ClearReceivedPings", "BeginNextTier", "JudgePings", "SettleUnansweredPings",
            ])
        #expect(
            Self.urgent(of: ContactsEvent.types) == [
                "ResponderAlerted", "AlarmEnded", "AlarmAcknowledged", "AlarmHoldChanged", "AlarmClosingDecided",
                "AlarmUnanswered", "PingWarned", "PingsUnanswered", "PingWarningEnded", "UnansweredPingsEnded",
            ])
        #expect(Self.urgent(of: NotificationsCommand.types) == ["OpenAccount"])
    }

    @Test("a person's check-ins and their answers to pings don't hold back what is about alarms")
    func families() {
        let types = SessionCommand.types + ContactsCommand.types + SessionEvent.types + ContactsEvent.types
        let others = types.filter { $0.isUrgent && $0.urgentFamily != .alarm }.map { "\($0.type) \($0.urgentFamily)" }
        #expect(
            Set(others) == [
                "CheckIn checkIn", "StartTrip checkIn", "ExtendTrip checkIn", "EndTrip checkIn",
                "TripExtended checkIn", "TripEnded checkIn", "TripReminded checkIn", "TripGraceBegan checkIn",
                "AcknowledgeAlarm answer",
                "RespondToPing answer", "RespondToAllPings answer",
                "ClearReceivedPings answer",
                "AlarmAcknowledged answer", "AlarmUnanswered answer",
            ])
    }

    @Test("a notification of an alarm is as urgent as that of its end, and a reminder isn't")
    func notifications() throws {
        let urgent = try NotificationKind.allCases.filter { kind in
            let body = DeliverNotification(
                id: .derived(at: Instant(microseconds: 0), from: Array(kind.rawValue.utf8)), kind: kind)
            let family = try NotificationsCommand.urgentFamily(
                type: DeliverNotification.type, version: DeliverNotification.version, body: body.encoded())
            #expect((family != nil) == DeliverNotification.urgentKinds.contains(kind.rawValue))
            return family != nil
        }
        #expect(
            Set(urgent) == [
                .alertRaised, .alertCleared, .checkInMissed, .dependentAlertRaised, .dependentAlertCleared,
                .dependentCheckInMissed, .dependentCheckedIn, .dependentCheckedInLate, .dependentAlarmEnded,
            ])
    }

    @Test(
        "a type or version that isn't known is neither",
        arguments: [("Future", Int16(1)), ("CheckIn", 2), ("CheckIn", 0)])
    func unknown(type: String, version: Int16) {
        #expect(throws: MessageError.unknownType(type, version: version)) {
            try SessionCommand.urgentFamily(type: type, version: version, body: Array("{}".utf8))
        }
    }
}
