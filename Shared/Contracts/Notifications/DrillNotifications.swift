package import QuartetVocabulary

extension NotificationID {
    /// The notification that tells an account of a drill, its own or another's. The drill is withdrawn, answered and reported by this id.
    package static func ofDrill(_ drill: DrillID, to account: AccountID) -> Self {
        .derived(
            at: drill.time ?? Instant(microseconds: 0), from: Array("notification/drill".utf8), drill.bytes,
            account.bytes)
    }

    /// The notification that a drill is over, however it ended.
    package static func ofEndOfDrill(_ drill: DrillID, to account: AccountID) -> Self {
        .derived(
            at: drill.time ?? Instant(microseconds: 0), from: Array("notification/drill/end".utf8), drill.bytes,
            account.bytes)
    }
}

extension NotificationDetails {
    /// Says that a drill is over. Both the policy and an alarm that comes first send this.
    package static func endOfDrill(_ drill: DrillID, isOwn: Bool, at time: Instant) -> Self {
        NotificationDetails(
            at: time, drill: drill, isOwnDrill: isOwn ? true : nil,
            text: isOwn
                ? "Your drill is over; any alarm that your responders hear of is real. See who answered."
                : "The drill of your contact is over. Only messages that say “drill” belonged to it; every alarm is real."
        )
    }
}
