import ContractSupport
public import Vocabulary

/// Changes what is given of the profile and leaves the rest.
///
/// Rejected: `staleVersion`. Result: ``ProfileUpdated``; nothing if it was so.
public struct UpdateProfile: PublicCommandBody {
    /// The version that the asker has seen; another one is rejected.
    public let expectedVersion: Int64
    /// The person's name; see ``PersonName``.
    public let name: String?
    /// What responders should know; at most 1,000 characters, with lines; empty for none.
    public let emergencyNote: String?

    /// Its parameters are the properties of the same names.
    public init(expectedVersion: Int64, name: String? = nil, emergencyNote: String? = nil) {
        self.expectedVersion = expectedVersion
        self.name = name
        self.emergencyNote = emergencyNote
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        if let name { _ = try PersonName(name) }
        if let emergencyNote { try ProfileRules.emergencyNote.check(emergencyNote, field: "emergencyNote") }
    }
}
