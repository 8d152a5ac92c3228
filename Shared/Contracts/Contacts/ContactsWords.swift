public import QuartetVocabulary

public enum ContactCodeSubject {}

/// An account shows this code, as a QR code for example, to those who may add it as a contact. Anyone who has it can do
/// so, so it is random and can be replaced at any time.
public typealias ContactCode = ID<ContactCodeSubject>

/// A direction as one account sees it.
public enum Direction: String, Codable, Hashable, Sendable, CaseIterable {
    /// From this account to the other.
    case outgoing
    /// From the other account to this one.
    case incoming
}

/// What responders are notified of.
public enum AlertKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// The dependent raised an alert. Every responder is notified.
    case alertRaised
    /// The dependent's alert ended. Everyone who was alerted is notified.
    case alertCleared
    /// The dependent missed a check-in. Responders who want to know of missed check-ins are notified.
    case checkInMissed
    /// The dependent checked in. Everyone who was alerted to a missed check-in is notified, and responders who want to
    /// know of check-ins.
    case checkedIn
}

/// What became of a dependent's pause.
public enum PauseChange: String, Codable, Hashable, Sendable, CaseIterable {
    case began
    /// It has another end: later or earlier.
    case changed
    case ended
}

/// How an alarm ended for someone who was alerted to it.
public enum AlarmEndReason: String, Codable, Hashable, Sendable, CaseIterable {
    case checkedIn
    case cleared
    case closed
    /// The two are no longer contacts.
    case removed
    /// Another alarm of the same kind began, and how this one ended never arrived.
    case superseded
    /// It was on for as long as an alarm may be, and the dependent never ended it.
    case unanswered
    /// A responder said that the dependent is safe, and a day later the dependent hadn't ended it.
    case saidSafe
}

/// Why it is said that nobody is on an alarm.
public enum UnansweredReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// The repetitions that come soon after one another are over.
    case silence
    /// All who were told have answered that they can't do anything.
    case allCannot
}

/// What somebody answers who was told of an alarm.
public enum AlarmAnswer: String, Codable, Hashable, Sendable, CaseIterable {
    /// They are on their way, or are trying to reach the dependent.
    case onIt
    /// They reached the dependent, who is safe.
    case safe
    /// They reached the dependent, who needs help; or they don't believe that the dependent is safe.
    case needsHelp
    /// They can't do anything.
    case cannot
}

/// Why a relation or a request ended.
public enum RelationEndReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// One of them removed the other.
    case removed
    /// One of them blocked the other. The blocked account gets `removed` instead.
    case blocked
    /// One of them closed their account.
    case closed
    case declined
    case withdrawn
    /// The request made room for newer ones: if too many wait, the oldest from a stranger ends.
    case expired
}

extension Rejection.Code {
    public static let yourself: Self = "yourself"
    public static let alreadyContact: Self = "alreadyContact"
    /// A request is already waiting for an answer.
    public static let alreadyRequested: Self = "alreadyRequested"
    /// The asking account blocked the other one.
    public static let blocked: Self = "blocked"
    public static let codeTaken: Self = "codeTaken"
    /// Contacts must have at least one role.
    public static let roleRequired: Self = "roleRequired"
    /// The other person has to agree first.
    public static let consentRequired: Self = "consentRequired"
    /// The request no longer has the roles that were agreed to.
    public static let requestChanged: Self = "requestChanged"
    public static let notDependent: Self = "notDependent"
    /// One of the two has pings turned off.
    public static let pingsOff: Self = "pingsOff"
}
