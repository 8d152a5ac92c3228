public import QuartetVocabulary

/// Pings ask whether someone is all right.
package enum PingCommand: MessageSet {
    case sendPing(SendPing)
    case cancelPing(CancelPing)
    case respondToPing(RespondToPing)
    case respondToAllPings(RespondToAllPings)
    case clearReceivedPings(ClearReceivedPings)

    package static let cases: Cases<Self> = [
        Case(Self.sendPing), Case(Self.cancelPing), Case(Self.respondToPing), Case(Self.respondToAllPings),
        Case(Self.clearReceivedPings),
    ]

    package var body: any CommandBody {
        switch self {
        case .sendPing(let body): body
        case .cancelPing(let body): body
        case .respondToPing(let body): body
        case .respondToAllPings(let body): body
        case .clearReceivedPings(let body): body
        }
    }
}

/// Asks a dependent whether they are all right. While an earlier ping to them is unanswered, it does nothing if an alert may come of that,
/// if none was to come of either, or within ten seconds; otherwise it takes its place. Of one of which nothing comes any more, ten seconds
/// are `tooSoon`.
///
/// Rejected: `notContact`, `notDependent`, `pingsOff`, `tooSoon`. Result: ``PingSent``.
public struct SendPing: PublicCommandBody {
    /// A ping asks how somebody is now.
    public static let sending = Sending(.ping, for: .hours(1), supersedes: ["SendPing"])
    public var orderSubject: String { "\(contact)" }

    /// Between two pings to the same contact.
    public static let pause: Interval = .seconds(10)

    /// The dependent.
    public let contact: AccountID

    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Cancels a ping on both sides. Without one it changes nothing.
///
/// Rejected: `notContact`. Result: ``PingCancelled``.
public struct CancelPing: PublicCommandBody {
    public static let sending = Sending(.ping, for: .hours(1), supersedes: ["SendPing", "CancelPing"])
    public var orderSubject: String { "\(contact)" }

    /// The account that was pinged.
    public let contact: AccountID

    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Answers a ping, which ends it on both sides, and the alert that it has raised, also if the ping was cancelled since. Without
/// such a ping, or if it is a later one than the answer is about, it changes nothing; whoever sent the one whose place that has taken hears
/// of the answer all the same.
///
/// Rejected: `notContact`. Result: ``PingAnswered``, or ``PingDueSet`` of the later one.
public struct RespondToPing: PublicCommandBody, GrownBody {
    public static let sending = Sending(.pingAnswer, for: .hours(1), supersedes: ["RespondToPing"])
    public var orderSubject: String { "\(contact)" }
    public static let urgentFamily = UrgentFamily.answer
    public static let laterFields: Set<String> = ["sent", "pressed"]

    /// The account that sent the ping.
    public let contact: AccountID
    /// When the ping was sent that the person saw; nil for whichever waits.
    public let sent: Instant?
    /// When the person answered, by the server's clock: of what others have asked since it says nothing.
    public let pressed: Instant?

    public init(contact: AccountID, sent: Instant? = nil, pressed: Instant? = nil) {
        self.contact = contact
        self.sent = sent
        self.pressed = pressed
    }
}

/// Answers all waiting pings at once; of more than ``ReceivedPingsCleared/limit``, as many as that.
///
/// Result: ``ReceivedPingsCleared`` with everyone who gets an answer; nothing if no ping waits.
public struct RespondToAllPings: CommandBody {
    public static let isUrgent = true
    public static let urgentFamily = UrgentFamily.answer

    /// Answers no ping that was sent later; nil for all.
    public let upTo: Instant?

    public init(upTo: Instant? = nil) {
        self.upTo = upTo
    }
}

/// Answers all waiting pings at once, as part of clearing everything received; of more than
/// ``ReceivedPingsCleared/limit``, as many as that.
///
/// Result: ``ReceivedPingsCleared`` with everyone who gets an answer; nothing if no ping waits.
public struct ClearReceivedPings: CommandBody {
    public static let isUrgent = true
    public static let urgentFamily = UrgentFamily.answer

    /// Answers no ping that was sent later; nil for all.
    public let upTo: Instant?

    public init(upTo: Instant? = nil) {
        self.upTo = upTo
    }
}
