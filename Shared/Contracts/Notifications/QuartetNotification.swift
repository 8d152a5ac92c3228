public import QuartetVocabulary

public enum NotificationSubject {}

/// Derived from the cause, so that each cause gives one notification.
public typealias NotificationID = ID<NotificationSubject>

/// A notification that was delivered to an account.
public struct QuartetNotification: Codable, Hashable, Sendable, Identifiable {
    public var id: NotificationID
    public var kind: NotificationKind
    /// The other account that it is about.
    public var subject: AccountID?
    public var details: NotificationDetails
    /// When it was delivered.
    public var created: Instant
    public var read: Instant?
    public var cleared: Instant?
    /// When the account said of a drill that it got it.
    public var answered: Instant?

    public init(
        id: NotificationID, kind: NotificationKind, subject: AccountID? = nil, details: NotificationDetails,
        created: Instant, read: Instant? = nil, cleared: Instant? = nil, answered: Instant? = nil
    ) {
        self.id = id
        self.kind = kind
        self.subject = subject
        self.details = details
        self.created = created
        self.read = read
        self.cleared = cleared
        self.answered = answered
    }

    /// Neither read nor cleared.
    public var isUnread: Bool { read == nil && cleared == nil }

    /// Newest first, in a fixed order if both have the same time.
    public func precedes(_ other: QuartetNotification) -> Bool {
        (created, id) > (other.created, other.id)
    }
}

/// What a notification says besides its kind and subject: ids, numbers and times, and the account's own texts. Never
/// another person's name, text or number.
public struct NotificationDetails: Codable, Hashable, Sendable {
    /// When the thing it is about happened.
    public var at: Instant?
    /// The deadline that was missed or is near.
    public var deadline: Instant?
    /// When the grace after the deadline ends, or ended. Before that only the account itself is told.
    public var graceEnds: Instant?
    /// Until when the subject's check-ins are paused, or the account's own.
    public var pausedUntil: Instant?
    /// When the account's time on the subject's alarm ends, which it is asked to renew.
    public var onItUntil: Instant?
    /// The account's own trip, whose end is the deadline. Of another's, an alert has the deadline alone.
    public var trip: TripID?
    /// When a ping was sent that wasn't answered in time, or soon won't be: the alert that is on because of it, or the warning before.
    public var pinged: Instant?
    /// Who sent it.
    public var pinger: AccountID?
    /// When somebody called for help, if the server had that call a minute or more later, which is when it happened.
    public var pressed: Instant?
    /// The subject's drill, or the account's own. What has it is about no alarm.
    public var drill: DrillID?
    /// When the drill is over; nil if it says that it is.
    public var drillEnds: Instant?
    /// True if it is the account's own drill.
    public var isOwnDrill: Bool?
    /// What the account wanted to be reminded of, in its own words: at most 200 characters. Empty where they don't belong: in pushes and in
    /// the event of the delivery, which leaves them to the scheduled notification of the same id.
    public var reminder: String?
    /// How long before the deadline it reminds.
    public var lead: Interval?
    /// The number of cleared pings or of repetitions.
    public var count: Int?
    /// The subject's role after a change.
    public var isMyResponder: Bool?
    /// The account's own role after a change.
    public var iAmResponder: Bool?
    /// The same for an alarm's beginning, repetitions and end.
    public var alarm: AlarmID?
    /// The group session that it is about.
    public var group: GroupID?
    /// A device's name or a system message: at most 200 characters.
    public var text: String?

    public init(
        at: Instant? = nil, deadline: Instant? = nil, graceEnds: Instant? = nil,
        pausedUntil: Instant? = nil, onItUntil: Instant? = nil, trip: TripID? = nil,
        pinged: Instant? = nil, pinger: AccountID? = nil, pressed: Instant? = nil,
        drill: DrillID? = nil, drillEnds: Instant? = nil, isOwnDrill: Bool? = nil, reminder: String? = nil,
        lead: Interval? = nil,
        count: Int? = nil, isMyResponder: Bool? = nil, iAmResponder: Bool? = nil, alarm: AlarmID? = nil,
        group: GroupID? = nil,
        text: String? = nil
    ) {
        self.at = at
        self.deadline = deadline
        self.graceEnds = graceEnds
        self.pausedUntil = pausedUntil
        self.onItUntil = onItUntil
        self.trip = trip
        self.pinged = pinged
        self.pinger = pinger
        self.pressed = pressed
        self.drill = drill
        self.drillEnds = drillEnds
        self.isOwnDrill = isOwnDrill
        self.reminder = reminder
        self.lead = lead
        self.count = count
        self.isMyResponder = isMyResponder
        self.iAmResponder = iAmResponder
        self.alarm = alarm
        self.group = group
        self.text = text
    }

    public static let none = Self()

    /// Whether it reminds the account of something that it wrote itself.
    public var isReminder: Bool { reminder != nil }

    /// The same without what the account wrote for itself alone.
    package var withoutReminder: Self {
        var copy = self
        if isReminder { copy.reminder = "" }
        return copy
    }

    /// Whether it says that a deadline has passed of which others don't hear yet.
    public var isOfGrace: Bool { graceEnds != nil && alarm == nil }

    /// What it says of a drill; nil if it is about none. What is about an alarm never says anything of one.
    public var drillNews: DrillNews? {
        guard drill != nil, alarm == nil else { return nil }
        if isOwnDrill == true { return drillEnds == nil ? .ownIsOver : .ownIsOn }
        return drillEnds == nil ? .anothersIsOver : .anothersIsOn
    }

    /// Whether it says that another's drill is on.
    public var isOfDrill: Bool { drillNews == .anothersIsOn }

    /// When it is too late for what it asks for, or what it says is over; nil if it never is.
    public func endOfUse(of kind: NotificationKind) -> Instant? {
        switch drillNews {
        case .anothersIsOn, .ownIsOn: return drillEnds
        // By then the next drill may begin, and this is not to be taken for its end.
        case .anothersIsOver, .ownIsOver: return drill?.time.map { $0 + .days(1) }
        case nil: break
        }
        if let end = isOfGrace ? graceEnds : onItUntil { return end }
        return kind == .checkInReminder && trip != nil ? deadline : nil
    }
}

/// What a notification says of a drill.
public enum DrillNews: Hashable, Sendable, CaseIterable {
    case anothersIsOn
    /// Whatever ended it: an alarm is real, whenever it came.
    case anothersIsOver
    case ownIsOn, ownIsOver
}

/// A notification that is to be delivered later.
public struct ScheduledNotification: Codable, Hashable, Sendable, Identifiable {
    /// The notification's id, too.
    public var id: NotificationID
    public var kind: NotificationKind
    /// The other account that it is about.
    public var subject: AccountID?
    public var details: NotificationDetails
    public var due: Instant

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
