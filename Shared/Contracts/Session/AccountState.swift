public import QuartetContractSupport
public import QuartetVocabulary

/// An account as its owner sees it: the state of the stream `account/<account>`. It contains no secrets.
///
/// Folding the stream's events from the beginning gives the state that the service publishes.
public struct AccountState: Codable, Hashable, Sendable {
    public var account: AccountID
    /// Nil before the account is opened and once it is closed.
    public var handle: String?
    public var name: String?
    /// Shown to responders.
    public var emergencyNote: String
    /// Counts the changes to the profile.
    public var profileVersion: Int64
    /// For signing in.
    public var phone: Phone?
    public var avatar: Avatar?
    /// What is left to do. Nil before the account is opened and once it is closed.
    public var onboarding: Onboarding?
    /// Whether signing in signs all other devices out.
    public var isSingleDevice: Bool
    /// Whether signing other devices out needs a confirmation.
    public var isConfirmationRequired: Bool
    /// How many are unused.
    public var recoveryCodes: Int
    public var checkIn: CheckInState
    /// When the alert was raised; nil while there is none.
    public var alertRaised: Instant?
    public var alertAlarm: AlarmID?
    /// The newest call for help while the alert is on, if it came late.
    public var lateCall: LateCall?
    /// The trip that is on, or that was missed and made the alert that is on. Responders see nothing of it before.
    public var trip: TripState?
    /// The pings that made the alert that is on because they weren't answered, or were added to it.
    public var unanswered: UnansweredPings?
    /// The newest drill, also when it is over. It is no alarm, and responders see nothing of it here.
    public var drill: DrillState?
    /// The devices that are signed in, sorted by id.
    public var devices: Ordered<Device>
    public var isClosed: Bool

    public init(
        account: AccountID, handle: String? = nil, name: String? = nil, emergencyNote: String = "",
        profileVersion: Int64 = 0, phone: Phone? = nil, avatar: Avatar? = nil, onboarding: Onboarding? = nil,
        isSingleDevice: Bool = false, isConfirmationRequired: Bool = false, recoveryCodes: Int = 0,
        checkIn: CheckInState = CheckInState(), alertRaised: Instant? = nil, alertAlarm: AlarmID? = nil,
        lateCall: LateCall? = nil, trip: TripState? = nil, unanswered: UnansweredPings? = nil,
        drill: DrillState? = nil, devices: Ordered<Device> = [], isClosed: Bool = false
    ) {
        self.account = account
        self.handle = handle
        self.name = name
        self.emergencyNote = emergencyNote
        self.profileVersion = profileVersion
        self.phone = phone
        self.avatar = avatar
        self.onboarding = onboarding
        self.isSingleDevice = isSingleDevice
        self.isConfirmationRequired = isConfirmationRequired
        self.recoveryCodes = recoveryCodes
        self.checkIn = checkIn
        self.alertRaised = alertRaised
        self.alertAlarm = alertAlarm
        self.lateCall = lateCall
        self.trip = trip
        self.unanswered = unanswered
        self.drill = drill
        self.devices = devices
        self.isClosed = isClosed
    }
}

/// A device that is signed in.
public struct Device: Codable, Hashable, Sendable, Identifiable {
    public var id: DeviceID
    /// Shown in the list of devices.
    public var name: String
    public var signedIn: Instant
    /// When it last exchanged its token.
    public var lastSeen: Instant

    public init(id: DeviceID, name: String, signedIn: Instant, lastSeen: Instant) {
        self.id = id
        self.name = name
        self.signedIn = signedIn
        self.lastSeen = lastSeen
    }
}

public struct CheckInState: Codable, Hashable, Sendable {
    public var interval: Interval
    /// Longest first.
    public var reminders: [ReminderLead]
    public var last: Instant?
    /// When the next check-in is due, or when the missed one was. Nil for a closed account.
    public var due: Instant?
    /// Whether the deadline was missed and no check-in followed.
    public var missed: Bool
    /// The alarm that started when the deadline was missed.
    public var alarm: AlarmID?
    /// How long after a deadline others hear that it was missed; nil if at once. Only the person sees it.
    public var grace: Interval?
    /// The deadline has passed, and others hear of it at this time. Only the person sees it.
    public var graceEnds: Instant?
    /// Until when check-ins are paused; the next deadline is one interval later, or the first daily time after it. Responders see it,
    /// too.
    public var pausedUntil: Instant?
    /// At which times of the day to check in; nil if at an interval. Then ``interval`` is the longest time between two of them. Only the
    /// person sees it.
    public var daily: DailyTimes?
    /// From when a check-in counts for ``due``, a daily time. Nil if that was missed, and where any check-in counts. Only the person sees
    /// it.
    public var opens: Instant?

    public init(
        interval: Interval = CheckInRules.defaultInterval, reminders: [ReminderLead] = ReminderLead.allCases,
        last: Instant? = nil, due: Instant? = nil, missed: Bool = false, alarm: AlarmID? = nil,
        grace: Interval? = nil, graceEnds: Instant? = nil, pausedUntil: Instant? = nil, daily: DailyTimes? = nil,
        opens: Instant? = nil
    ) {
        self.interval = interval
        self.reminders = reminders
        self.last = last
        self.due = due
        self.missed = missed
        self.alarm = alarm
        self.grace = grace
        self.graceEnds = graceEnds
        self.pausedUntil = pausedUntil
        self.daily = daily
        self.opens = opens
    }

    /// Takes another deadline. A pause goes on only if this is its own: processes of a release that doesn't know pauses set others.
    /// - Parameter opens: From when a check-in counts for a daily time. What ends a pause of these is said by itself.
    fileprivate mutating func move(to deadline: Instant?, opens: Instant? = nil) {
        (due, self.opens) = (deadline, opens)
        if opens == nil, pausedUntil.map({ $0 + interval }) != deadline { pausedUntil = nil }
    }

    /// Whether a check-in now would be too early to count for ``due``.
    public func isEarly(at now: Instant) -> Bool {
        // Any check-in ends a grace, which can begin too soon if a clock is ahead.
        guard !missed, graceEnds == nil, let due, let opens else { return false }
        return now < opens && now < due
    }

    /// By when to check in, so that others don't hear of it. Nil once they have, and while it isn't known.
    public func othersHear(at now: Instant) -> Instant? {
        guard !missed, let due else { return nil }
        let time = due > now ? due + (grace ?? .seconds(0)) : graceEnds
        return time.flatMap { $0 > now ? $0 : nil }
    }

    /// When a missed check-in will be late by more than a whole interval. Nil while none is missed.
    public var veryLateFrom: Instant? { missed ? due.map { $0 + interval } : nil }
}

extension AccountState {
    /// Applies the next event of the stream. Events of other accounts change nothing.
    public mutating func apply(_ event: SessionEvent) {
        guard event.account == account, !isClosed else { return }
        switch event {
        case .accountOpened(let event):
            handle = event.handle
            name = event.name
            onboarding = event.name == nil ? .needsProfile : .done
            profileVersion = 1
            checkIn.interval = event.checkInInterval
            checkIn.due = event.due
        case .accountClosed: self = AccountState(account: account, isClosed: true)
        case .deviceSignedIn(let event): devices[event.device.id] = event.device
        case .deviceRefreshed(let event): devices[event.device]?.lastSeen = event.at
        case .deviceSignedOut(let event): devices[event.device] = nil
        case .signInFailed, .passwordChanged, .phoneCodeIssued, .phoneCodeFailed, .identityConfirmed, .checkInReminded,
            .pauseReminded,
            .alarmRepeated, .alertAnnounced, .alarmClosingDue, .unansweredPingsDiscarded:
            break
        case .securityUpdated(let event):
            isSingleDevice = event.isSingleDevice
            isConfirmationRequired = event.isConfirmationRequired
        case .profileUpdated(let event):
            name = event.name
            onboarding = event.name == nil ? .needsProfile : .done
            emergencyNote = event.emergencyNote
            profileVersion = event.version
        case .phoneChanged(let event): phone = event.phone
        case .recoveryCodesMade(let event): recoveryCodes = event.count
        case .recoveryCodeUsed(let event): recoveryCodes = event.left
        case .securityChangesUndone(let event):
            phone = event.phone
            isSingleDevice = event.isSingleDevice
            isConfirmationRequired = event.isConfirmationRequired
            recoveryCodes = event.recoveryCodes
        case .avatarSet(let event): avatar = event.avatar
        case .avatarRemoved: avatar = nil
        case .checkedIn(let event):
            checkIn.last = event.at
            // It is shown, and whatever is on goes on.
            guard event.isEarly != true else { return }
            checkIn.move(to: event.due, opens: event.opens)
            checkIn.missed = false
            checkIn.alarm = nil
            checkIn.graceEnds = nil
        case .checkInIntervalSet(let event):
            checkIn.interval = event.interval
            checkIn.daily = nil
            checkIn.move(to: event.due)
        case .dailyCheckInsSet(let event):
            checkIn.daily = event.daily
            checkIn.interval = event.interval
            (checkIn.due, checkIn.opens) = (event.due, event.opens)
        case .dailyCheckInsMoved(let event): (checkIn.due, checkIn.opens) = (event.due, event.opens)
        case .checkInRemindersSet(let event): checkIn.reminders = event.reminders
        case .checkInGraceSet(let event): checkIn.grace = event.grace > .seconds(0) ? event.grace : nil
        case .checkInGraceBegan(let event): checkIn.graceEnds = event.ends
        case .checkInsPaused(let event):
            (checkIn.due, checkIn.opens) = (event.due, event.opens)
            checkIn.pausedUntil = event.until
        case .checkInsResumed(let event):
            (checkIn.due, checkIn.opens) = (event.due, event.opens)
            checkIn.pausedUntil = nil
        case .checkInMissed(let event):
            checkIn.missed = true
            checkIn.pausedUntil = nil
            checkIn.graceEnds = nil
            checkIn.opens = nil
            checkIn.alarm = event.alarm
        case .alertRaised(let event):
            alertRaised = event.at
            alertAlarm = event.alarm
            lateCall = event.lateCall
            if let missed = event.trip { miss(missed, event.alarm, isCalled: false) }
            unanswered = nil
            if let pings = event.pings { take(pings, event.alarm, isCalled: false) }
        case .alertRaisedAgain(let event):
            let isCalled = isCalled(event.alarm)
            if let missed = event.trip { return miss(missed, event.alarm, isCalled: isCalled) }
            if let pings = event.pings { return take(pings, event.alarm, isCalled: isCalled) }
            if alertAlarm == event.alarm { lateCall = event.lateCall }
            if trip?.alarm == event.alarm { trip?.isCalled = true }
            if unanswered?.alarm == event.alarm { unanswered?.isCalled = true }
        case .unansweredPingsDropped(let event): drop(event.pings, event.alarm)
        case .alertCleared:
            endAlert()
            endMissedTrip()
        case .trip(let event): apply(event)
        case .drill(let event): apply(event)
        case .alarmClosed(let event):
            switch event.kind {
            case .alertRaised:
                endAlert()
                endMissedTrip()
            case .checkInMissed:
                checkIn.move(to: event.due, opens: event.opens)
                checkIn.missed = false
                checkIn.alarm = nil
            }
        case .group, .game, .message, .playback, .attachment: break
        }
    }
}
