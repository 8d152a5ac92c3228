import Bus
import NotificationsContract
import Vocabulary

/// Which rows the commands of a batch may touch.
struct Touched {
    var accounts: Set<AccountID> = []
    /// Notifications that are named.
    var places: Set<Place> = []
    /// Accounts of which everything may be read or cleared.
    var reading: Set<AccountID> = []
    /// Accounts of which everything goes.
    var closing: Set<AccountID> = []
    /// Accounts of which what is too old goes, and how many of the others are looked at.
    var forgetting: [AccountID: Int32] = [:]
    /// What the notifications that are delivered are limited together with.
    var paced: Set<PacePlace> = []
    /// Accounts whose scheduled notifications and those that are held back are looked at.
    var scheduling: Set<AccountID> = []
    /// Accounts whose devices are looked at.
    var pushing: Set<AccountID> = []
    /// What may be shown on which device.
    var showing: Set<ShownPlace> = []
    /// Accounts for which timers' commands came.
    var woken: Set<AccountID> = []
    /// How many may be delivered to whom.
    var deliveries: [AccountID: Int32] = [:]

    init(_ requests: [Request<NotificationsCommand>]) {
        for request in requests {
            let own = request.command.body as? any OwnCommandBody
            guard let account = own?.account ?? request.account else { continue }
            accounts.insert(account)
            take(request.command, of: account)
        }
        // Of those that stay one must be there, and for each that is delivered one may have to go.
        for account in forgetting.keys { forgetting[account] = 1 + deliveries[account, default: 0] }
    }

    private mutating func take(_ command: NotificationsCommand, of account: AccountID) {
        switch command {
        case .account(let command): take(command, of: account)
        case .delivery(let command): take(command, of: account)
        case .scheduling(let command): take(command, of: account)
        case .reading(let command): take(command, of: account)
        case .push(let command): take(command, of: account)
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
