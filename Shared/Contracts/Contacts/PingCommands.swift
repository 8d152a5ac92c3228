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
