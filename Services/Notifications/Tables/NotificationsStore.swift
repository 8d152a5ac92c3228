package import Bus
package import NotificationsContract
package import NotificationsRules
package import Postgres
import Storage
package import Vocabulary

/// The tables of the schema `notifications`, each described once, in the file that has its statements.
package enum Tables {}

/// Keeps notifications in the schema `notifications`.
///
/// Everything of an account is asked under the account's own key, but in two logs: what others ask, and what the service
/// asks itself by timers and for devices that are gone. So the account's row is locked, in the order of the ids; the lock
/// also keeps all else of the account, which is read after it.
package struct NotificationsStore: TimedStore {
    /// The rules whose tables these are.
    package typealias Rules = NotificationsReducer

    private let limits: NotificationsLimits

    /// - Parameter limits: The numbers in the rules, except those that `notifications.limits` has.
    package init(limits: NotificationsLimits = NotificationsLimits()) {
        self.limits = limits
    }

    /// Loads what the commands may look at, in one round trip.
    package func load(_ requests: [Request<NotificationsCommand>], in pipeline: Pipeline) throws -> NotificationsRows {
        let touched = NotificationsRows.Selection(requests)
        let accounts = pipeline.lockAccounts(touched.accounts)
        let named = pipeline.notifications(touched.places)
        let uncleared = pipeline.unclearedNotifications(of: touched.reading)
        let all = pipeline.allNotifications(of: touched.closing)
        let old = pipeline.oldNotifications(touched.forgetting, age: limits.age)
        let oldest = pipeline.oldestNotifications(touched.deliveries, limit: limits.history)
        let alike = pipeline.newestNotifications(of: touched.paced)
        let scheduled = pipeline.scheduled(for: touched.scheduling)
        let held = pipeline.held(for: touched.scheduling)
        let twice = pipeline.deliveredOfHeld(for: touched.woken)
        let devices = pipeline.pushDevices(of: touched.pushing)
        let shown = pipeline.shown(touched.showing)
        let settled = pipeline.limits()
        try pipeline.flush()

        var rows = NotificationsRows(limits: try settled.limits(besides: limits))
        rows.woken = touched.woken
        for (account, row) in try Tables.account.rows(of: accounts) { rows.accounts.load(row, at: account) }
        for pending in [named, uncleared, all, old, oldest, alike, twice] {
            for (place, row) in try Tables.notification.rows(of: pending) { rows.load(row, of: place.account) }
        }
        try rows.load(scheduled: scheduled, held: held)
        for (place, row) in try Tables.pushDevice.rows(of: devices) { rows.load(row, at: place) }
        for (place, row) in try Tables.shown.rows(of: shown) { rows.shown.load(row, at: place) }
        return rows
    }

    /// Reads accounts and what is scheduled for them, and says what each wants to be timed.
    package func wantedTimers(of keys: TimedKeys, in pipeline: Pipeline) throws -> [Key: [TimedCommand]] {
        let found: Pending? =
            switch keys {
            case .next(let limit, let key): pipeline.accounts(after: key?.account, limit: limit)
            case .locked(let keys): pipeline.lockAccounts(Set(keys.compactMap(\.account)))
            }
        try pipeline.flush()
        var rows = NotificationsRows(limits: limits)
        var accounts: Set<AccountID> = []
        for (account, row) in try Tables.account.rows(of: found) {
            rows.accounts.load(row, at: account)
            accounts.insert(account)
        }
        let (scheduled, held) = (pipeline.scheduled(for: accounts), pipeline.held(for: accounts))
        try pipeline.flush()
        try rows.load(scheduled: scheduled, held: held)
        return Dictionary(
            uniqueKeysWithValues: accounts.map { (Key.account($0), rows.wantedTimers(of: $0).map(TimedCommand.init)) })
    }

    /// Writes what changed, a statement per table and kind of change.
    package func save(_ rows: NotificationsRows, in pipeline: Pipeline) throws {
        try pipeline.save(rows.accounts.changes, in: Tables.account)
        try pipeline.save(rows.notificationChanges)
        // One that goes, goes with its notification; one that changed went with a notification that came back.
        let shown = rows.shown.changes
        try pipeline.insert(shown.inserted + shown.updated.map { ($0.key, $0.row) }, into: Tables.shown)
        try pipeline.save(rows.scheduled.changes, in: Tables.scheduled)
        try pipeline.save(rows.held.changes, in: Tables.held)
        try pipeline.setTimers(
            Dictionary(
                uniqueKeysWithValues: rows.accountsToWake.map { account in
                    (Key.account(account), rows.wantedTimers(of: account).map(TimedCommand.init))
                }), in: "notifications")
        // Pushes are for devices that are registered: they go before these and come after them.
        pipeline.deletePushes(to: rows.silenced)
        pipeline.deletePushesButWarnings(to: rows.leaving)
        try pipeline.save(rows.deviceChanges, in: Tables.pushDevice)
        try pipeline.insert(rows.pushes, limit: limits.pushes)
        pipeline.redact(rows.closedAccounts, in: "notifications")
    }
}

extension NotificationsRows {
    /// Takes in what waits for a time.
    fileprivate mutating func load(scheduled: Pending?, held: Pending?) throws {
        for (place, row) in try Tables.scheduled.rows(of: scheduled) { self.scheduled.load(row, at: place) }
        for (place, row) in try Tables.held.rows(of: held) { self.held.load(row, at: place) }
    }
}
