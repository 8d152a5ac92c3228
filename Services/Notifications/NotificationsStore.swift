public import Bus
import Grammar
public import NotificationsContract
public import Postgres
import Vocabulary
import WorkingSet

/// Keeps notifications in the schema `notifications`.
///
/// Everything of an account is asked under the account's own key, so no row is shared and none is locked.
public struct NotificationsStore: Store {
    /// The rules whose tables these are.
    public typealias Rules = NotificationsReducer

    private let limits: NotificationsLimits

    /// - Parameter limits: The numbers in the rules.
    public init(limits: NotificationsLimits = NotificationsLimits()) {
        self.limits = limits
    }

    /// Loads what the commands may look at, in one round trip.
    public func load(_ requests: [Request<NotificationsCommand>], in pipeline: Pipeline) throws -> NotificationsRows {
        let touched = Touched(requests)
        let accounts = pipeline.accounts(touched.accounts)
        let named = pipeline.notifications(touched.places)
        let uncleared = pipeline.unclearedNotifications(of: touched.reading)
        let all = pipeline.allNotifications(of: touched.closing)
        let old = pipeline.oldNotifications(of: touched.forgetting, age: limits.age)
        let oldest = pipeline.oldestNotifications(touched.deliveries, limit: limits.history)
        let scheduled = pipeline.scheduled(for: touched.scheduling)
        try pipeline.flush()

        var rows = NotificationsRows(limits: limits)
        for row in try accounts.rowsIfAsked {
            let (account, unread, total, closed) = try row.decode(
                AccountID.self, Int32.self, Int32.self, Instant?.self)
            rows.accounts.load(AccountRow(unread: Int(unread), total: Int(total), closed: closed), at: account)
        }
        for pending in [named, uncleared, all, old, oldest] {
            for row in try pending.rowsIfAsked {
                rows.load(try row.notification(), of: try row.decode(0, as: AccountID.self))
            }
        }
        for row in try scheduled.rowsIfAsked {
            let (account, id, kind, subject, details, due) = try row.decode(
                AccountID.self, NotificationID.self, String.self, AccountID?.self, JSON.self, Instant.self)
            rows.scheduled.load(
                ScheduledNotification(
                    id: id, kind: try .init(stored: kind), subject: subject, details: try .init(stored: details),
                    due: due), at: Place(account, id))
        }
        return rows
    }

    /// Writes what changed, a statement per table and kind of change.
    public func save(_ rows: NotificationsRows, in pipeline: Pipeline) throws {
        pipeline.save(rows.accounts.changes)
        try pipeline.save(rows.notificationChanges)
        try pipeline.save(rows.scheduled.changes)
    }
}

/// Which rows the commands of a batch may touch.
struct Touched {
    var accounts: Set<AccountID> = []
    /// Notifications that are named.
    var places: Set<Place> = []
    /// Accounts of which everything may be read or cleared.
    var reading: Set<AccountID> = []
    /// Accounts of which everything goes.
    var closing: Set<AccountID> = []
    /// Accounts of which the oldest go.
    var forgetting: Set<AccountID> = []
    /// Accounts whose scheduled notifications are looked at.
    var scheduling: Set<AccountID> = []
    /// How many may be delivered to whom.
    var deliveries: [AccountID: Int32] = [:]

    init(_ requests: [Request<NotificationsCommand>]) {
        for request in requests {
            guard let account = request.command.account ?? request.account else { continue }
            accounts.insert(account)
            take(request.command, of: account)
        }
    }

    private mutating func take(_ command: NotificationsCommand, of account: AccountID) {
        switch command {
        case .openAccount: break
        case .closeAccount:
            closing.insert(account)
            scheduling.insert(account)
        case .deliverNotification(let command): deliver(command.id, to: account)
        case .deliverScheduledNotification(let command): deliver(command.id, to: account)
        case .scheduleNotification(let command):
            places.insert(Place(account, command.id))
            scheduling.insert(account)
        case .cancelNotification: scheduling.insert(account)
        case .markRead(let command): places.insert(Place(account, command.id))
        case .markAllRead, .clearNotifications: reading.insert(account)
        case .forgetOldNotifications: forgetting.insert(account)
        }
    }

    private mutating func deliver(_ id: NotificationID, to account: AccountID) {
        places.insert(Place(account, id))
        scheduling.insert(account)
        deliveries[account, default: 0] += 1
    }
}

extension Pending? {
    /// The rows of a statement that was queued; none for one that wasn't needed.
    var rowsIfAsked: [Row] {
        get throws { try self.map { Array(try $0.rows()) } ?? [] }
    }
}
