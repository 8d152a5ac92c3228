public import Vocabulary

/// What ``ContactCode`` identifies.
public enum ContactCodeSubject {}

/// What an account shows to those who may add it as a contact, as a QR code for example. Whoever has it can add the
/// account, so it is random, and its account can replace it at any time.
public typealias ContactCode = ID<ContactCodeSubject>

/// Which way something goes, seen from one account.
public enum Direction: String, Codable, Hashable, Sendable, CaseIterable {
    /// From this account to the other.
    case outgoing
    /// From the other account to this one.
    case incoming
}

/// What responders hear of a dependent.
public enum AlertKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// The dependent raised an alert. Every responder hears of it.
    case alertRaised
    /// The dependent's alert is over. Everybody who heard of it hears of this.
    case alertCleared
    /// The dependent missed a check-in. Responders who want to hear of expiries do.
    case checkInMissed
    /// The dependent checked in. Everybody who heard that one was missed hears of this, and so do responders who want to
    /// hear of check-ins.
    case checkedIn
}

/// How an alarm ended for somebody who had heard of it.
public enum AlarmEndReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// The dependent checked in.
    case checkedIn
    /// The dependent cleared the alert.
    case cleared
    /// The dependent closed the account.
    case closed
    /// The two are no contacts any more.
    case removed
    /// Another alarm of the same kind began, and how this one ended never arrived.
    case superseded
}

/// Why two accounts are no contacts any more, or a request is over.
public enum EndReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// One of them removed the other.
    case removed
    /// One of them blocked the other. Only the one who blocked is told so; the other reads `removed`.
    case blocked
    /// One of them closed the account.
    case closed
    /// The request was declined.
    case declined
    /// The request was withdrawn.
    case withdrawn
    /// The request made room for newer ones: the oldest from a stranger goes when too many wait.
    case expired
}

extension Rejection.Code {
    /// Nobody can be their own contact.
    public static let yourself: Self = "yourself"
    /// They are contacts already.
    public static let alreadyContact: Self = "alreadyContact"
    /// They aren't contacts.
    public static let notContact: Self = "notContact"
    /// There is a request that waits for an answer.
    public static let alreadyRequested: Self = "alreadyRequested"
    /// The asker blocked the other account.
    public static let blocked: Self = "blocked"
    /// Another account has this contact code.
    public static let codeTaken: Self = "codeTaken"
    /// At least one role must stay.
    public static let roleRequired: Self = "roleRequired"
    /// The other person has to agree first.
    public static let consentRequired: Self = "consentRequired"
    /// The request asks for other roles than the ones that were agreed to.
    public static let requestChanged: Self = "requestChanged"
    /// Only a responder can ping a dependent.
    public static let notDependent: Self = "notDependent"
    /// One of the two sides doesn't want pings.
    public static let pingsOff: Self = "pingsOff"
}
