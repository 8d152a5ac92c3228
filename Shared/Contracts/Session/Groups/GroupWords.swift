public import QuartetContractSupport
public import QuartetVocabulary

/// What ``ConnectionID`` identifies.
public enum ConnectionSubject {}

/// One connection of one device to one edge process, as long as it lasts.
public typealias ConnectionID = ID<ConnectionSubject>

/// The kind of activity.
public enum ActivityType: String, Codable, Hashable, Sendable, CaseIterable {
    case generic, watchTogether, listenTogether, workoutTogether, shopTogether, createTogether, readTogether,
        exploreTogether, learnTogether
}

/// The activity of a group session, described by the app that creates it.
public struct GroupSessionActivity: Codable, Hashable, Sendable {
    /// The app's name for the kind of activity, such as `org.example.chess`: an account is in one session of each at most.
    public let identifier: String
    /// The kind of activity.
    public let type: ActivityType
    /// A title for invited people.
    public let title: String
    /// A second line.
    public let subtitle: String?
    /// Where to go without the app.
    public let fallbackURL: String?
    /// Whatever the app needs to prepare; at most ``GroupRules/payloadLimit`` bytes.
    public let payload: JSONValue?

    public init(
        identifier: String, type: ActivityType = .generic, title: String, subtitle: String? = nil,
        fallbackURL: String? = nil, payload: JSONValue? = nil
    ) {
        self.identifier = identifier
        self.type = type
        self.title = title
        self.subtitle = subtitle
        self.fallbackURL = fallbackURL
        self.payload = payload
    }

    /// Checks the fields that need no state.
    public func validate() throws(Rejection) {
        guard identifier.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._\-]{0,127}/) != nil else {
            throw Rejection(
                .invalidField, "Use 1 to 128 letters, digits, dots, dashes and underscores for the identifier.",
                field: "activity.identifier")
        }
        try GroupRules.title.check(title, field: "activity.title")
        if let subtitle { try GroupRules.title.check(subtitle, field: "activity.subtitle") }
        if let fallbackURL {
            guard fallbackURL.utf8.count <= 2048, fallbackURL.wholeMatch(of: /https:\/\/[\x21-\x7E]+/) != nil else {
                throw Rejection(
                    .invalidField, "Give an https address of at most 2,048 bytes.", field: "activity.fallbackURL")
            }
        }
        if let payload, payload.encodedSize > GroupRules.payloadLimit {
            throw Rejection(
                .invalidField, "Shorten the payload to at most \(GroupRules.payloadLimit) bytes of JSON.",
                field: "activity.payload")
        }
    }
}

/// Limits of group sessions.
public enum GroupRules {
    /// The largest payload of an activity, in bytes of JSON.
    public static let payloadLimit = 32_768
    /// The allowed capacities. A session of one is for somebody's own devices: nobody is invited to it, and it lasts while none
    /// of them is connected.
    public static let capacities = 1...100
    /// The default.
    public static let defaultCapacity = 8
    /// The allowed numbers of seats.
    public static let seats = 0...32
    /// The default.
    public static let defaultSeats = 5
    /// The allowed numbers of people in one invitation.
    public static let invitations = 1...100
    /// A title or subtitle.
    public static let title = TextRule(1...200)
}

/// Why a participation ended.
public enum LeaveReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// They left.
    case left
    /// The host removed them.
    case removed
    /// Their last connection was lost, and none came back in time.
    case dropped
    /// The session ended.
    case ended
    /// Their account was closed.
    case accountClosed
}

/// Why a session is over.
public enum GroupEndReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// Ended by someone.
    case ended
    /// Nobody was in it for too long.
    case expired
}

extension Rejection.Code {
    /// There is no such session, or the asker has nothing to do with it.
    public static let groupNotFound: Self = "groupNotFound"
    /// There is a session of this id already.
    public static let groupExists: Self = "groupExists"
    /// The session is over.
    public static let groupEnded: Self = "groupEnded"
    /// As many people are in the session as it takes.
    public static let groupFull: Self = "groupFull"
    /// The asker isn't in the session.
    public static let notParticipant: Self = "notParticipant"
    /// Somebody else than the asker is the host. `details.host` says who.
    public static let notHost: Self = "notHost"
    /// The account that the command names isn't in the session.
    public static let participantNotFound: Self = "participantNotFound"
    /// The asker is in a session of this activity already. `details.group` says which.
    public static let alreadyInSession: Self = "alreadyInSession"
    /// The asker is in as many sessions as an account may be.
    public static let tooManyGroups: Self = "tooManyGroups"
    /// The host removed the asker, who needs an invitation to come back.
    public static let removedFromGroup: Self = "removedFromGroup"
    /// The asker was looked up among the contacts of somebody who isn't the host any more.
    public static let hostChanged: Self = "hostChanged"
    /// The asker has no name yet that others could see.
    public static let needsProfile: Self = "needsProfile"
    /// Nobody knows this edge process, or its lease ended.
    public static let edgeNotFound: Self = "edgeNotFound"
}

extension Rejection {
    /// There is no such session for this account.
    public static let groupNotFound = Rejection(
        .groupNotFound, "There is no such session, or nobody invited you; ask its host.", field: "group")

    /// The session is over.
    public static let groupEnded = Rejection(
        .groupEnded, "This session is over; create or join another one.", field: "group")

    /// The account isn't in the session.
    public static let notParticipant = Rejection(.notParticipant, "You aren't in this session; join it first.")

    /// Only `host` may do this.
    public static func notHost(_ host: AccountID?) -> Self {
        Rejection(
            .notHost, "Only the host of the session may do this; ask them.",
            details: host.map { ["host": .string($0.description)] })
    }

    /// The account that `field` names isn't in the session.
    public static func participantNotFound(_ field: String) -> Self {
        Rejection(.participantNotFound, "They aren't in this session; choose somebody who is.", field: field)
    }

    /// The account is in `group` already, which has the same activity.
    public static func alreadyInSession(_ group: GroupID) -> Self {
        Rejection(
            .alreadyInSession, "You are in a session of this activity already; join that one, or leave it first.",
            details: ["group": .string(group.description)])
    }
}
