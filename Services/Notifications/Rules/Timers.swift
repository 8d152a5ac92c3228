package import NotificationsContract
package import Vocabulary

extension NotificationsRows {
    /// The timers that an account's state wants now, by when they are due: one for each notification that is scheduled
    /// or held back, and one for when the history will have something too old. A function of the state alone: whoever sets exactly
    /// these after each change has every deadline, and the rules drop what came too late to be true.
    ///
    /// Everything that is scheduled and held back for the account must be loaded.
    package func wantedTimers(of account: AccountID) -> [WantedTimer<NotificationsCommand>] {
        guard let row = accounts[account], row.closed == nil else { return [] }
        var timers = scheduled(for: account).map { scheduled in
            WantedTimer(
                NotificationsCommand.scheduling(
                    .deliverScheduledNotification(.init(account: account, id: scheduled.id, due: scheduled.due))),
                due: scheduled.due, part: "\(scheduled.id)")
        }
        timers += held(for: account).map { place, held in
            WantedTimer(
                .delivery(.deliverHeldNotification(.init(account: account, pace: place.pace.name, due: held.due))),
                due: held.due, part: place.pace.name)
        }
        if let forgetting = row.forgetting {
            timers.append(WantedTimer(.reading(.forgetOldNotifications(.init(account: account))), due: forgetting))
        }
        return timers.sorted { $0.due < $1.due }
    }
}
