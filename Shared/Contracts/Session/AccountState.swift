public import ContractSupport
public import Vocabulary

/// An account as its person sees it: the state of the stream `account/<account>`. No secret is in it.
///
/// Folding a stream's events from its beginning gives the same as what the owner publishes.
public struct AccountState: Codable, Hashable, Sendable {
    /// Its id.
    public var account: AccountID
    /// What others find it by; nil before the beginning and after the end.
    public var handle: String?
    /// The person's name.
    public var name: String?
    /// What responders should know.
    public var emergencyNote: String
    /// How often the profile was set.
    public var profileVersion: Int64
    /// The phone that it can sign in by.
    public var phone: Phone?
    /// The person's picture.
    public var avatar: Avatar?
    /// What the person still has to do; nil before the beginning and after the end.
    public var onboarding: Onboarding?
    /// Whether a sign-in signs the other devices out.
    public var isSingleDevice: Bool
    /// Whether sensitive acts need the password again.
    public var isConfirmationRequired: Bool
    /// How many recovery codes are good.
    public var recoveryCodes: Int
    /// The check-in timer.
    public var checkIn: CheckInState
    /// Since when an alert is on.
    public var alertRaised: Instant?
    /// The alarm that the alert is.
    public var alertAlarm: AlarmID?
    /// The devices that are signed in, by id.
    public var devices: Ordered<Device>
    /// Whether the account is closed, for ever.
    public var isClosed: Bool

    /// Its parameters are the properties of the same names.
    public init(
        account: AccountID, handle: String? = nil, name: String? = nil, emergencyNote: String = "",
        profileVersion: Int64 = 0, phone: Phone? = nil, avatar: Avatar? = nil, onboarding: Onboarding? = nil,
        isSingleDevice: Bool = false, isConfirmationRequired: Bool = false, recoveryCodes: Int = 0,
        checkIn: CheckInState = CheckInState(), alertRaised: Instant? = nil, alertAlarm: AlarmID? = nil,
        devices: Ordered<Device> = [], isClosed: Bool = false
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
        self.devices = devices
        self.isClosed = isClosed
    }
}

/// A device that is signed in.
public struct Device: Codable, Hashable, Sendable, Identifiable {
    /// Its id.
    public var id: DeviceID
    /// What its person sees in the list of devices.
    public var name: String
    /// Since when.
    public var signedIn: Instant
    /// When it last exchanged its token.
    public var lastSeen: Instant

    /// Its parameters are the properties of the same names.
    public init(id: DeviceID, name: String, signedIn: Instant, lastSeen: Instant) {
        self.id = id
        self.name = name
        self.signedIn = signedIn
        self.lastSeen = lastSeen
    }
}

/// A check-in timer.
public struct CheckInState: Codable, Hashable, Sendable {
    /// How often to check in.
    public var interval: Interval
    /// Which reminders come, the longest first.
    public var reminders: [ReminderLead]
    /// The last check-in.
    public var last: Instant?
    /// By when the next one is due, or was, if it was missed; nil for a closed account.
    public var due: Instant?
    /// Whether it was missed and nothing came since.
    public var missed: Bool
    /// The alarm that is on since it was missed.
    public var alarm: AlarmID?

    /// Its parameters are the properties of the same names.
    public init(
        interval: Interval = CheckInRules.defaultInterval, reminders: [ReminderLead] = ReminderLead.allCases,
        last: Instant? = nil, due: Instant? = nil, missed: Bool = false, alarm: AlarmID? = nil
    ) {
        self.interval = interval
        self.reminders = reminders
        self.last = last
        self.due = due
        self.missed = missed
        self.alarm = alarm
    }

    /// From when on a missed check-in is late by more than one whole interval; nil while none is missed.
    public var veryLateFrom: Instant? { missed ? due.map { $0 + interval } : nil }
}

extension AccountState {
    /// Takes in the next event of the stream. Events of other accounts' streams change nothing.
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
            .alarmRepeated, .alertAnnounced:
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
            checkIn.due = event.due
            checkIn.missed = false
            checkIn.alarm = nil
        case .checkInIntervalSet(let event):
            checkIn.interval = event.interval
            checkIn.due = event.due
        case .checkInRemindersSet(let event): checkIn.reminders = event.reminders
        case .checkInMissed(let event):
            checkIn.missed = true
            checkIn.alarm = event.alarm
        case .alertRaised(let event):
            alertRaised = event.at
            alertAlarm = event.alarm
        case .alertCleared:
            alertRaised = nil
            alertAlarm = nil
        }
    }
}
