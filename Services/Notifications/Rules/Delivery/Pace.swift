import QuartetNotificationsContract
package import QuartetVocabulary

/// A group of notifications that share a limit, so that no one is flooded when someone else keeps doing and undoing
/// something. The first few are delivered at once; after that one at a time, and always the newest in the end.
package struct Pace: Hashable, Comparable, Sendable {
    /// As stored in tables and timers: the group and, where each other person has a limit of their own, that person's
    /// id.
    package let name: String

    package init(name: String) { self.name = name }

    /// Nil for notifications that are limited elsewhere or never.
    init?(of kind: NotificationKind, about subject: AccountID?) {
        let group: String
        switch kind {
        case .pingSent, .pingReceived, .pingCancelled, .pingAnswered: group = "ping"
        case .contactAdded, .contactRemoved, .contactRoleChanged, .roleChangeRequested, .roleChangeAccepted,
            .roleChangeDeclined, .roleChangeWithdrawn, .contactRequestAccepted, .contactRequestDeclined,
            .contactRequestExpired:
            group = "relation"
        case .groupInvitation: group = "group"
        // Apart from invitations, none of which may give way to them.
        case .groupStarted, .groupEnded: group = "session"
        // One limit for all senders, so that a crowd of strangers can't get around it.
        case .contactRequested:
            self.init(name: "request")
            return
        case .contactRequestWithdrawn:
            self.init(name: "withdrawal")
            return
        case .alertRaised, .alertCleared, .dependentAlertRaised, .dependentAlertCleared, .checkInMissed,
            .dependentCheckInMissed, .dependentCheckedIn, .dependentCheckedInLate, .dependentAlarmEnded,
            .checkInReminder,
            .pingsCleared, .newDevice, .passwordChanged, .phoneChanged, .securityChanged, .recoveryCodesMade,
            .recoveryCodeUsed, .securityUndone, .system:
            return nil
        }
        self.init(name: subject.map { "\(group)/\($0)" } ?? group)
    }

    package static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}

extension QuartetNotification {
    package var pace: Pace? { Pace(of: kind, about: subject) }
}

package struct PaceKey: Hashable, Comparable, Sendable {
    package let account: AccountID
    package let pace: Pace

    package init(_ account: AccountID, _ pace: Pace) {
        self.account = account
        self.pace = pace
    }

    package static func < (left: Self, right: Self) -> Bool { (left.account, left.pace) < (right.account, right.pace) }
}
