package import Bus
package import Postgres
package import QuartetNotificationsContract
package import QuartetNotificationsRules
package import QuartetVocabulary
import Storage

/// The tables of the schema `notifications`. Each is described once, in the file with its statements.
package enum Tables {}

/// Keeps notifications in the schema `notifications`.
///
/// All commands for an account have its key, but they come from two logs: one for those of others, and one for those of
/// the service's own timers and devices that are gone. So the account's row is locked, in the order of the ids. The
/// lock also protects everything else of the account, which is read after it.
package struct NotificationsStore: TimedStore {
    package typealias Rules = NotificationsReducer

    private let limits: NotificationsLimits

    /// - Parameter limits: Overridden by those in `notifications.limits`.
    package init(limits: NotificationsLimits = NotificationsLimits()) {
        self.limits = limits
    }

    /// Takes one round trip.
    package func load(_ requests: [Request<NotificationsCommand>], in pipeline: Pipeline) throws -> NotificationsRows {
        let touched = NotificationsRows.Selection(requests)
        let accounts = pipeline.lockAccounts(touched.accounts)
        let named = pipeline.notifications(touched.named)
        let uncleared = pipeline.unclearedNotifications(of: touched.reading)
        let grouped = pipeline.unclearedNotifications(about: touched.groups)
        let ends = pipeline.notifications(ofEndsOf: touched.alarms)
        let alarms = pipeline.notifications(ofAlarmsTo: touched.drilled)
        let reminders = pipeline.remindersDelivered(to: touched.reminded)
        let drills = pipeline.notifications(ofDrillsTo: touched.alarmed)
        let all = pipeline.allNotifications(of: touched.closing)
        let old = pipeline.oldNotifications(touched.forgetting, age: limits.age)
        let evicted = pipeline.evictedNotifications(touched.deliveries, limits: limits)
        let alike = pipeline.newestNotifications(of: touched.paced)
        let scheduled = pipeline.scheduled(for: touched.scheduling)
        let held = pipeline.held(for: touched.scheduling)
        let twice = pipeline.deliveredOfHeld(for: touched.woken)
        let devices = pipeline.pushDevices(of: touched.pushing)
        let signedOut = pipeline.signedOutDevices(touched.leaving)
        let shown = pipeline.shown(touched.showing)
        let settled = pipeline.limits()
        try pipeline.flush()

        var rows = NotificationsRows(limits: try settled.limits(besides: limits))
        rows.woken = touched.woken
        for (account, row) in try Tables.account.rows(of: accounts) { rows.accounts.load(row, at: account) }
        for pending in [named, uncleared, grouped, ends, alarms, reminders, drills, all, old, alike, twice] {
            for (key, row) in try Tables.notification.rows(of: pending) { rows.load(row, of: key.account) }
        }
        for row in try evicted.rowsIfAsked {
            let (key, notification) = try Tables.notification.decode(row)
            rows.load(notification, of: key.account)
            guard let subject = notification.subject else { continue }
            let count = try row.decode(Tables.notificationColumnCount, as: Int.self)
            rows.load(count: count, of: NotificationSender(key.account, subject))
        }
        try rows.load(scheduled: scheduled, held: held)
        for (key, row) in try Tables.pushDevice.rows(of: devices) { rows.load(row, at: key) }
        for (key, row) in try Tables.signedOutDevice.rows(of: signedOut) { rows.signedOut.load(row, at: key) }
        for (key, row) in try Tables.shown.rows(of: shown) { rows.shown.load(row, at: key) }
        return rows
    }

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

    /// Writes the changes: one statement for each table and kind of change.
    package func save(_ rows: NotificationsRows, in pipeline: Pipeline) throws {
        try pipeline.save(rows.accounts.changes, in: Tables.account)
        try pipeline.save(rows.notificationChanges)
        // Deleted rows went with their notification. Changed ones, too, and their notification came back.
        let shown = rows.shown.changes
        try pipeline.insert(shown.inserted + shown.updated.map { ($0.key, $0.row) }, into: Tables.shown)
        try pipeline.save(rows.scheduled.changes, in: Tables.scheduled)
        try pipeline.save(rows.held.changes, in: Tables.held)
        try pipeline.setTimers(rows.changedTimers.mapValues { $0.map(TimedCommand.init) }, in: "notifications")
        // A push must belong to a registered device, so pushes are deleted before devices and inserted after them.
        pipeline.lockPushDevices(rows.silenced)
        pipeline.deletePushes(to: rows.silenced)
        try pipeline.save(rows.deviceChanges, in: Tables.pushDevice)
        try pipeline.insert(rows.signedOut.changes.inserted, into: Tables.signedOutDevice)
        // In the order of the rules: a warning isn't added if its notification waits already, even if that push is then deleted.
        try pipeline.insert(rows.pushes.filter(\.isBeforeSignOut))
        pipeline.deletePushesButWarnings(to: rows.leaving)
        try pipeline.insert(rows.pushes.filter { !$0.isBeforeSignOut })
        pipeline.displacePushes(to: Set(rows.pushes.map(\.key)), limits: limits)
        pipeline.deleteTakenPushes(of: rows.closedAccounts)
        pipeline.deleteTestPushes(of: rows.closedAccounts)
        pipeline.redact(rows.closedAccounts, in: "notifications")
    }
}

extension NotificationsRows {
    fileprivate mutating func load(scheduled: Pending?, held: Pending?) throws {
        for (key, row) in try Tables.scheduled.rows(of: scheduled) { self.scheduled.load(row, at: key) }
        for (key, row) in try Tables.held.rows(of: held) { self.held.load(row, at: key) }
    }
}
