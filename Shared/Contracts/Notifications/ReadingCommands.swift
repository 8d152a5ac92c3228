public import QuartetVocabulary

/// What an account reads, clears and sees, and what its history forgets.
package enum ReadingCommand: MessageSet {
    case markRead(MarkRead)
    case markAllRead(MarkAllRead)
    case clearNotifications(ClearNotifications)
    case showNotifications(ShowNotifications)
    case answerDrill(AnswerDrill)
    case forgetOldNotifications(ForgetOldNotifications)

    package static let cases: Cases<Self> = [
        Case(Self.markRead), Case(Self.markAllRead), Case(Self.clearNotifications), Case(Self.showNotifications),
        Case(Self.answerDrill), Case(Self.forgetOldNotifications),
    ]

    package var body: any CommandBody {
        switch self {
        case .markRead(let body): body
        case .markAllRead(let body): body
        case .clearNotifications(let body): body
        case .showNotifications(let body): body
        case .answerDrill(let body): body
        case .forgetOldNotifications(let body): body
        }
    }
}

/// Marks one notification as read. Changes nothing if it was read or cleared already.
///
/// Rejected: `notFound`. Result: ``NotificationRead``.
public struct MarkRead: PublicCommandBody {
    public static let sending = Sending(.notifications)

    public let id: NotificationID

    public init(id: NotificationID) {
        self.id = id
    }
}

/// Says that one got somebody's drill: they see that, and when. Nothing else tells them so, whatever was read or shown.
///
/// Rejected: `notFound` if there is no such drill, or it is over. Result: ``DrillAnswered``; nothing if it was answered already.
public struct AnswerDrill: PublicCommandBody {
    /// It is of no use once the drill is over.
    public static let sending = Sending(.notifications, for: .hours(1))

    /// The notification of the drill.
    public let id: NotificationID

    public init(id: NotificationID) {
        self.id = id
    }
}

/// Marks every notification as read that the person may have seen.
///
/// Result: ``AllNotificationsRead``; nothing if none was unread.
public struct MarkAllRead: PublicCommandBody, GrownBody {
    public static let sending = Sending(.notifications, supersedes: ["MarkAllRead"])
    public static let laterFields: Set<String> = ["upTo"]

    /// Marks none that was delivered later than the newest that the person saw; nil for all.
    public let upTo: Instant?

    public init(upTo: Instant? = nil) {
        self.upTo = upTo
    }
}

/// Clears all notifications that match the selection. They stay in the history.
///
/// Result: ``NotificationsCleared``; nothing if none matched.
public struct ClearNotifications: PublicCommandBody {
    public static let sending = Sending(.notifications)

    public let selection: NotificationSelection

    public init(selection: NotificationSelection) {
        self.selection = selection
    }

    public func validate() throws(Rejection) {
        try selection.check()
    }
}

/// Deletes notifications that are too old. A timer sends this.
///
/// Result: ``NotificationsForgotten``; nothing if none was that old.
package struct ForgetOldNotifications: OwnCommandBody {
    package let account: AccountID

    package init(account: AccountID) {
        self.account = account
    }
}

/// Selects the notifications that match everything given.
public struct NotificationSelection: Codable, Hashable, Sendable {
    /// How many accounts ``subjects`` may have.
    public static let subjectLimit = 1000

    /// 1 to 500 ids without duplicates.
    public var ids: [NotificationID]?
    /// At least one kind, without duplicates.
    public var kinds: [NotificationKind]?
    public var category: NotificationCategory?
    /// About one of these accounts: 1 to 1000, without duplicates.
    public var subjects: [AccountID]?
    /// About one of these group sessions: 1 to 100, without duplicates.
    public var groups: [GroupID]?
    /// About something that happened by then; if a notification doesn't say when, delivered by then.
    public var occurredBy: Instant?
    /// True selects all of them. Then only ``occurredBy`` may be given besides.
    public var everything: Bool?

    public init(
        ids: [NotificationID]? = nil, kinds: [NotificationKind]? = nil, category: NotificationCategory? = nil,
        subjects: [AccountID]? = nil, groups: [GroupID]? = nil, occurredBy: Instant? = nil, everything: Bool? = nil
    ) {
        self.ids = ids
        self.kinds = kinds
        self.category = category
        self.subjects = subjects
        self.groups = groups
        self.occurredBy = occurredBy
        self.everything = everything
    }

    /// A cleared notification never matches.
    public func matches(_ notification: QuartetNotification) -> Bool {
        guard notification.cleared == nil else { return false }
        // An alarm's repetitions carry the time of its beginning, and whoever cleared that hasn't seen them.
        let time = notification.kind.isOfAlarm ? notification.created : notification.details.at ?? notification.created
        if let occurredBy, time > occurredBy { return false }
        if everything == true { return true }
        return (ids?.contains(notification.id) ?? true) && (kinds?.contains(notification.kind) ?? true)
            && (category.map { $0 == notification.kind.category } ?? true)
            && (subjects?.contains { $0 == notification.subject } ?? true)
            && (groups?.contains { $0 == notification.details.group } ?? true)
    }

    /// - Throws: `invalidField` if nothing or too much is given.
    func check() throws(Rejection) {
        let isNarrow = ids != nil || kinds != nil || category != nil || subjects != nil || groups != nil
        guard isNarrow != (everything == true) else {
            throw Rejection(
                .invalidField,
                "Select notifications by ids, kinds, category, subjects or groups, or select everything.",
                field: "selection")
        }
        if let ids, !(1...500).contains(ids.count) || Set(ids).count < ids.count {
            throw Rejection(.invalidField, "Give 1 to 500 ids, each once.", field: "selection.ids")
        }
        if let subjects, !(1...Self.subjectLimit).contains(subjects.count) || Set(subjects).count < subjects.count {
            throw Rejection(.invalidField, "Give 1 to 1000 subjects, each once.", field: "selection.subjects")
        }
        if let groups, !(1...100).contains(groups.count) || Set(groups).count < groups.count {
            throw Rejection(.invalidField, "Give 1 to 100 groups, each once.", field: "selection.groups")
        }
        if let kinds, kinds.isEmpty || Set(kinds).count < kinds.count {
            throw Rejection(.invalidField, "Give at least one kind, and each kind once.", field: "selection.kinds")
        }
    }
}
