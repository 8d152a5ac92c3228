package import SessionContract
package import Vocabulary

/// An account. A closed one keeps its id and nothing of the person; its handle stays out of reach for a while.
package struct AccountRow: Equatable, Sendable {
    /// What others find it by. A closed account keeps it until it is free for others.
    package var handle: Handle?
    /// The person's name.
    package var name: String?
    /// What responders should know.
    package var emergencyNote = ""
    /// How often the profile was set.
    package var profileVersion: Int64 = 1
    /// The phone that it can sign in by.
    package var phone: Phone?
    /// What the edge calls the phone's number.
    package var phoneID: PhoneID?
    /// Under which of the server's keys it made that.
    package var phoneKey: KeyVersion?
    /// The person's picture; its bytes are kept apart.
    package var avatar: Avatar?
    /// Whether a sign-in signs the other devices out.
    package var isSingleDevice = false
    /// Whether sensitive acts need the password again.
    package var isConfirmationRequired = false
    /// The check-in timer.
    package var checkIn = CheckInRow()
    /// The alert.
    package var alert = AlertRow()
    /// When it was opened.
    package var opened: Instant
    /// When it was closed, for ever.
    package var closed: Instant?
    /// When the oldest change of its security was made that is remembered.
    package var oldestChange: Instant?
}

/// A check-in timer.
package struct CheckInRow: Equatable, Sendable {
    /// How often to check in.
    package var interval: Interval = CheckInRules.defaultInterval
    /// Whether a reminder comes two hours before.
    package var remindsTwoHours = true
    /// Whether a reminder comes thirty minutes before.
    package var remindsThirtyMinutes = true
    /// The last check-in.
    package var last: Instant?
    /// By when the next one is due, or was, if it was missed; nil for a closed account.
    package var due: Instant?
    /// The alarm that is on since the deadline was missed.
    package var alarm: AlarmID?
    /// The latest reminder of this deadline that was given.
    package var reminded: ReminderLead?
    /// When responders were last alarmed about it.
    package var lastAlarm: Instant?
    /// How often the missed check-in was repeated.
    package var repetitions = 0

    /// Whether the deadline was missed and nothing came since.
    package var missed: Bool { alarm != nil }

    /// Which reminders come, the longest first.
    package var reminders: [ReminderLead] {
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
package struct AlertRow: Equatable, Sendable {
    /// Since when it is on.
    package var raised: Instant?
    /// The alarm that it is.
    package var alarm: AlarmID?
    /// When responders last heard of it; nil while that waits.
    package var lastAlarm: Instant?
    /// How often they heard of it again.
    package var repetitions = 0
    /// Until when responders don't hear of it, because alerts were raised so often before.
    package var waitsUntil: Instant?
    /// Since when alerts are counted, over this one's end.
    package var countedSince: Instant?
    /// How many were announced at once since.
    package var count = 0

    /// Takes in that one more is raised, and says whether responders may hear of it at once.
    mutating func counts(at time: Instant, _ limits: SessionLimits) -> Bool {
        if countedSince.map({ $0 + limits.alertWindow <= time }) ?? true { (countedSince, count) = (time, 0) }
        guard count < limits.alertBurst else { return false }
        count += 1
        return true
    }
}

/// What proves that somebody is who they say. In no event and readable by nobody else.
package struct CredentialRow: Equatable, Sendable {
    /// Under which of the server's keys the verifier was made.
    package var key: KeyVersion
    /// SHA-256 of the verifier.
    package var hash: [UInt8]

    /// Its parameters are the properties of the same names.
    package init(key: KeyVersion, hash: [UInt8]) {
        self.key = key
        self.hash = hash
    }
}

/// The recovery codes that are good. In no event and readable by nobody else.
package struct RecoveryRow: Equatable, Sendable {
    /// SHA-256 of each one's proof.
    package var hashes: [[UInt8]]
    /// When they were made.
    package var made: Instant
}

/// A change of an account's security, as long as it may be undone.
package struct SecurityChangeRow: Equatable, Sendable {
    /// What changed.
    package var kind: SecurityChangeKind
    /// When.
    package var at: Instant
    /// The device that made it.
    package var device: DeviceID?
    /// When that device signed in.
    package var deviceSignedIn: Instant
    /// What was before.
    package var before: SecurityState
}

/// What a change of an account's security can change. In no event and readable by nobody else.
package struct SecurityState: Equatable, Sendable {
    /// The password.
    package var password: CredentialRow
    /// The phone.
    package var phone: Phone?
    /// What the edge calls the phone's number.
    package var phoneID: PhoneID?
    /// Under which of the server's keys it made that.
    package var phoneKey: KeyVersion?
    /// Whether a sign-in signs the other devices out.
    package var isSingleDevice: Bool
    /// Whether sensitive acts need the password again.
    package var isConfirmationRequired: Bool
    /// SHA-256 of each recovery code's proof; nil where none were ever made.
    package var recovery: RecoveryRow?
}

/// A security change's place: whose it is, and its number among those that are remembered.
package struct SecurityChangePlace: Hashable, Comparable, Sendable {
    /// Whose.
    package let account: AccountID
    /// In the order in which they were made.
    package let number: Int32

    /// - Parameters:
    ///   - account: Whose.
    ///   - number: In the order in which they were made.
    package init(_ account: AccountID, _ number: Int32) {
        self.account = account
        self.number = number
    }

    /// By account, then by number.
    package static func < (left: Self, right: Self) -> Bool {
        (left.account, left.number) < (right.account, right.number)
    }
}

/// Wrong guesses, and what follows from them.
package struct GuessesRow: Equatable, Sendable {
    /// Wrong ones in a row.
    package var failures = 0
    /// Until when none is looked at.
    package var blockedUntil: Instant?

    /// None, unless said.
    package init(failures: Int = 0, blockedUntil: Instant? = nil) {
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
package struct DeviceRow: Equatable, Sendable {
    /// What its person sees in the list of devices.
    package var name: String
    /// When it signed in.
    package var signedIn: Instant
    /// When it last exchanged its token.
    package var lastSeen: Instant
    /// The hash of the token that it has.
    package var token: Secret
    /// The hashes of the tokens that it had, the latest last.
    package var earlier: [Secret] = []
    /// When it was signed out.
    package var signedOut: Instant?
    /// Why it was.
    package var reason: SignOutReason?
    /// Until when it may do what needs a confirmation.
    package var confirmedUntil: Instant?
    /// Whether the confirmation was the password, not a code that was sent to the phone.
    package var isConfirmedByPassword = false
    /// Wrong passwords that were given on it: counted apart from those of strangers, who could lock its person out.
    package var guesses = GuessesRow()

    /// Whether it is signed out by what somebody did to the account lately, and so may undo that.
    func mayUndo(at time: Instant, _ limits: SessionLimits) -> Bool {
        guard let reason, let signedOut else { return false }
        return reason.leavesUndo && signedOut + limits.undoWindow > time
    }
}

/// A code that was sent to a phone: the latest of its place. In no event and readable by nobody else.
package struct PhoneCodeRow: Equatable, Sendable {
    /// Which one.
    package var code: PhoneCodeID
    /// Whose number it was sent to.
    package var phoneID: PhoneID
    /// The phone that the account gets; none for a sign-in.
    package var phone: Phone?
    /// Under which of the server's keys the digits and the phone's name were made.
    package var key: KeyVersion
    /// SHA-256 of the proof.
    package var hash: [UInt8]
    /// How often it was tried.
    package var attempts = 0
    /// When it was sent.
    package var issued: Instant
    /// Until when it is good; once it was used, not any more.
    package var expires: Instant
    /// From when on the phone may sign in that the account got by this code; nil: from the change on.
    package var signsInFrom: Instant?
}

/// A phone code's place: whose it is, what it is good for, and who asked for it. A stranger who asks for a code doesn't
/// void the one that its person asked for.
package struct PhoneCodePlace: Hashable, Comparable, Sendable {
    /// Whose.
    package let account: AccountID
    /// What it is good for.
    package let purpose: PhoneCodePurpose
    /// From where somebody asked for it who wants to sign in.
    package let source: SourceID

    /// - Parameters:
    ///   - account: Whose.
    ///   - purpose: What it is good for.
    ///   - source: From where somebody asked for it who wants to sign in.
    package init(_ account: AccountID, _ purpose: PhoneCodePurpose, from source: SourceID = AttemptPlace.everywhere) {
        self.account = account
        self.purpose = purpose
        self.source = source
    }

    /// By account, by purpose, then by source.
    package static func < (left: Self, right: Self) -> Bool {
        (left.account, left.purpose.rawValue, left.source) < (right.account, right.purpose.rawValue, right.source)
    }
}

/// Whose bytes, under which hash: nobody claims what another account uploaded.
package struct UploadPlace: Hashable, Sendable {
    /// Who uploaded them.
    package let account: AccountID
    /// Their name.
    package let hash: ContentHash

    /// Its parameters are the properties of the same names.
    package init(_ account: AccountID, _ hash: ContentHash) {
        self.account = account
        self.hash = hash
    }
}

/// Bytes that the edge has stored under their hash, as far as a rule needs to know them.
package struct Upload: Hashable, Sendable {
    /// How many bytes there are.
    package let size: Int
    /// What their first bytes say they are.
    package let type: ImageType?

    /// Its parameters are the properties of the same names.
    package init(size: Int, type: ImageType?) {
        self.size = size
        self.type = type
    }
}

/// A device's place: whose it is, and its id.
package struct DevicePlace: Hashable, Comparable, Sendable {
    /// Whose.
    package let account: AccountID
    /// Its id.
    package let device: DeviceID

    /// - Parameters:
    ///   - account: Whose.
    ///   - device: Its id.
    package init(_ account: AccountID, _ device: DeviceID) {
        self.account = account
        self.device = device
    }

    /// By account, then by id.
    package static func < (left: Self, right: Self) -> Bool {
        (left.account, left.device) < (right.account, right.device)
    }
}

// What the columns of a table replace.

extension AccountRow {
    package static let blank = Self(opened: .blank)
}

extension RecoveryRow {
    package static let blank = Self(hashes: [], made: .blank)
}

extension SecurityChangeRow {
    package static let blank = Self(
        kind: .settings, at: .blank, deviceSignedIn: .blank,
        before: SecurityState(
            password: CredentialRow(key: .blank, hash: []), isSingleDevice: false, isConfirmationRequired: false))
}

extension DeviceRow {
    package static let blank = Self(name: "", signedIn: .blank, lastSeen: .blank, token: .blank)
}

extension PhoneCodeRow {
    package static let blank = Self(
        code: .blank, phoneID: .blank, key: .blank, hash: [], issued: .blank, expires: .blank)
}
