public import Vocabulary

/// What an account read, cleared and saw, and what its history forgets.
public enum ReadingCommand: MessageSet {
    case markRead(MarkRead)
    case markAllRead(MarkAllRead)
    case clearNotifications(ClearNotifications)
    case showNotifications(ShowNotifications)
    case forgetOldNotifications(ForgetOldNotifications)

    public static let cases: Cases<Self> = [
        Case(Self.markRead), Case(Self.markAllRead), Case(Self.clearNotifications), Case(Self.showNotifications),
        Case(Self.forgetOldNotifications),
    ]

    public var body: any CommandBody {
        switch self {
        case .markRead(let body): body
        case .markAllRead(let body): body
        case .clearNotifications(let body): body
        case .showNotifications(let body): body
        case .forgetOldNotifications(let body): body
        }
    }
}

/// Marks one notification as read. When it was read or cleared before, nothing changes.
///
/// Rejected: `notFound`. Result: ``NotificationRead``.
public struct MarkRead: PublicCommandBody {
    /// Which one.
    public let id: NotificationID

    /// Its parameters are the properties of the same names.
    public init(id: NotificationID) {
        self.id = id
    }
}

/// Marks every notification as read.
///
/// Result: ``AllNotificationsRead``; nothing if none was unread.
public struct MarkAllRead: PublicCommandBody {
    /// It has no parameters.
    public init() {}
}

/// Clears the notifications that match everything that is given. They stay in the history.
///
/// Result: ``NotificationsCleared``; nothing if none matched.
public struct ClearNotifications: PublicCommandBody {
    /// Which ones.
    public let selection: NotificationSelection

    /// Its parameters are the properties of the same names.
    public init(selection: NotificationSelection) {
        self.selection = selection
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        try selection.check()
    }
}

/// Deletes what is older than the history goes back. Sent by a timer.
///
/// Result: ``NotificationsForgotten``; nothing if none was that old.
public struct ForgetOldNotifications: OwnCommandBody {
    /// Whose.
    public let account: AccountID

    /// Its parameters are the properties of the same names.
    public init(account: AccountID) {
        self.account = account
    }
}

/// Which notifications are meant: those that match everything that is given.
public struct NotificationSelection: Codable, Hashable, Sendable {
    /// One of these; 1 to 500, each once.
    public var ids: [NotificationID]?
    /// Of one of these kinds; at least one, each once.
    public var kinds: [NotificationKind]?
    /// Of this category.
    public var category: NotificationCategory?
    /// About one of these accounts; 1 to 1000, each once.
    public var subjects: [AccountID]?
    /// About what happened by then; delivered by then, where it doesn't say when it happened.
    public var occurredBy: Instant?
    /// True: all of them; nothing else may be given then but ``occurredBy``.
    public var everything: Bool?

    /// Its parameters are the properties of the same names.
    public init(
        ids: [NotificationID]? = nil, kinds: [NotificationKind]? = nil, category: NotificationCategory? = nil,
        subjects: [AccountID]? = nil, occurredBy: Instant? = nil, everything: Bool? = nil
    ) {
        self.ids = ids
        self.kinds = kinds
        self.category = category
        self.subjects = subjects
        self.occurredBy = occurredBy
        self.everything = everything
    }

    /// Whether a notification is meant. What is cleared already never is.
    public func matches(_ notification: Notification) -> Bool {
        guard notification.cleared == nil else { return false }
        if let occurredBy, notification.details.at ?? notification.created > occurredBy { return false }
        if everything == true { return true }
        return (ids?.contains(notification.id) ?? true) && (kinds?.contains(notification.kind) ?? true)
            && (category.map { $0 == notification.kind.category } ?? true)
            && (subjects?.contains { $0 == notification.subject } ?? true)
    }

    /// - Throws: `invalidField` when nothing or too much is given.
    func check() throws(Rejection) {
        let isNarrow = ids != nil || kinds != nil || category != nil || subjects != nil
        guard isNarrow != (everything == true) else {
            throw Rejection(
                .invalidField, "Select notifications by ids, kinds, category or subjects, or select everything.",
                field: "selection")
        }
        if let ids, !(1...500).contains(ids.count) || Set(ids).count < ids.count {
            throw Rejection(.invalidField, "Give 1 to 500 ids, each once.", field: "selection.ids")
        }
        if let subjects, !(1...1000).contains(subjects.count) || Set(subjects).count < subjects.count {
            throw Rejection(.invalidField, "Give 1 to 1000 subjects, each once.", field: "selection.subjects")
        }
        if let kinds, kinds.isEmpty || Set(kinds).count < kinds.count {
            throw Rejection(.invalidField, "Give at least one kind, and each kind once.", field: "selection.kinds")
        }
    }
}
