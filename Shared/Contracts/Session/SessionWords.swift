public import QuartetVocabulary

public enum DeviceSubject {}

/// A device that signed in. The edge chooses a new id at each sign-in.
public typealias DeviceID = ID<DeviceSubject>

/// Why a device is no longer signed in.
public enum SignOutReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// By its own user.
    case signedOut
    /// From another device.
    case revoked
    /// Another device signed in, and the account allows one at a time.
    case displaced
    /// The account had as many devices as it may, and this one was seen longest ago.
    case tooMany
    /// A refresh token came a second time, so someone has a copy and neither may go on.
    case tokenReused
    case passwordChanged
    /// Security changes were undone: its own, or some made before it signed in.
    case undone
    case closed
}

extension SignOutReason {
    /// Whether it follows from a change to the account rather than to this device, so that the device may undo that
    /// change.
    public var leavesUndo: Bool {
        switch self {
        case .passwordChanged, .displaced, .tooMany: true
        case .signedOut, .revoked, .tokenReused, .undone, .closed: false
        }
    }

    /// What the device is told, as the second half of a sentence.
    public var explanation: String {
        switch self {
        case .signedOut: "you signed out on this device"
        case .revoked: "you signed this device out from another device"
        case .displaced: "another device signed in, and your account allows one at a time"
        case .tooMany: "you signed in on too many other devices"
        case .tokenReused: "someone may have copied this device's token"
        case .passwordChanged: "your password changed"
        case .undone: "security changes of your account were undone"
        case .closed: "the account is closed"
        }
    }
}

/// What is left to do before the account is useful to others.
public enum Onboarding: String, Codable, Hashable, Sendable, CaseIterable {
    /// It needs a name.
    case needsProfile
    case done
}

extension Rejection.Code {
    /// Another alert is on, or it was raised again, since the person asked for its end.
    public static let alertChanged: Self = "alertChanged"
    /// A check-in is due or was missed, and what was asked for would put it off.
    public static let checkInDue: Self = "checkInDue"
}

/// Why an alarm was closed that the person didn't end.
public enum AlarmCloseReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// It was on for 30 days.
    case unanswered
    /// Somebody who was told of it said a day before that the person is safe, and nobody denied it.
    case saidSafe
}

/// What begins an alarm.
public enum AlarmKind: String, Codable, Hashable, Sendable, CaseIterable {
    case checkInMissed
    case alertRaised
}

/// How long before the deadline a reminder comes.
public enum ReminderLead: String, Codable, Hashable, Sendable, CaseIterable {
    case twoHours
    case thirtyMinutes

    public var interval: Interval {
        switch self {
        case .twoHours: .hours(2)
        case .thirtyMinutes: .minutes(30)
        }
    }
}

extension Rejection.Code {
    /// The handle or the password is wrong; which one isn't said.
    public static let invalidCredentials: Self = "invalidCredentials"
    /// Someone has this handle or one that looks like it.
    public static let handleTaken: Self = "handleTaken"
    public static let invalidToken: Self = "invalidToken"
    public static let samePassword: Self = "samePassword"
    /// The digits are wrong, or the code can no longer be used.
    public static let invalidCode: Self = "invalidCode"
    public static let nothingToUndo: Self = "nothingToUndo"
    public static let phoneTaken: Self = "phoneTaken"
    /// The device must have been confirmed in the last few minutes.
    public static let confirmationRequired: Self = "confirmationRequired"
}
