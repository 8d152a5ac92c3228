package import NotificationsContract
package import Vocabulary

extension NotificationsRows {
    /// Which rows the commands of a batch may touch.
    package struct Selection {
        package var accounts: Set<AccountID> = []
        /// Notifications that are named.
        package var places: Set<Place> = []
        /// Accounts of which everything may be read or cleared.
        package var reading: Set<AccountID> = []
        /// Accounts of which everything goes.
        package var closing: Set<AccountID> = []
        /// Accounts of which what is too old goes, and how many of the others are looked at.
        package var forgetting: [AccountID: Int32] = [:]
        /// What the notifications that are delivered are limited together with.
        package var paced: Set<PacePlace> = []
        /// Accounts whose scheduled notifications and those that are held back are looked at.
        package var scheduling: Set<AccountID> = []
        /// Accounts whose devices are looked at.
        package var pushing: Set<AccountID> = []
        /// What may be shown on which device.
        package var showing: Set<ShownPlace> = []
        /// Accounts for which timers' commands came.
        package var woken: Set<AccountID> = []
        /// How many may be delivered to whom.
        package var deliveries: [AccountID: Int32] = [:]

        package init(_ requests: [Request<NotificationsCommand>]) {
            for request in requests {
                let own = request.command.body as? any OwnCommandBody
                guard let account = own?.account ?? request.account else { continue }
                accounts.insert(account)
                add(request.command, of: account)
            }
            // Of those that stay one must be there, and for each that is delivered one may have to go.
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
            places.insert(Place(account, id))
            deliver(to: account)
        }

        mutating func deliver(to account: AccountID) {
            scheduling.insert(account)
            pushing.insert(account)
            deliveries[account, default: 0] += 1
        }
    }
}
