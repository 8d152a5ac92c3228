import NotificationsContract
package import Vocabulary

/// Which notifications are limited together, so that nobody is flooded by another who does and undoes something again and
/// again. The first few in a while are told at once; then one at a time, and always the newest in the end.
package struct Pace: Hashable, Comparable, Sendable {
    /// As it stands in tables and timers: the group and, where each other person has their own limit, who it is.
    package let name: String

    /// A stored one.
    package init(name: String) { self.name = name }

    /// Nil for what is never limited: it has limits of its own where it comes from.
    init?(of kind: NotificationKind, about subject: AccountID?) {
        let group: String
        switch kind {
        case .pingSent, .pingReceived, .pingCancelled, .pingAnswered: group = "ping"
        case .contactAdded, .contactRemoved, .contactRoleChanged, .roleChangeRequested, .roleChangeAccepted,
            .roleChangeDeclined, .roleChangeWithdrawn, .contactRequestAccepted, .contactRequestDeclined,
            .contactRequestExpired:
            group = "relation"
        // Whoever they come from: a crowd of strangers has one limit.
        case .contactRequested:
            self.init(name: "request")
            return
        case .contactRequestWithdrawn:
            self.init(name: "withdrawal")
            return
        case .alertRaised, .alertCleared, .dependentAlertRaised, .dependentAlertCleared, .checkInMissed,
            .dependentCheckInMissed, .dependentCheckedIn, .dependentCheckedInLate, .dependentAlarmEnded,
            .checkInReminder,
            .pingsCleared,
            .groupInvitation, .groupStarted, .groupEnded, .newDevice, .passwordChanged, .phoneChanged, .securityChanged,
            .recoveryCodesMade, .recoveryCodeUsed, .securityUndone, .system:
            return nil
        }
        self.init(name: subject.map { "\(group)/\($0)" } ?? group)
    }

    /// By name.
    package static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}

extension Notification {
    /// What it is limited together with.
    package var pace: Pace? { Pace(of: kind, about: subject) }
}

/// Where something that is held back belongs: whose it is, and what it is limited together with.
package struct PacePlace: Hashable, Comparable, Sendable {
    /// Whose.
    package let account: AccountID
    /// What it is limited together with.
    package let pace: Pace

    /// - Parameters:
    ///   - account: Whose.
    ///   - pace: What it is limited together with.
    package init(_ account: AccountID, _ pace: Pace) {
        self.account = account
        self.pace = pace
    }

    /// By account, then by pace.
    package static func < (left: Self, right: Self) -> Bool { (left.account, left.pace) < (right.account, right.pace) }
}
