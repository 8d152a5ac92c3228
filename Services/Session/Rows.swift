public import SessionContract
public import Vocabulary

/// An account. A closed one keeps its id and nothing of the person; its handle stays out of reach for a while.
public struct AccountRow: Equatable, Sendable {
    /// What others find it by. A closed account keeps it until it is free for others.
    public var handle: Handle?
    /// The person's name.
    public var name: String?
    /// What responders should know.
    public var emergencyNote = ""
    /// How often the profile was set.
    public var profileVersion: Int64 = 1
    /// The phone that it can sign in by.
    public var phone: Phone?
    /// What the edge calls the phone's number.
    public var phoneID: PhoneID?
    /// Under which of the server's keys it made that.
    public var phoneKey: KeyVersion?
    /// The person's picture; its bytes are kept apart.
    public var avatar: Avatar?
    /// Whether a sign-in signs the other devices out.
    public var isSingleDevice = false
    /// Whether sensitive acts need the password again.
    public var isConfirmationRequired = false
    /// The check-in timer.
    public var checkIn = CheckInRow()
    /// The alert.
    public var alert = AlertRow()
    /// When it was opened.
    public var opened: Instant
    /// When it was closed, for ever.
    public var closed: Instant?
    /// When the oldest change of its security was made that is remembered.
    public var oldestChange: Instant?
}

/// A check-in timer.
public struct CheckInRow: Equatable, Sendable {
    /// How often to check in.
    public var interval: Interval = CheckInRules.defaultInterval
    /// Whether a reminder comes two hours before.
    public var remindsTwoHours = true
    /// Whether a reminder comes thirty minutes before.
    public var remindsThirtyMinutes = true
    /// The last check-in.
    public var last: Instant?
    /// By when the next one is due, or was, if it was missed; nil for a closed account.
    public var due: Instant?
    /// The alarm that is on since the deadline was missed.
    public var alarm: AlarmID?
    /// The latest reminder of this deadline that was given.
    public var reminded: ReminderLead?
    /// When responders were last alarmed about it.
    public var lastAlarm: Instant?
    /// How often the missed check-in was repeated.
    public var repetitions = 0

    /// Whether the deadline was missed and nothing came since.
    public var missed: Bool { alarm != nil }

    /// Which reminders come, the longest first.
    public var reminders: [ReminderLead] {
        (remindsTwoHours ? [.twoHours] : []) + (remindsThirtyMinutes ? [.thirtyMinutes] : [])
    }

    /// The reminders that make sense: one as long before as the whole interval would come at the check-in itself.
    var usefulReminders: [ReminderLead] { reminders.filter { $0.interval < interval } }

    /// Moves the deadline; what was done about the old one is forgotten.
    mutating func move(to deadline: Instant) {
        due = deadline
        alarm = nil
        reminded = nil
        lastAlarm = nil
        repetitions = 0
    }
}

/// An alert.
public struct AlertRow: Equatable, Sendable {
    /// Since when it is on.
    public var raised: Instant?
    /// The alarm that it is.
    public var alarm: AlarmID?
    /// When responders last heard of it; nil while that waits.
    public var lastAlarm: Instant?
    /// How often they heard of it again.
    public var repetitions = 0
    /// Until when responders don't hear of it, because alerts were raised so often before.
    public var waitsUntil: Instant?
    /// Since when alerts are counted, over this one's end.
    public var countedSince: Instant?
    /// How many were announced at once since.
    public var count = 0

    /// Takes in that one more is raised, and says whether responders may hear of it at once.
    mutating func counts(at time: Instant, _ limits: SessionLimits) -> Bool {
        if countedSince.map({ $0 + limits.alertWindow <= time }) ?? true { (countedSince, count) = (time, 0) }
        guard count < limits.alertBurst else { return false }
        count += 1
        return true
    }
}

/// What proves that somebody is who they say. In no event and readable by nobody else.
public struct CredentialRow: Equatable, Sendable {
    /// Under which of the server's keys the verifier was made.
    public var key: KeyVersion
    /// SHA-256 of the verifier.
    public var hash: [UInt8]

    /// Its parameters are the properties of the same names.
    public init(key: KeyVersion, hash: [UInt8]) {
        self.key = key
        self.hash = hash
    }
}

/// The recovery codes that are good. In no event and readable by nobody else.
public struct RecoveryRow: Equatable, Sendable {
    /// SHA-256 of each one's proof.
    public var hashes: [[UInt8]]
    /// When they were made.
    public var made: Instant
}

/// A change of an account's security, as long as it may be undone.
public struct SecurityChangeRow: Equatable, Sendable {
    /// What changed.
    public var kind: SecurityChangeKind
    /// When.
    public var at: Instant
    /// The device that made it.
    public var device: DeviceID?
    /// When that device signed in.
    public var deviceSignedIn: Instant
    /// What was before.
    public var before: SecurityState
}

/// What a change of an account's security can change. In no event and readable by nobody else.
public struct SecurityState: Equatable, Sendable {
    /// The password.
    public var password: CredentialRow
    /// The phone.
    public var phone: Phone?
    /// What the edge calls the phone's number.
    public var phoneID: PhoneID?
    /// Under which of the server's keys it made that.
    public var phoneKey: KeyVersion?
    /// Whether a sign-in signs the other devices out.
    public var isSingleDevice: Bool
    /// Whether sensitive acts need the password again.
    public var isConfirmationRequired: Bool
    /// SHA-256 of each recovery code's proof; nil where none were ever made.
    public var recovery: RecoveryRow?
}

/// A security change's place: whose it is, and its number among those that are remembered.
public struct SecurityChangePlace: Hashable, Comparable, Sendable {
    /// Whose.
    public let account: AccountID
    /// In the order in which they were made.
    public let number: Int32

    /// - Parameters:
    ///   - account: Whose.
    ///   - number: In the order in which they were made.
    public init(_ account: AccountID, _ number: Int32) {
        self.account = account
        self.number = number
    }

    /// By account, then by number.
    public static func < (left: Self, right: Self) -> Bool {
        (left.account, left.number) < (right.account, right.number)
    }
}

/// Wrong guesses, and what follows from them.
public struct GuessesRow: Equatable, Sendable {
    /// Wrong ones in a row.
    public var failures = 0
    /// Until when none is looked at.
    public var blockedUntil: Instant?

    /// None, unless said.
    public init(failures: Int = 0, blockedUntil: Instant? = nil) {
        self.failures = failures
        self.blockedUntil = blockedUntil
    }

    /// Takes in one more wrong one.
    mutating func fail(at time: Instant, free: Int, _ limits: SessionLimits) {
        failures += 1
        let further = failures - free - 1
        guard further >= 0 else { return }
        let block = limits.firstBlock.microseconds << min(further, 20)
        blockedUntil = time + min(Interval(microseconds: block), limits.longestBlock)
    }
}

/// A device that signed in once.
public struct DeviceRow: Equatable, Sendable {
    /// What its person sees in the list of devices.
    public var name: String
    /// When it signed in.
    public var signedIn: Instant
    /// When it last exchanged its token.
    public var lastSeen: Instant
    /// The hash of the token that it has.
    public var token: Secret
    /// The hashes of the tokens that it had, the latest last.
    public var earlier: [Secret] = []
    /// When it was signed out.
    public var signedOut: Instant?
    /// Why it was.
    public var reason: SignOutReason?
    /// Until when it may do what needs a confirmation.
    public var confirmedUntil: Instant?
    /// Whether the confirmation was the password, not a code that was sent to the phone.
    public var isConfirmedByPassword = false
    /// Wrong passwords that were given on it: counted apart from those of strangers, who could lock its person out.
    public var guesses = GuessesRow()

    /// Whether it is signed out by what somebody did to the account lately, and so may undo that.
    func mayUndo(at time: Instant, _ limits: SessionLimits) -> Bool {
        guard let reason, let signedOut else { return false }
        return reason.leavesUndo && signedOut + limits.undoWindow > time
    }
}

/// A code that was sent to a phone: the latest of its place. In no event and readable by nobody else.
public struct PhoneCodeRow: Equatable, Sendable {
    /// Which one.
    public var code: PhoneCodeID
    /// Whose number it was sent to.
    public var phoneID: PhoneID
    /// The phone that the account gets; none for a sign-in.
    public var phone: Phone?
    /// Under which of the server's keys the digits and the phone's name were made.
    public var key: KeyVersion
    /// SHA-256 of the proof.
    public var hash: [UInt8]
    /// How often it was tried.
    public var attempts = 0
    /// When it was sent.
    public var issued: Instant
    /// Until when it is good; once it was used, not any more.
    public var expires: Instant
    /// From when on the phone may sign in that the account got by this code; nil: from the change on.
    public var signsInFrom: Instant?
}

/// A phone code's place: whose it is, what it is good for, and who asked for it. A stranger who asks for a code doesn't
/// void the one that its person asked for.
public struct PhoneCodePlace: Hashable, Comparable, Sendable {
    /// Whose.
    public let account: AccountID
    /// What it is good for.
    public let purpose: PhoneCodePurpose
    /// From where somebody asked for it who wants to sign in.
    public let source: SourceID

    /// - Parameters:
    ///   - account: Whose.
    ///   - purpose: What it is good for.
    ///   - source: From where somebody asked for it who wants to sign in.
    public init(_ account: AccountID, _ purpose: PhoneCodePurpose, from source: SourceID = AttemptPlace.everywhere) {
        self.account = account
        self.purpose = purpose
        self.source = source
    }

    /// By account, by purpose, then by source.
    public static func < (left: Self, right: Self) -> Bool {
        (left.account, left.purpose.rawValue, left.source) < (right.account, right.purpose.rawValue, right.source)
    }
}

/// Whose bytes, under which hash: nobody claims what another account uploaded.
public struct UploadPlace: Hashable, Sendable {
    /// Who uploaded them.
    public let account: AccountID
    /// Their name.
    public let hash: ContentHash

    /// Its parameters are the properties of the same names.
    public init(_ account: AccountID, _ hash: ContentHash) {
        self.account = account
        self.hash = hash
    }
}

/// Bytes that the edge has stored under their hash, as far as a rule needs to know them.
public struct Upload: Hashable, Sendable {
    /// How many bytes there are.
    public let size: Int
    /// What their first bytes say they are.
    public let type: ImageType?

    /// Its parameters are the properties of the same names.
    public init(size: Int, type: ImageType?) {
        self.size = size
        self.type = type
    }
}

/// A device's place: whose it is, and its id.
public struct DevicePlace: Hashable, Comparable, Sendable {
    /// Whose.
    public let account: AccountID
    /// Its id.
    public let device: DeviceID

    /// - Parameters:
    ///   - account: Whose.
    ///   - device: Its id.
    public init(_ account: AccountID, _ device: DeviceID) {
        self.account = account
        self.device = device
    }

    /// By account, then by id.
    public static func < (left: Self, right: Self) -> Bool {
        (left.account, left.device) < (right.account, right.device)
    }
}
