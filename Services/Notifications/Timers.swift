import Bus
public import NotificationsContract
public import Vocabulary
import WorkingSet

/// A command that an account's state wants to be sent at a time.
public struct WantedTimer: Hashable, Sendable {
    /// When it is due.
    public let due: Instant
    /// What to send then, under the account's key, on behalf of nobody.
    public let command: NotificationsCommand
}

extension WantedTimer {
    /// The same for the bus. One name for what is wanted once at a time.
    var timed: TimedCommand {
        let name =
            switch command {
            case .scheduling(.deliverScheduledNotification(let body)): "\(DeliverScheduledNotification.type)/\(body.id)"
            case .delivery(.deliverHeldNotification(let body)): "\(DeliverHeldNotification.type)/\(body.pace)"
            default: type(of: command.body).type
            }
        return TimedCommand(command.body, name: name, due: due)
    }
}

extension NotificationsRows {
    /// The timers that an account's state wants now, by when they are due: one for each notification that is scheduled
    /// or held back, and one for when the history will have something too old. A function of the state alone: whoever sets exactly
    /// these after each change has every deadline, and the rules drop what came too late to be true.
    ///
    /// Everything that is scheduled and held back for the account must be loaded.
    public func wantedTimers(of account: AccountID) -> [WantedTimer] {
        guard let row = accounts[account], row.closed == nil else { return [] }
        var timers = scheduled(for: account).map { scheduled in
            WantedTimer(
                due: scheduled.due,
                command: .scheduling(
                    .deliverScheduledNotification(.init(account: account, id: scheduled.id, due: scheduled.due))))
        }
        timers += held(for: account).map { place, held in
            WantedTimer(
                due: held.due,
                command: .delivery(
                    .deliverHeldNotification(.init(account: account, pace: place.pace.name, due: held.due))))
        }
        if let forgetting = row.forgetting {
            timers.append(.init(due: forgetting, command: .reading(.forgetOldNotifications(.init(account: account)))))
        }
        return timers.sorted { $0.due < $1.due }
    }
}
