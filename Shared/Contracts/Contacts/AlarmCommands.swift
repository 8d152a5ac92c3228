public import Vocabulary

/// Notifies an account's responders.
public enum AlarmCommand: MessageSet {
    case relayAlert(RelayAlert)

    public static let cases: Cases<Self> = [Case(Self.relayAlert)]

    public var body: any CommandBody {
        switch self {
        case .relayAlert(let body): body
        }
    }
}

/// Notifies the asking account's responders of something that happened to it. A policy sends this on behalf of the
/// dependent.
///
/// The beginning and the repetitions of an alarm go to each responder who wants to know. Its end goes to exactly those
/// who were alerted. Result: ``AlertRelayed``.
public struct RelayAlert: CommandBody {
    public static let isUrgent = true

    public let kind: AlertKind
    /// Nil for a check-in that ends no alarm.
    public let alarm: AlarmID?
    /// The time of session's event.
    public let occurred: Instant
    /// The missed deadline.
    public let deadline: Instant?
    /// How often responders were already alerted to the same alarm.
    public let repetition: Int

    public init(
        kind: AlertKind, alarm: AlarmID? = nil, occurred: Instant, deadline: Instant? = nil, repetition: Int = 0
    ) {
        self.kind = kind
        self.alarm = alarm
        self.occurred = occurred
        self.deadline = deadline
        self.repetition = repetition
    }

    public func validate() throws(Rejection) {
        guard repetition >= 0 else {
            throw Rejection(.invalidField, "Count repetitions from 0.", field: "repetition")
        }
        guard alarm != nil || kind == .checkedIn else {
            throw Rejection(.invalidField, "Give the alarm; only a check-in may have none.", field: "alarm")
        }
    }
}
