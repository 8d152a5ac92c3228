public import QuartetSessionContract
public import QuartetVocabulary

/// `CreateGroupSession`; the server makes the session's id.
public struct CreateGroupSessionRequest: AppCommandBody {
    public static let type = "CreateGroupSession"
    public static let sending = Sending.together

    public let activity: GroupSessionActivity
    public let capacity: Int?
    public let seats: Int?
    public let isOpenToContacts: Bool?

    public init(activity: GroupSessionActivity, capacity: Int? = nil, seats: Int? = nil, isOpenToContacts: Bool? = nil)
    {
        self.activity = activity
        self.capacity = capacity
        self.seats = seats
        self.isOpenToContacts = isOpenToContacts
    }
}

/// `ActivateGroupSession`; the server checks that these are contacts of the caller.
public struct ActivateGroupSessionRequest: AppCommandBody {
    public static let type = "ActivateGroupSession"
    public static let sending = Sending.together
    public var orderSubject: String { "\(group)" }

    public let group: GroupID
    public let contacts: [AccountID]

    public init(group: GroupID, contacts: [AccountID]) {
        self.group = group
        self.contacts = contacts
    }
}

/// `JoinGroupSession`; the server looks up whether the caller is a contact of the host.
public struct JoinGroupSessionRequest: AppCommandBody {
    public static let type = "JoinGroupSession"
    public static let sending = Sending.together
    public var orderSubject: String { "\(group)" }

    public let group: GroupID

    public init(group: GroupID) {
        self.group = group
    }
}

/// A group session that an account is in or may join.
public struct GroupOffer: Codable, Hashable, Sendable {
    public enum Standing: String, Codable, CaseIterable, Sendable {
        /// The account is in it.
        case joined
        /// The account is invited.
        case invited
        /// The host lets contacts in, and the account is one.
        case open
    }

    public let group: GroupID
    public let standing: Standing
    /// Nil while nobody is in it.
    public let host: AccountID?
    /// Without its payload, which the session's state has.
    public let activity: GroupSessionActivity
    /// How many people are in it.
    public let participants: Int
    /// How many may be.
    public let capacity: Int
    public let isOpenToContacts: Bool
    public let created: Instant

    package init(
        group: GroupID, standing: Standing, host: AccountID?, activity: GroupSessionActivity, participants: Int,
        capacity: Int,
        isOpenToContacts: Bool, created: Instant
    ) {
        self.group = group
        self.standing = standing
        self.host = host
        self.activity = activity
        self.participants = participants
        self.capacity = capacity
        self.isOpenToContacts = isOpenToContacts
        self.created = created
    }
}

/// `GET /v1/groups`: the newest first.
public struct GroupsPage: Codable, Hashable, Sendable {
    /// How many there are at most.
    public static let limit = 200

    public let groups: [GroupOffer]

    package init(groups: [GroupOffer]) {
        self.groups = groups
    }
}

/// `GET /v1/groups/<group>?at=<position>`: a group session as it was.
public struct GroupMoment: Codable, Hashable, Sendable {
    /// The position of the last event that changed it by then.
    public let position: Int64
    public let state: GroupState
    /// The state's hash, as sixteen hexadecimal digits.
    public let hash: String

    package init(position: Int64, state: GroupState, hash: String) {
        self.position = position
        self.state = state
        self.hash = hash
    }
}
