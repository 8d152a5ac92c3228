/// What a notification says. How urgent it is and where it belongs follow from it.
public enum NotificationKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// I raised an alert.
    case alertRaised
    /// My alert is over.
    case alertCleared
    /// A dependent raised an alert.
    case dependentAlertRaised
    /// A dependent's alert is over.
    case dependentAlertCleared
    /// I missed a check-in.
    case checkInMissed
    /// A dependent missed a check-in.
    case dependentCheckInMissed
    /// A dependent checked in.
    case dependentCheckedIn
    /// A dependent of whom I heard that they missed a check-in checked in.
    case dependentCheckedInLate
    /// What I heard of somebody is over for me: they closed their account, or we are no contacts any more.
    case dependentAlarmEnded
    /// My check-in is due soon.
    case checkInReminder
    /// Somebody became my contact.
    case contactAdded
    /// Somebody is no longer my contact.
    case contactRemoved
    /// The roles between a contact and me changed.
    case contactRoleChanged
    /// A contact asked to become my responder.
    case roleChangeRequested
    /// A contact agreed to be my dependent.
    case roleChangeAccepted
    /// A contact declined to be my dependent.
    case roleChangeDeclined
    /// A contact no longer asks to become my responder.
    case roleChangeWithdrawn
    /// Somebody asked to become my contact.
    case contactRequested
    /// Somebody whom I asked became my contact.
    case contactRequestAccepted
    /// Somebody declined to become my contact.
    case contactRequestDeclined
    /// Somebody no longer asks to become my contact.
    case contactRequestWithdrawn
    /// My request to become somebody's contact waited too long and ended.
    case contactRequestExpired
    /// I pinged a dependent.
    case pingSent
    /// A responder pinged me.
    case pingReceived
    /// A ping was taken back.
    case pingCancelled
    /// A ping of mine was answered.
    case pingAnswered
    /// I answered and cleared everything that waited.
    case pingsCleared
    /// I am invited to a group session.
    case groupInvitation
    /// A group session began.
    case groupStarted
    /// A group session ended.
    case groupEnded
    /// A new device signed in to my account.
    case newDevice
    /// My password changed.
    case passwordChanged
    /// My phone number changed.
    case phoneChanged
    /// How my account is kept safe changed.
    case securityChanged
    /// My account has new recovery codes; those of before are void.
    case recoveryCodesMade
    /// A recovery code of mine was used.
    case recoveryCodeUsed
    /// Changes of my account's security were undone.
    case securityUndone
    /// A message of the system.
    case system
}

/// How urgent a notification is.
public enum NotificationPriority: String, Codable, Hashable, Sendable, CaseIterable {
    /// Somebody may be in danger: told with a sound that can't be missed.
    case critical
    /// Somebody waits.
    case normal
    /// Good to know.
    case low
}

/// What a person filters by.
public enum NotificationCategory: String, Codable, Hashable, Sendable, CaseIterable {
    /// Alerts and check-ins.
    case alerts
    /// Pings and answers.
    case pings
    /// Contacts and roles.
    case relationships
    /// Group sessions.
    case group
    /// The account and the system.
    case system
}

extension NotificationKind {
    /// How urgent it is.
    public var priority: NotificationPriority {
        switch self {
        case .alertRaised, .dependentAlertRaised, .checkInMissed, .dependentCheckInMissed: .critical
        case .alertCleared, .dependentAlertCleared, .dependentCheckedInLate, .dependentAlarmEnded, .checkInReminder,
            .pingReceived, .newDevice, .passwordChanged, .phoneChanged, .securityChanged, .recoveryCodesMade,
            .recoveryCodeUsed, .securityUndone:
            .normal
        case .dependentCheckedIn, .contactAdded, .contactRemoved, .contactRoleChanged,
            .roleChangeRequested, .roleChangeAccepted, .roleChangeDeclined, .roleChangeWithdrawn, .contactRequested,
            .contactRequestAccepted, .contactRequestDeclined, .contactRequestWithdrawn, .contactRequestExpired,
            .pingSent, .pingCancelled, .pingAnswered, .pingsCleared, .groupInvitation, .groupStarted, .groupEnded,
            .system:
            .low
        }
    }

    /// Where it belongs.
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
