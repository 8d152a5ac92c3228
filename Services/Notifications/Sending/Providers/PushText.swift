import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary

/// What a push shows until the app says it better: by a notification's kind, so it names nobody. An app that knows who it is
/// about replaces it, on iOS in a notification service extension.
struct PushText: Hashable {
    let title: String
    let body: String

    /// Of a test. As that of a drill, it says first what it isn't.
    private static let test = Self(
        title: "Test: no alarm",
        body: "Whoever runs this server is trying whether pushes reach this device. There is nothing to do.")

    private init(title: String, body: String) { (self.title, self.body) = (title, body) }

    /// - Parameters:
    ///   - isOfGrace: As in ``NotificationDetails/isOfGrace``.
    ///   - isOfTrip: Whether it is about the account's own trip.
    ///   - isOfRenewal: Whether it asks if the person is still on an alarm.
    ///   - isOfPing: Whether it is about a ping that wasn't answered in time, or soon won't be.
    ///   - isLateCall: Whether it is about a call for help that reached the server late.
    ///   - isReminder: Whether it reminds somebody of what they wrote themselves.
    init(
        _ kind: NotificationKind, isOfGrace: Bool = false, isOfTrip: Bool = false, isOfRenewal: Bool = false,
        isOfPing: Bool = false, isLateCall: Bool = false, isReminder: Bool = false
    ) {
        (title, body) =
            switch kind {
            case .checkInMissed where isOfPing, .checkInReminder where isOfPing:
                ("Are you all right?", "Somebody asked. Answer soon, or an alert is raised.")
            case .alertRaised where isOfPing:
                ("Are you all right?", "You haven’t answered a ping, and an alert is on.")
            case .checkInMissed where isOfGrace && isOfTrip:
                ("Have you arrived?", "The time of your trip has passed. Say so, or an alert is raised.")
            case .alertRaised where isOfTrip:
                ("Have you arrived?", "You haven’t said so, and an alert is on.")
            case .checkInReminder where isOfTrip:
                ("Your trip ends soon", "Say that you have arrived, or give it another end.")
            case .checkInMissed where isOfGrace:
                ("Your check-in is due", "Check in now, before it counts as missed.")
            case .dependentAlertRaised where isLateCall:
                ("An alarm", "Somebody needs you. Their call came late: look when they made it.")
            case .dependentAlertRaised: ("An alarm", "Somebody needs you.")
            case .dependentCheckInMissed: ("An alarm", "Somebody hasn’t checked in in time.")
            case .dependentAlertCleared, .dependentCheckedInLate: ("All clear", "An alarm is over.")
            case .dependentAlarmEnded:
                ("No all-clear", "You are no longer told of an alarm, or it was closed by nobody’s all-clear.")
            case .alertRaised: ("You raised an alert", "It is on until you end it.")
            case .alertCleared: ("Your alert is over", "You ended it.")
            case .checkInMissed: ("You missed your check-in", "Check in now if you are all right.")
            case .checkInReminder: ("Check in soon", "Your check-in is due.")
            case .dependentCheckedIn: ("A check-in", "Somebody has checked in.")
            case .pingReceived: ("Are you all right?", "Somebody asks how you are.")
            case .pingSent, .pingCancelled, .pingAnswered, .pingsCleared: ("A ping", "There is news about a ping.")
            case .groupInvitation: ("An invitation", "You are invited to a group session.")
            case .groupStarted: ("Group session", "A group session has started.")
            case .groupEnded: ("Group session", "A group session has ended.")
            case .contactAdded, .contactRemoved, .contactRoleChanged, .roleChangeRequested, .roleChangeAccepted,
                .roleChangeDeclined, .roleChangeWithdrawn, .contactRequested, .contactRequestAccepted,
                .contactRequestDeclined, .contactRequestWithdrawn, .contactRequestExpired:
                ("Contacts", "There is news about your contacts.")
            case .newDevice, .passwordChanged, .phoneChanged, .securityChanged, .recoveryCodesMade, .recoveryCodeUsed,
                .securityUndone:
                ("Your account", "Something about your account’s security changed. Look whether it was you.")
            case .system where isOfRenewal:
                ("Are you still on it?", "Your time ends soon. If you can’t go on, say so.")
            case .system where isReminder: ("A reminder", "You wanted to be reminded of something. Open Quartet.")
            case .system: ("Quartet", "There is a message for you.")
            }
    }
}

extension PushText {
    init(_ push: Push) {
        self = push.isTest == true ? Self.test : Self(push.notification)
    }

    init(_ notification: PushedNotification) {
        let details = notification.details
        switch (notification.kind, details.drillNews) {
        case (.system, let news?): self.init(news)
        default:
            self.init(
                notification.kind, isOfGrace: details.isOfGrace, isOfTrip: details.trip != nil,
                isOfRenewal: details.onItUntil != nil, isOfPing: details.pinged != nil,
                isLateCall: details.pressed != nil, isReminder: details.isReminder)
        }
    }

    private init(_ news: DrillNews) {
        (title, body) =
            switch news {
            // Says before anything else that it is no alarm, and nothing that an alarm says.
            case .anothersIsOn:
                (
                    "Drill: no alarm",
                    "Somebody is testing whether one would reach you. Anything that doesn’t say “drill” is real. Open this to say that you got it."
                )
            case .anothersIsOver:
                ("The drill is over", "Only messages that say “drill” belonged to it; every alarm is real.")
            case .ownIsOn:
                (
                    "Your drill has begun",
                    "Anything that doesn’t say “drill” is real. If it wasn’t you, check your devices."
                )
            case .ownIsOver: ("Your drill is over", "Any alarm that your responders hear of is real.")
            }
    }
}

extension Push {
    /// How long a test is tried: later, nobody waits for it any more.
    static let testLife: Interval = .minutes(10)

    /// When it isn't worth showing any more. Nil for a test, which a push service delivers now or never: Apple keeps one push for a
    /// device that is off, and that must not be a test in an alarm's place.
    var expires: Instant? { isTest == true ? nil : notification.expires }

    /// How many seconds a push service may keep it for a device that is off.
    var secondsToKeep: Int64 {
        guard let expires else { return 0 }
        return min(max((expires.microseconds - Instant.now.microseconds) / 1_000_000, 60), 86_400)
    }
}

extension PushedNotification {
    /// The same for an alarm's beginning, repetitions and end, each of which replaces the one before on the device; for the grace
    /// after a deadline and the beginning of the person's own alarm; and for a drill and its end. Nil for what stands for itself.
    var alarmName: String? {
        if let drill = details.drill, details.drillNews != nil { return "drill/\(drill)" }
        if kind == .checkInMissed, details.graceEnds != nil, let deadline = details.deadline {
            // Each end of a trip has a name of its own: what replaces another push on the device comes without a sound.
            let subject = details.pinger.map { "ping/\($0)" } ?? details.trip.map { "trip/\($0)" } ?? "due"
            return "\(subject)/\(deadline.microseconds)"
        }
        return kind.isOfAlarm ? details.alarm.map { "\($0)" } : nil
    }

    /// How long the push of another's drill may take. One that came later could come up beside an alarm.
    static let drillLife: Interval = .minutes(10)

    /// When it isn't worth showing any more.
    var expires: Instant {
        let longest = created + (details.isOfDrill ? Self.drillLife : .days(1))
        return details.endOfUse(of: kind).map { min($0, longest) } ?? longest
    }
}
