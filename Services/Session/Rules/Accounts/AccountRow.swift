package import QuartetSessionContract
package import QuartetVocabulary

/// An account. A closed one keeps only its id, and for a while its handle, so that no one else gets it.
package struct AccountRow: Equatable, Sendable {
    /// A closed account keeps it until others may have it.
    package var handle: Handle?
    package var name: String?
    /// Shown to responders.
    package var emergencyNote = ""
    /// Counts the changes to the profile.
    package var profileVersion: Int64 = 1
    /// For signing in.
    package var phone: Phone?
    /// The edge's name for the phone's number.
    package var phoneID: PhoneID?
    /// The server key that `phoneID` was made with.
    package var phoneKey: KeyVersion?
    /// The picture's bytes are in a table of their own.
    package var avatar: Avatar?
    /// Whether signing in signs all other devices out.
    package var isSingleDevice = false
    /// Whether signing other devices out needs a confirmation.
    package var isConfirmationRequired = false
    package var checkIn = CheckInRow()
    package var alert = AlertRow()
    /// See ``trip``.
    package var keptTrip: TripRow?
    /// See ``unanswered``.
    package var keptUnanswered: UnansweredRow?
    package var tripCount = TripCount()
    /// The newest one, also when it is over.
    package var drill: DrillState?
    package var opened: Instant
    /// An account is never reopened.
    package var closed: Instant?
    /// The time of the oldest security change that can still be undone.
    package var oldestChange: Instant?
}

extension AccountRow {
    package static let blank = Self(opened: .blank)
}
