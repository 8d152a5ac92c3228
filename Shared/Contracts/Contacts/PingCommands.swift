public import Vocabulary

/// Asks a dependent whether they are all right. While a ping to them waits for an answer, another one changes nothing.
///
/// Rejected: `notContact`, `notDependent`, `pingsOff`, `tooSoon`. Result: ``PingSent``.
public struct SendPing: CommandBody {
    /// The dependent.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }

    /// There is nothing to check without state.
    public func validate() throws(Rejection) {}
}

/// Takes a ping back on both sides. Without one it changes nothing.
///
/// Rejected: `notContact`. Result: ``PingCancelled``.
public struct CancelPing: CommandBody {
    /// Who was pinged.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }

    /// There is nothing to check without state.
    public func validate() throws(Rejection) {}
}

/// Answers a ping, which ends it on both sides. Without one it changes nothing.
///
/// Rejected: `notContact`. Result: ``PingAnswered``.
public struct RespondToPing: CommandBody {
    /// Who pinged.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }

    /// There is nothing to check without state.
    public func validate() throws(Rejection) {}
}

/// Answers all pings that wait, in one go.
///
/// Result: ``ReceivedPingsCleared`` with everybody who got an answer; nothing if nobody waits.
public struct RespondToAllPings: CommandBody {
    /// It has no parameters.
    public init() {}

    /// There is nothing to check without state.
    public func validate() throws(Rejection) {}
}

/// Answers all pings that wait, in one go, as part of clearing everything that was received.
///
/// Result: ``ReceivedPingsCleared`` with everybody who got an answer; nothing if nobody waits.
public struct ClearReceivedPings: CommandBody {
    /// It has no parameters.
    public init() {}

    /// There is nothing to check without state.
    public func validate() throws(Rejection) {}
}

/// Tells the asker's responders what happened to the asker: one ``ResponderAlerted`` for each who wants to hear it. Sent
/// by a policy, on behalf of the dependent.
///
/// Result: ``AlertRelayed``.
public struct RelayAlert: CommandBody {
    /// What happened.
    public let kind: AlertKind
    /// When it happened: the time of session's event.
    public let occurred: Instant
    /// The deadline that was missed.
    public let deadline: Instant?
    /// How often responders were told of the same thing before.
    public let repetition: Int

    /// Its parameters are the properties of the same names.
    public init(kind: AlertKind, occurred: Instant, deadline: Instant? = nil, repetition: Int = 0) {
        self.kind = kind
        self.occurred = occurred
        self.deadline = deadline
        self.repetition = repetition
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        guard repetition >= 0 else {
            throw Rejection(.invalidField, "Count repetitions from 0.", field: "repetition")
        }
    }
}
