package import Vocabulary

extension NotificationID {
    /// What an account is told of a drill, another's or its own, by which it is withdrawn, answered and reported.
    package static func ofDrill(_ drill: DrillID, to account: AccountID) -> Self {
        .derived(
            at: drill.time ?? Instant(microseconds: 0), from: Array("notification/drill".utf8), drill.bytes,
            account.bytes)
    }

    /// That it is over, whatever ended it.
    package static func ofEndOfDrill(_ drill: DrillID, to account: AccountID) -> Self {
        .derived(
            at: drill.time ?? Instant(microseconds: 0), from: Array("notification/drill/end".utf8), drill.bytes,
            account.bytes)
    }
}

extension NotificationDetails {
    /// That a drill is over, for whom a policy or an alarm says so first.
    package static func endOfDrill(_ drill: DrillID, isOwn: Bool, at time: Instant) -> Self {
        NotificationDetails(
            at: time, drill: drill, isOwnDrill: isOwn ? true : nil,
            text: isOwn
                ? "Your drill is over: what your responders hear is no drill any more. Look who answered."
                : "The drill of your contact is over. Only what says “drill” was it: an alarm is real, whenever it came."
        )
    }
}
