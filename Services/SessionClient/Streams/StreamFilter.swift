import QuartetAPI
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary

/// What an app wants of its streams. Whatever it leaves out, the places in the sequences move on, so that a filtered stream
/// resumes like any other, and with another filter, too.
struct StreamFilter: Hashable, Sendable {
    /// What a connection carries besides the group sessions that the app names.
    enum Part: String, CaseIterable, Sendable {
        /// The sequences; with contacts come the people among them.
        case account, contacts, notifications, operations
        /// The list of group sessions.
        case groups
    }

    /// How many types and contacts one filter may name.
    static let limit = EdgeLimits.filterNames.value
    static let everything = StreamFilter()

    private let parts: Set<Part>?
    private let types: Set<String>?
    private let contacts: Set<AccountID>?

    private init() { (parts, types, contacts) = (nil, nil, nil) }

    /// - Parameters:
    ///   - parts: The parts to carry; none: all.
    ///   - types: The types of events to carry; none: all.
    ///   - contacts: The accounts to hear of; none: all. What is about nobody else is carried in any case.
    /// - Throws: `invalidParameter`.
    init(parts: [Part], types: [String], contacts: [AccountID]) throws(APIError) {
        for (name, count) in [("type", types.count), ("contact", contacts.count)] where count > Self.limit {
            throw APIError(.invalidParameter, "Give \(name) at most \(Self.limit) times.", field: name)
        }
        if let unknown = types.first(where: { !Self.types.contains($0) }) {
            throw APIError(.invalidParameter, "No event has the type \(unknown.prefix(100)).", field: "type")
        }
        self.parts = parts.isEmpty ? nil : Set(parts)
        self.types = types.isEmpty ? nil : Set(types)
        self.contacts = contacts.isEmpty ? nil : Set(contacts)
    }

    /// The types of all events that streams carry.
    private static let types = Set(
        SessionEvent.types.map { $0.type } + ContactsEvent.types.map { $0.type }
            + NotificationsEvent.types.map { $0.type }
            + [MessageWithheld.type, OperationStarted.type, OperationEnded.type]
    ).subtracting(internalTypes)

    /// The types of events that are for other services and change nothing that an app sees.
    private static let internalTypes: Set<String> = [
        PushTaken.type, TierBegan.type, RenewalAsked.type, RenewalSettled.type, AlarmHoldChanged.type,
        AlarmClosingDecided.type, AlarmClosingDue.type, DrillRelayed.type, ResponderDrilled.type, DrillWithdrawn.type,
        PingWarned.type, PingsUnanswered.type, PingWarningEnded.type, UnansweredPingsEnded.type,
        UnansweredPingsDiscarded.type,
    ]

    func wants(_ part: Part) -> Bool { parts?.contains(part) ?? true }

    /// Whether the app wants a sequence. It named the group sessions that it follows.
    func wants(_ name: StreamName) -> Bool { name.group != nil || Part(rawValue: name.family).map(wants) ?? true }

    /// Whether the app wants an event of a sequence that it wants.
    func wants(_ event: StreamedEvent, of name: StreamName) -> Bool {
        guard types?.contains(event.type) ?? !Self.internalTypes.contains(event.type) else { return false }
        guard let contacts, let others = Self.others(in: event, of: name), !others.isEmpty else { return true }
        return !contacts.isDisjoint(with: others)
    }

    /// Whether the app wants to see a contact.
    func wants(_ contact: AccountID) -> Bool { wants(Part.contacts) && contacts?.contains(contact) ?? true }

    /// The other accounts that an event is about; nil where that isn't known.
    private static func others(in event: StreamedEvent, of name: StreamName) -> [AccountID]? {
        switch name {
        case .contacts:
            try? ContactsEvent(type: event.type, version: event.version, body: event.body).others
        case .notifications:
            try? NotificationsEvent(type: event.type, version: event.version, body: event.body).others
        case .account, .operations, .group: nil
        }
    }
}

extension ContactsEvent {
    /// The other accounts that it is about.
    fileprivate var others: [AccountID] {
        switch self {
        case .contactsOpened, .contactsClosed, .contactCodeReset, .contactApprovalSet, .alertRelayed,
            .alarmHoldChanged, .alarmClosingDecided, .alarmUnanswered, .responderReachChanged, .responderReachSettled,
            .responderTiersSet, .tierBegan, .drill(.drillRelayed), .pingEscalation(.pingQuietHoursSet):
            []
        case .pingEscalation(.pingEscalationSet(let event)): event.contact.map { [$0] } ?? []
        case .pingEscalation(.pingWarned(let event)): [event.contact]
        case .pingEscalation(.pingWarningEnded(let event)): [event.contact]
        case .pingEscalation(.pingsUnanswered(let event)): event.pings.map(\.contact)
        case .pingEscalation(.unansweredPingsEnded(let event)): event.pings.map(\.contact)
        case .pingEscalation(.pingDueSet(let event)): [event.contact]
        case .contactRequestSent(let event): [event.request.account]
        case .contactRequestReceived(let event): [event.request.account]
        case .contactRequestEnded(let event): [event.contact]
        case .contactAdded(let event): [event.contact.account]
        case .contactUpdated(let event): [event.contact.account]
        case .roleChangeRequested(let event): [event.contact]
        case .roleChangeEnded(let event): [event.contact]
        case .contactRemoved(let event): [event.contact]
        case .contactBlocked(let event): [event.contact]
        case .contactUnblocked(let event): [event.contact]
        case .pingSent(let event): [event.contact]
        case .pingReceived(let event): [event.contact]
        case .pingCancelled(let event): [event.contact]
        case .pingAnswered(let event): [event.contact]
        case .receivedPingsCleared(let event): event.contacts
        case .responderAlerted(let event): [event.dependent]
        case .alarmEnded(let event): [event.dependent]
        case .pauseAnnounced(let event): [event.dependent]
        case .alarmAcknowledged(let event): [event.dependent, event.responder]
        case .drill(.responderDrilled(let event)): [event.dependent]
        case .drill(.drillWithdrawn(let event)): [event.dependent]
        case .renewalAsked(let event): [event.dependent]
        case .renewalSettled(let event): [event.dependent]
        }
    }
}

extension NotificationsEvent {
    /// The other accounts that it is about, as far as it says.
    fileprivate var others: [AccountID] {
        switch self {
        case .notificationDelivered(let event): [event.notification.subject].compactMap(\.self)
        case .notificationScheduled(let event): [event.scheduled.subject].compactMap(\.self)
        case .notificationsOpened, .notificationsClosed, .scheduledNotificationCancelled, .notificationRead,
            .allNotificationsRead, .notificationsCleared, .notificationsForgotten, .notificationsShown, .drillAnswered,
            .pushRegistered, .pushUnregistered, .pushTaken:
            []
        }
    }
}
