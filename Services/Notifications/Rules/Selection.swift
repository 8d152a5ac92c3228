package import QuartetNotificationsContract
package import QuartetVocabulary

extension NotificationsRows {
    /// The rows that a batch of commands may read or change.
    package struct Selection {
        package var accounts: Set<AccountID> = []
        package var named: Set<NotificationKey> = []
        /// Accounts whose uncleared notifications are all needed.
        package var reading: Set<AccountID> = []
        /// The group sessions about which an account's uncleared notifications are needed.
        package var groups: [AccountID: Set<GroupID>] = [:]
        /// Accounts whose notifications are all deleted.
        package var closing: Set<AccountID> = []
        /// Accounts whose old notifications are deleted, and how many of the others are needed.
        package var forgetting: [AccountID: Int32] = [:]
        /// The limits of the notifications to be delivered.
        package var paced: Set<PaceKey> = []
        /// The alarms whose end is needed, if an account was notified of it.
        package var alarms: [AccountID: Set<AlarmID>] = [:]
        /// Accounts that are told of a drill, and since when their notifications of alarms are needed.
        package var drilled: [AccountID: Instant] = [:]
        /// Accounts that are told of an alarm, whose notifications of drills are needed.
        package var alarmed: Set<AccountID> = []
        /// Accounts that get a reminder, and when: those are needed that were delivered to them within a day of that.
        package var reminded: [AccountID: Set<Instant>] = [:]
        /// Accounts whose scheduled and held notifications are needed.
        package var scheduling: Set<AccountID> = []
        /// Accounts whose devices are needed.
        package var pushing: Set<AccountID> = []
        /// Devices that get pushes, or were signed out.
        package var leaving: Set<PushDeviceKey> = []
        package var showing: Set<ShownKey> = []
        /// Accounts whose timers fired.
        package var woken: Set<AccountID> = []
        /// How many notifications may be delivered to each account.
        package var deliveries: [AccountID: Int32] = [:]

        package init(_ requests: [Request<NotificationsCommand>]) {
            for request in requests {
                let own = request.command.body as? any OwnCommandBody
                guard let account = own?.account ?? request.account else { continue }
                accounts.insert(account)
                add(request.command, of: account)
            }
            // One of those that stay must be loaded, and one for each delivery that may need room.
            for account in forgetting.keys { forgetting[account] = 1 + deliveries[account, default: 0] }
        }

        private mutating func add(_ command: NotificationsCommand, of account: AccountID) {
            switch command {
            case .account(let command): add(command, of: account)
            case .delivery(let command): add(command, of: account)
            case .scheduling(let command): add(command, of: account)
            case .reading(let command): add(command, of: account)
            case .push(let command): add(command, of: account)
            }
        }

        mutating func deliver(_ id: NotificationID, to account: AccountID) {
            named.insert(NotificationKey(account, id))
            deliver(to: account)
        }

        mutating func deliver(to account: AccountID) {
            scheduling.insert(account)
            pushing.insert(account)
            deliveries[account, default: 0] += 1
        }
    }
}
