public import Vocabulary

/// Questions whether somebody is all right, and their answers.
public enum PingCommand: MessageSet {
    case sendPing(SendPing)
    case cancelPing(CancelPing)
    case respondToPing(RespondToPing)
    case respondToAllPings(RespondToAllPings)
    case clearReceivedPings(ClearReceivedPings)

    public static let cases: Cases<Self> = [
        Case(Self.sendPing), Case(Self.cancelPing), Case(Self.respondToPing), Case(Self.respondToAllPings),
        Case(Self.clearReceivedPings),
    ]

    public var body: any CommandBody {
        switch self {
        case .sendPing(let body): body
        case .cancelPing(let body): body
        case .respondToPing(let body): body
        case .respondToAllPings(let body): body
        case .clearReceivedPings(let body): body
        }
    }
}

/// Asks a dependent whether they are all right. While a ping to them waits for an answer, another one changes nothing.
///
/// Rejected: `notContact`, `notDependent`, `pingsOff`, `tooSoon`. Result: ``PingSent``.
public struct SendPing: PublicCommandBody {
    /// The dependent.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Takes a ping back on both sides. Without one it changes nothing.
///
/// Rejected: `notContact`. Result: ``PingCancelled``.
public struct CancelPing: PublicCommandBody {
    /// Who was pinged.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Answers a ping, which ends it on both sides. Without one it changes nothing.
///
/// Rejected: `notContact`. Result: ``PingAnswered``.
public struct RespondToPing: PublicCommandBody {
    /// Who pinged.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Answers all pings that wait, in one go.
///
/// Result: ``ReceivedPingsCleared`` with everybody who got an answer; nothing if nobody waits.
public struct RespondToAllPings: CommandBody {
    /// It has no parameters.
    public init() {}
}

/// Answers all pings that wait, in one go, as part of clearing everything that was received.
///
/// Result: ``ReceivedPingsCleared`` with everybody who got an answer; nothing if nobody waits.
public struct ClearReceivedPings: CommandBody {
    /// It has no parameters.
    public init() {}
}
