import QuartetContractSupport
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

/// The notifications of one set of tables.
typealias Inbox = RuleTrial<NotificationsReducer, NotificationsState>

extension Inbox {
    init(seed: UInt64 = 1, time: Instant = Instant(microseconds: 1_700_000_000_000_000)) {
        self.init(NotificationsRows(), of: Self.notifications, seed: seed, time: time)
    }

    private static var notifications: Service {
        Service(
            state: { NotificationsState(account: $0) }, fold: { $0.apply($1) },
            isLast: { if case .notificationsClosed = $0 { true } else { false } },
            quiet: { command, before, after in
                // Readers don't see held notifications, nor the time of the next clean-up.
                var quiet = before
                quiet.held = after.held
                if let command = command as? ForgetOldNotifications {
                    quiet.accounts[command.account]?.forgetting = after.accounts[command.account]?.forgetting
                }
                quiet.signedOut = after.signedOut
                return quiet
            })
    }

    /// An account that is open.
    mutating func person() throws -> AccountID {
        let account: AccountID = id()
        try ask(account, OpenAccount())
        return account
    }

    /// Delivers a new notification and returns its id.
    @discardableResult
    mutating func tell(
        _ account: AccountID, _ kind: NotificationKind = .pingReceived, about subject: AccountID? = nil
    ) throws -> NotificationID {
        let id: NotificationID = id()
        try ask(account, DeliverNotification(id: id, kind: kind, subject: subject))
        return id
    }

    /// Registers a device of an account; returns its id.
    @discardableResult
    mutating func register(_ account: AccountID, token: String? = nil) throws -> PushDeviceID {
        let device: PushDeviceID = id()
        let token = token ?? "token-of-\(device)"
        try ask(account, RegisterPush(device: device, token: token, platform: .ios))
        return device
    }

    func state(_ account: AccountID) -> NotificationsState { rows.published(account) }
}
