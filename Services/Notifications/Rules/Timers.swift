package import QuartetNotificationsContract
package import QuartetVocabulary

extension NotificationsRows {
    /// The timers that an account wants now, soonest first: one for each scheduled or held notification, and one for
    /// when the history will have one that is too old. They follow from the state alone: as long as exactly these are
    /// set after each change, no deadline is lost, and the rules drop a command that comes too late to be true.
    ///
    /// Everything scheduled or held back for the account must be loaded.
    package func wantedTimers(of account: AccountID) -> [WantedTimer<NotificationsCommand>] {
        guard let row = accounts[account], row.closed == nil else { return [] }
        var timers = scheduled(for: account).map { scheduled in
            WantedTimer(
                NotificationsCommand.scheduling(
                    .deliverScheduledNotification(.init(account: account, id: scheduled.id, due: scheduled.due))),
                due: scheduled.due, part: "\(scheduled.id)")
        }
        timers += held(for: account).map { key, held in
            WantedTimer(
                .delivery(.deliverHeldNotification(.init(account: account, pace: key.pace.name, due: held.due))),
                due: held.due, part: key.pace.name)
        }
        if let forgetting = row.forgetting {
            timers.append(WantedTimer(.reading(.forgetOldNotifications(.init(account: account))), due: forgetting))
        }
        return timers.sorted { $0.due < $1.due }
    }
}

extension NotificationsRows {
    /// The timers of each account whose wanted timers may have changed. Everything scheduled or held back for these
    /// accounts must be loaded.
    package var changedTimers: [Key: [WantedTimer<NotificationsCommand>]] {
        Dictionary(uniqueKeysWithValues: accountsWithChangedTimers.map { (.account($0), wantedTimers(of: $0)) })
    }

    private var accountsWithChangedTimers: Set<AccountID> {
        let accounts = accounts.changes
        var changed = woken
        changed.formUnion(accounts.inserted.lazy.filter { $0.row.forgetting != nil }.map(\.key))
        changed.formUnion(
            accounts.updated.lazy.filter {
                ($0.row.forgetting, $0.row.closed) != ($0.before.forgetting, $0.before.closed)
            }.map(\.key))
        let scheduled = scheduled.changes
        changed.formUnion(scheduled.inserted.map(\.key.account))
        changed.formUnion(scheduled.updated.map(\.key.account))
        changed.formUnion(scheduled.deleted.map(\.account))
        let held = held.changes
        changed.formUnion(held.inserted.map(\.key.account))
        changed.formUnion(held.updated.map(\.key.account))
        changed.formUnion(held.deleted.map(\.account))
        return changed
    }
}
