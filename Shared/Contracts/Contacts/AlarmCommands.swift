public import Vocabulary

/// What notifies an account's responders.
public enum AlarmCommand: MessageSet {
    case relayAlert(RelayAlert)

    public static let cases: Cases<Self> = [Case(Self.relayAlert)]

    public var body: any CommandBody {
        switch self {
        case .relayAlert(let body): body
        }
    }
}

/// Notifies the asker's responders of what happened to the asker. Sent by a policy, on behalf of the dependent.
///
/// What begins an alarm, or repeats it, goes to each responder who wants to hear of it. What ends it goes to exactly those
/// who heard of it. Result: ``AlertRelayed``.
public struct RelayAlert: CommandBody {
    /// What happened.
    public let kind: AlertKind
    /// The alarm that it belongs to; nil for a check-in that ends none.
    public let alarm: AlarmID?
    /// When it happened: the time of session's event.
    public let occurred: Instant
    /// The deadline that was missed.
    public let deadline: Instant?
    /// How often responders were notified of the same alarm before.
    public let repetition: Int

    /// Its parameters are the properties of the same names.
    public init(
        kind: AlertKind, alarm: AlarmID? = nil, occurred: Instant, deadline: Instant? = nil, repetition: Int = 0
    ) {
        self.kind = kind
        self.alarm = alarm
        self.occurred = occurred
        self.deadline = deadline
        self.repetition = repetition
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        guard repetition >= 0 else {
            throw Rejection(.invalidField, "Count repetitions from 0.", field: "repetition")
        }
        guard alarm != nil || kind == .checkedIn else {
            throw Rejection(.invalidField, "Give the alarm; only a check-in may have none.", field: "alarm")
        }
    }
}
