/// How an app sends a command: what goes before what, and for how long it is worth sending.
public struct Sending: Hashable, Sendable {
    /// Nothing waits behind a command of a lower one.
    public enum Precedence: String, CaseIterable, Comparable, Sendable {
        /// Lives may depend on it.
        case urgent
        case normal
        /// Nobody waits for it.
        case background

        public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        /// The highest is 0.
        private var rank: Int {
            switch self {
            case .urgent: 0
            case .normal: 1
            case .background: 2
            }
        }
    }

    /// What a command is about. Commands that keep an order among themselves have the same topic, and so the same precedence.
    public enum Topic: String, CaseIterable, Sendable {
        case checkIn, trip, alert, alarmAnswer, pingAnswer
        case profile, checkInSettings, security, contact, newContact, contactSettings, ping, notifications, push, group
        case receipts

        public var precedence: Precedence {
            switch self {
            case .checkIn, .trip, .alert, .alarmAnswer, .pingAnswer: .urgent
            case .profile, .checkInSettings, .security, .contact, .newContact, .contactSettings, .ping, .notifications,
                .push, .group:
                .normal
            case .receipts: .background
            }
        }
    }

    public let topic: Topic
    /// Older, it would no longer mean what the person meant, and isn't sent under a new id.
    public let lifetime: Interval
    /// Whether an app keeps it while there is no connection.
    public let mayWait: Bool
    /// The commands of the same order key whose place it takes while they haven't been sent.
    public let supersedes: Set<String>

    /// - Parameter lifetime: For as long as the server remembers ids, unless the command means something else later.
    public init(
        _ topic: Topic, for lifetime: Interval = .days(29), mayWait: Bool = true, supersedes: Set<String> = []
    ) {
        self.topic = topic
        self.lifetime = lifetime
        self.mayWait = mayWait
        self.supersedes = supersedes
    }

    public var precedence: Precedence { topic.precedence }
}

/// A request that got fields after the release that brought it.
package protocol GrownBody: MessageBody {
    /// Optional fields that earlier servers don't know. They refuse a body that has one, so whoever sends it repeats it once
    /// without them, under a new id.
    static var laterFields: Set<String> { get }
}

/// A command as apps send it.
public protocol AppCommandBody: MessageBody {
    static var sending: Sending { get }
    /// Whom or what it is about, within its topic.
    var orderSubject: String { get }
}

extension AppCommandBody {
    public static var isUrgent: Bool { sending.precedence == .urgent }
    public var orderSubject: String { "" }
    /// Commands with one key are sent one after the other, in the order in which a person gave them.
    public var orderKey: String {
        let topic = Self.sending.topic.rawValue
        return orderSubject.isEmpty ? topic : "\(topic)/\(orderSubject)"
    }
}
