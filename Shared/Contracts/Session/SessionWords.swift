public import Vocabulary

/// What ``DeviceID`` identifies.
public enum DeviceSubject {}

/// A device that signed in; chosen by the edge at each sign-in.
public typealias DeviceID = ID<DeviceSubject>

/// Why a device isn't signed in any more.
public enum SignOutReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// Its own person signed out on it.
    case signedOut
    /// It was signed out from another device.
    case revoked
    /// Another device signed in, and the account wants one at a time.
    case displaced
    /// The account had as many devices as there may be, and this one was seen the longest ago.
    case tooMany
    /// A refresh token came a second time: somebody has a copy, so neither may go on.
    case tokenReused
    /// The password changed.
    case passwordChanged
    /// Changes of the account's security were undone: its own, those made before it signed in, or by it.
    case undone
    /// The account is closed.
    case closed
}

extension SignOutReason {
    /// Whether it follows from what somebody did to the account, not to this device: the device may then undo that.
    public var leavesUndo: Bool {
        switch self {
        case .passwordChanged, .displaced, .tooMany: true
        case .signedOut, .revoked, .tokenReused, .undone, .closed: false
        }
    }

    /// What a device is told, as the second half of a sentence.
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

/// What a person still has to do before the account is of use to others.
public enum Onboarding: String, Codable, Hashable, Sendable, CaseIterable {
    /// To give a name.
    case needsProfile
    /// Nothing.
    case done
}

/// What begins an alarm, which goes on until it is ended.
public enum AlarmKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// A check-in was missed.
    case checkInMissed
    /// An alert is on.
    case alertRaised
}

/// When a reminder comes before the deadline.
public enum ReminderLead: String, Codable, Hashable, Sendable, CaseIterable {
    /// Two hours before.
    case twoHours
    /// Thirty minutes before.
    case thirtyMinutes

    /// The time before the deadline.
    public var interval: Interval {
        switch self {
        case .twoHours: .hours(2)
        case .thirtyMinutes: .minutes(30)
        }
    }
}

extension Rejection.Code {
    /// Handle, password or both are wrong; which one isn't told.
    public static let invalidCredentials: Self = "invalidCredentials"
    /// Somebody has this handle, or one that looks like it.
    public static let handleTaken: Self = "handleTaken"
    /// The device isn't signed in any more, or never was.
    public static let deviceSignedOut: Self = "deviceSignedOut"
    /// The refresh token isn't this device's.
    public static let invalidToken: Self = "invalidToken"
    /// The new password is the old one.
    public static let samePassword: Self = "samePassword"
    /// The digits are wrong, or their code is no good (any more).
    public static let invalidCode: Self = "invalidCode"
    /// There is no change that this device may undo.
    public static let nothingToUndo: Self = "nothingToUndo"
    /// Another account signs in by this phone.
    public static let phoneTaken: Self = "phoneTaken"
    /// The account wants this confirmed by the password, on this device, a few minutes ago at most.
    public static let confirmationRequired: Self = "confirmationRequired"
}
