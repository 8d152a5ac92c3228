/// What a notification is about. Its priority and category follow from it.
public enum NotificationKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// I raised an alert.
    case alertRaised
    /// My alert ended.
    case alertCleared
    /// A dependent raised an alert.
    case dependentAlertRaised
    /// A dependent's alert ended.
    case dependentAlertCleared
    /// I missed a check-in.
    case checkInMissed
    /// A dependent missed a check-in.
    case dependentCheckInMissed
    /// A dependent checked in.
    case dependentCheckedIn
    /// A dependent checked in after a missed check-in that I was alerted to.
    case dependentCheckedInLate
    /// An alarm that I was alerted to ended because the dependent closed their account or is no longer my contact.
    case dependentAlarmEnded
    /// My check-in is due soon.
    case checkInReminder
    /// Someone became my contact.
    case contactAdded
    /// Someone is no longer my contact.
    case contactRemoved
    /// The roles between a contact and me changed.
    case contactRoleChanged
    /// A contact asked to become my responder.
    case roleChangeRequested
    /// A contact agreed to be my dependent.
    case roleChangeAccepted
    /// A contact declined to be my dependent.
    case roleChangeDeclined
    /// A contact withdrew their request to become my responder.
    case roleChangeWithdrawn
    /// Someone asked to become my contact.
    case contactRequested
    /// Someone accepted my request to become contacts.
    case contactRequestAccepted
    /// Someone declined my request to become contacts.
    case contactRequestDeclined
    /// Someone withdrew their request to become contacts.
    case contactRequestWithdrawn
    /// My request to become contacts waited too long and ended.
    case contactRequestExpired
    /// I pinged a dependent.
    case pingSent
    /// A responder pinged me.
    case pingReceived
    /// A ping was cancelled.
    case pingCancelled
    /// My ping was answered.
    case pingAnswered
    /// I answered and cleared everything that waited.
    case pingsCleared
    /// I was invited to a group session.
    case groupInvitation
    /// Somebody is with the host in a group session for the first time: mine, or one that the host invited me to.
    case groupStarted
    /// Somebody ended a group session that I was in or that they had invited me to, or it expired before I came.
    case groupEnded
    /// A new device signed in to my account.
    case newDevice
    case passwordChanged
    case phoneChanged
    /// My account's security settings changed.
    case securityChanged
    /// My account has new recovery codes. The old ones are void.
    case recoveryCodesMade
    /// One of my recovery codes was used.
    case recoveryCodeUsed
    /// Changes to my account's security were undone.
    case securityUndone
    /// A system message. What is about my own account has it as its subject: that nobody would be told if I missed a check-in. A
    /// dependent's drill is one, too: no kind of alarms, and one that every app can read. So is a reminder of one's own.
    case system
}

public enum NotificationPriority: String, Codable, Hashable, Sendable, CaseIterable {
    /// Someone may be in danger. Apps play a sound that can't be missed.
    case critical
    /// Someone is waiting.
    case normal
    /// Good to know.
    case low
}

/// For filters.
public enum NotificationCategory: String, Codable, Hashable, Sendable, CaseIterable {
    /// Alerts and check-ins.
    case alerts
    /// Pings and answers.
    case pings
    /// Contacts and roles.
    case relationships
    case group
    /// The account and the system.
    case system
}

extension NotificationKind {
    public var priority: NotificationPriority {
        switch self {
        case .alertRaised, .dependentAlertRaised, .checkInMissed, .dependentCheckInMissed: .critical
        case .alertCleared, .dependentAlertCleared, .dependentCheckedInLate, .dependentAlarmEnded, .checkInReminder,
            .pingReceived, .newDevice, .passwordChanged, .phoneChanged, .securityChanged, .recoveryCodesMade,
            .recoveryCodeUsed, .securityUndone, .system:
            .normal
        case .dependentCheckedIn, .contactAdded, .contactRemoved, .contactRoleChanged,
            .roleChangeRequested, .roleChangeAccepted, .roleChangeDeclined, .roleChangeWithdrawn, .contactRequested,
            .contactRequestAccepted, .contactRequestDeclined, .contactRequestWithdrawn, .contactRequestExpired,
            .pingSent, .pingCancelled, .pingAnswered, .pingsCleared, .groupInvitation, .groupStarted, .groupEnded:
            .low
        }
    }

    /// Whether it announces an alarm or its end. Those of one person keep their order.
    public var isOfAlarm: Bool { category == .alerts && self != .checkInReminder }

    public var category: NotificationCategory {
        switch self {
        case .alertRaised, .alertCleared, .dependentAlertRaised, .dependentAlertCleared, .checkInMissed,
            .dependentCheckInMissed, .dependentCheckedIn, .dependentCheckedInLate, .dependentAlarmEnded,
            .checkInReminder:
            .alerts
        case .pingSent, .pingReceived, .pingCancelled, .pingAnswered, .pingsCleared: .pings
        case .contactAdded, .contactRemoved, .contactRoleChanged, .roleChangeRequested, .roleChangeAccepted,
            .roleChangeDeclined, .roleChangeWithdrawn, .contactRequested, .contactRequestAccepted,
            .contactRequestDeclined, .contactRequestWithdrawn, .contactRequestExpired:
            .relationships
        case .groupInvitation, .groupStarted, .groupEnded: .group
        case .newDevice, .passwordChanged, .phoneChanged, .securityChanged, .recoveryCodesMade, .recoveryCodeUsed,
            .securityUndone, .system:
            .system
        }
    }
}
