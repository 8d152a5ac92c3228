import QuartetContractSupport
public import QuartetVocabulary

/// Changes the given fields of the profile.
///
/// Rejected: `staleVersion`. Result: ``ProfileUpdated``; nothing if nothing changes.
public struct UpdateProfile: PublicCommandBody {
    public static let sending = Sending(.profile)

    /// The version that the change is based on. Any other is rejected.
    public let expectedVersion: Int64
    /// See ``PersonName``.
    public let name: String?
    /// Shown to responders: at most 1,000 characters, or empty.
    public let emergencyNote: String?

    public init(expectedVersion: Int64, name: String? = nil, emergencyNote: String? = nil) {
        self.expectedVersion = expectedVersion
        self.name = name
        self.emergencyNote = emergencyNote
    }

    public func validate() throws(Rejection) {
        if let name { _ = try PersonName(name) }
        if let emergencyNote { try ProfileRules.emergencyNote.check(emergencyNote, field: "emergencyNote") }
    }
}
