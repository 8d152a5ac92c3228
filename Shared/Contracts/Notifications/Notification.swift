public import Vocabulary

/// What ``NotificationID`` identifies.
public enum NotificationSubject {}

/// A notification of an account. Its sender names it after what caused it, so that it is delivered once per cause.
public typealias NotificationID = ID<NotificationSubject>

/// Something that an account was told.
public struct Notification: Codable, Hashable, Sendable, Identifiable {
    /// Its name, after what caused it.
    public var id: NotificationID
    /// What it says.
    public var kind: NotificationKind
    /// The other account that it is about.
    public var subject: AccountID?
    /// What else it says.
    public var details: NotificationDetails
    /// When it was delivered.
    public var created: Instant
    /// When it was read.
    public var read: Instant?
    /// When it was cleared; the history keeps it.
    public var cleared: Instant?

    /// Its parameters are the properties of the same names.
    public init(
        id: NotificationID, kind: NotificationKind, subject: AccountID? = nil, details: NotificationDetails,
        created: Instant, read: Instant? = nil, cleared: Instant? = nil
    ) {
        self.id = id
        self.kind = kind
        self.subject = subject
        self.details = details
        self.created = created
        self.read = read
        self.cleared = cleared
    }

    /// Whether it counts as unread: neither read nor cleared.
    public var isUnread: Bool { read == nil && cleared == nil }

    /// Whether it stands before another one: newer first, and a fixed order among those of one time.
    public func precedes(_ other: Notification) -> Bool {
        (created, id) > (other.created, other.id)
    }
}

/// What a notification says besides its kind and subject: ids, numbers and times, and the account's own texts; never
/// another person's name, text or number.
public struct NotificationDetails: Codable, Hashable, Sendable {
    /// When the thing happened that it is about.
    public var at: Instant?
    /// The deadline that was missed or draws near.
    public var deadline: Instant?
    /// How long before the deadline it reminds.
    public var lead: Interval?
    /// How many: of pings that were cleared, of times that something was repeated.
    public var count: Int?
    /// The role of the subject, after a change.
    public var isMyResponder: Bool?
    /// The role of the subject, after a change.
    public var iAmResponder: Bool?
    /// The alarm that it belongs to: its beginning, its repetitions and its end have the same one.
    public var alarm: AlarmID?
    /// The group session.
    public var group: ID<GroupSubject>?
    /// A device's name, a message of the system; at most 200 characters.
    public var text: String?

    /// Its parameters are the properties of the same names.
    public init(
        at: Instant? = nil, deadline: Instant? = nil, lead: Interval? = nil, count: Int? = nil,
        isMyResponder: Bool? = nil,
        iAmResponder: Bool? = nil, alarm: AlarmID? = nil, group: ID<GroupSubject>? = nil, text: String? = nil
    ) {
        self.at = at
        self.deadline = deadline
        self.lead = lead
        self.count = count
        self.isMyResponder = isMyResponder
        self.iAmResponder = iAmResponder
        self.alarm = alarm
        self.group = group
        self.text = text
    }

    /// Nothing else.
    public static let none = Self()
}

/// What `NotificationDetails.group` identifies.
public enum GroupSubject {}

/// A notification that is to be delivered later.
public struct ScheduledNotification: Codable, Hashable, Sendable, Identifiable {
    /// Its name; the notification's too, once it is delivered.
    public var id: NotificationID
    /// What it will say.
    public var kind: NotificationKind
    /// The other account that it is about.
    public var subject: AccountID?
    /// What else it will say.
    public var details: NotificationDetails
    /// When it is delivered.
    public var due: Instant

    /// Its parameters are the properties of the same names.
    public init(
        id: NotificationID, kind: NotificationKind, subject: AccountID? = nil, details: NotificationDetails,
        due: Instant
    ) {
        self.id = id
        self.kind = kind
        self.subject = subject
        self.details = details
        self.due = due
    }
}
