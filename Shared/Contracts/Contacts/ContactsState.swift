public import QuartetContractSupport
public import QuartetVocabulary

/// One account's contacts: the state of the stream `contacts/<account>`.
///
/// Folding the stream's events from the beginning gives the state that the service publishes.
public struct ContactsState: Codable, Hashable, Sendable {
    public var account: AccountID
    /// Others add the account by this code. Nil before it is opened and once it is closed.
    public var code: ContactCode?
    /// Whether others need approval to become contacts.
    public var isApprovalRequired: Bool
    /// Sorted by id.
    public var contacts: Ordered<Contact>
    /// Requests in both directions, sorted by the other account's id.
    public var requests: Ordered<ContactRequest>
    /// Sorted by id.
    public var blocked: [AccountID]
    /// Whether anyone would be told of an alarm. Nil before the account is opened, once it is closed, and from a server
    /// that doesn't say. When no responder can be reached, that is true of each contact that is the account's responder.
    public var responderReach: ResponderReach?
    /// What responders answered to the account's own alarms and to those that it was told of, while they are on; sorted by id.
    /// Nil if there is none.
    public var alarmAnswers: Ordered<GivenAlarmAnswer>?
    /// Who hears of a missed check-in later than the others; the soonest first. Nil if all hear at once.
    public var responderTiers: [ResponderTier]?
    /// Counts the changes of ``responderTiers``; nil for none.
    public var responderTiersVersion: Int64?
    /// What becomes of pings that the account doesn't answer. Nil if nothing does.
    public var pingEscalation: PingEscalation?
    public var isClosed: Bool

    public init(
        account: AccountID, code: ContactCode? = nil, isApprovalRequired: Bool = false, contacts: Ordered<Contact> = [],
        requests: Ordered<ContactRequest> = [], blocked: [AccountID] = [],
        responderReach: ResponderReach? = nil, alarmAnswers: Ordered<GivenAlarmAnswer>? = nil,
        responderTiers: [ResponderTier]? = nil, responderTiersVersion: Int64? = nil,
        pingEscalation: PingEscalation? = nil, isClosed: Bool = false
    ) {
        self.account = account
        self.code = code
        self.isApprovalRequired = isApprovalRequired
        self.contacts = contacts
        self.requests = requests
        self.blocked = blocked
        self.responderReach = responderReach
        self.alarmAnswers = alarmAnswers
        self.responderTiers = responderTiers
        self.responderTiersVersion = responderTiersVersion
        self.pingEscalation = pingEscalation
        self.isClosed = isClosed
    }
}

/// The answer of one responder to an alarm that is on.
public struct GivenAlarmAnswer: Codable, Hashable, Sendable, Identifiable {
    public struct ID: Hashable, Comparable, Sendable {
        public let alarm: AlarmID
        public let responder: AccountID

        public init(_ alarm: AlarmID, _ responder: AccountID) {
            self.alarm = alarm
            self.responder = responder
        }

        public static func < (left: Self, right: Self) -> Bool {
            (left.alarm, left.responder) < (right.alarm, right.responder)
        }
    }

    public var id: ID { ID(alarm, responder) }
    /// The person whom the alarm is about: the account itself, or its dependent.
    public let dependent: AccountID
    public let alarm: AlarmID
    /// The account itself, or somebody else who was told, who needn't be its contact.
    public let responder: AccountID
    public let answer: AlarmAnswer
    /// Until when the responder is on it. It may have passed.
    public let until: Instant?
    public let answered: Instant

    public init(
        dependent: AccountID, alarm: AlarmID, responder: AccountID, answer: AlarmAnswer, until: Instant? = nil,
        answered: Instant
    ) {
        self.dependent = dependent
        self.alarm = alarm
        self.responder = responder
        self.answer = answer
        self.until = until
        self.answered = answered
    }
}
