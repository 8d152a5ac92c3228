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

/// What responders are told about a dependent.
public enum AlertKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// The dependent raised an alert. Every responder is told.
    case alertRaised
    /// The dependent's alert is over. Every responder is told.
    case alertCleared
    /// The dependent missed a check-in. Responders who want to hear of expiries are told.
    case checkInMissed
    /// The dependent checked in. Responders who want to hear of check-ins are told.
    case checkedIn
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
