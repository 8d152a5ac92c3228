public import QuartetContactsContract
public import QuartetSessionContract
public import QuartetVocabulary

/// What one account may see of another. Who looks decides what is filled in.
public struct Person: Codable, Hashable, Sendable {
    public let account: AccountID
    public package(set) var handle: String?
    public package(set) var name: String?
    /// Its bytes: `GET /v1/contacts/{account}/avatar`.
    public package(set) var avatar: Avatar?
    public package(set) var isClosed = false
    /// For responders.
    public package(set) var emergencyNote: String?
    /// For responders.
    public package(set) var checkIn: CheckInState?
    /// For responders: from when on a missed check-in is late by more than a whole interval and shown as worse.
    public package(set) var veryLateFrom: Instant?
    /// For responders.
    public package(set) var alertRaised: Instant?
    /// For responders: the alarm that the alert is. The alarm of a missed check-in is the check-in's.
    public package(set) var alertAlarm: AlarmID?
    /// For responders: the newest call for help while the alert is on, if it came late.
    public package(set) var lateCall: LateCall?
    /// For responders: the trip whose time has passed, while the alert is on.
    public package(set) var trip: PersonTrip?
    /// For responders: what they see of the pings that weren't answered, while the alert is on that they made, or were added to.
    public package(set) var unanswered: PersonPings?

    /// By default somebody of whom nothing may be seen.
    public init(
        account: AccountID, handle: String? = nil, name: String? = nil, avatar: Avatar? = nil, isClosed: Bool = false,
        emergencyNote: String? = nil, checkIn: CheckInState? = nil, alertRaised: Instant? = nil,
        alertAlarm: AlarmID? = nil, lateCall: LateCall? = nil, trip: PersonTrip? = nil,
        unanswered: PersonPings? = nil
    ) {
        self.account = account
        self.handle = handle
        self.name = name
        self.avatar = avatar
        self.isClosed = isClosed
        self.emergencyNote = emergencyNote
        self.checkIn = checkIn
        veryLateFrom = checkIn?.veryLateFrom
        self.alertRaised = alertRaised
        self.alertAlarm = alertAlarm
        self.lateCall = lateCall
        self.trip = trip
        self.unanswered = unanswered
    }
}

/// A trip from which somebody hasn't arrived in time, as responders see it while the alert is on.
public struct PersonTrip: Codable, Hashable, Sendable {
    public let name: String
    public let note: String?
    /// By when the person wanted to have arrived.
    public let eta: Instant
    /// Whether the person has called for help by hand, too.
    public let isCalled: Bool?

    public init(name: String, note: String? = nil, eta: Instant, isCalled: Bool? = nil) {
        self.name = name
        self.note = note
        self.eta = eta
        self.isCalled = isCalled
    }
}

/// Pings that somebody hasn't answered in time, as responders see it while the alert is on. Who sent them is left out: a responder isn't
/// told who the others are.
public struct PersonPings: Codable, Hashable, Sendable {
    /// When the first was sent.
    public let pinged: Instant
    /// Whether the person has called for help by hand, too.
    public let isCalled: Bool?

    public init(pinged: Instant, isCalled: Bool? = nil) {
        self.pinged = pinged
        self.isCalled = isCalled
    }
}

/// A contact as its card shows it: the relation and the person.
public struct ContactCard: Codable, Hashable, Sendable {
    public let contact: Contact
    public let person: Person

    package init(contact: Contact, person: Person) {
        self.contact = contact
        self.person = person
    }
}

/// What one needs to see of somebody before becoming contacts, and no more.
public struct ProfileSummary: Codable, Hashable, Sendable {
    public let handle: String
    public let name: String?

    package init(handle: String, name: String?) {
        self.handle = handle
        self.name = name
    }
}

/// `GET /v1/contacts`.
public struct ContactsQuery: Hashable, Sendable {
    public enum Role: String, CaseIterable, Sendable {
        case responder, dependent
    }

    public enum Ping: String, CaseIterable, Sendable {
        case incoming, outgoing
    }

    public static let limits = 1...1000

    public let role: Role?
    public let ping: Ping?
    public let limit: Int
    /// An earlier page's ``ContactsPage/next``.
    public let after: AccountID?

    public init(role: Role? = nil, ping: Ping? = nil, limit: Int? = nil, after: AccountID? = nil) {
        self.role = role
        self.ping = ping
        self.limit = limit ?? Self.limits.upperBound
        self.after = after
    }
}

/// Contacts in the order of their ids: a page stays what it is while others come and go.
public struct ContactsPage: Codable, Hashable, Sendable {
    public let code: ContactCode?
    public let isApprovalRequired: Bool
    public let contacts: [ContactCard]
    public let requests: [RequestCard]
    public let blocked: [AccountID]
    /// What to ask for the next page with, as `after`; none on the last one.
    public let next: AccountID?

    package init(
        code: ContactCode?, isApprovalRequired: Bool, contacts: [ContactCard], requests: [RequestCard],
        blocked: [AccountID], next: AccountID?
    ) {
        self.code = code
        self.isApprovalRequired = isApprovalRequired
        self.contacts = contacts
        self.requests = requests
        self.blocked = blocked
        self.next = next
    }
}

/// A picture as it is downloaded.
public struct Picture: Hashable, Sendable {
    public let avatar: Avatar
    /// Nil for an app that has them.
    public let bytes: [UInt8]?

    package init(avatar: Avatar, bytes: [UInt8]?) {
        self.avatar = avatar
        self.bytes = bytes
    }
}
