package import Vocabulary

extension NotificationID {
    /// What an account is told of another's drill, by which it is withdrawn, answered and reported.
    package static func ofDrill(_ drill: DrillID, to account: AccountID) -> Self {
        .derived(
            at: drill.time ?? Instant(microseconds: 0), from: Array("notification/drill".utf8), drill.bytes,
            account.bytes)
    }

    /// That it is over, because a deadline or an alarm ended it.
    package static func ofEndOfDrill(_ drill: DrillID, to account: AccountID) -> Self {
        .derived(
            at: drill.time ?? Instant(microseconds: 0), from: Array("notification/drill/end".utf8), drill.bytes,
            account.bytes)
    }
}
