package import QuartetVocabulary

/// The numbers that notifications' rules use.
package struct NotificationsLimits: Equatable, Sendable {
    /// The history's length. The oldest of the least urgent notifications makes room for a new one.
    package var history = 5000
    /// The same of a canary, whose notifications nobody reads.
    package var canaryHistory = 20
    /// A critical notification doesn't make room for this long, as long as there are others.
    package var criticalAge: Interval = .days(1)
    /// How many notifications about one other account there may be before one of these makes room for the next.
    package var share: Int { max(history / 5, 1) }
    /// How far the history goes back.
    package var age: Interval = .days(30)
    /// Scheduled notifications per account.
    package var scheduled = 100
    /// Reminders that may come within 24 hours. They are the only notifications that somebody gets for no other reason than that they ask.
    package var dailyReminders = 30
    /// How far ahead a notification may be scheduled.
    package var daysAhead: Int64 = 366
    /// How many notifications of one ``Pace`` are delivered at once within ``burstWindow``: three times something and
    /// its end. 0 means no limit.
    package var burst = 6
    package var burstWindow: Interval = .minutes(10)
    /// The time between two deliveries after a burst, and so the longest that one is held back.
    package var burstInterval: Interval = .minutes(1)
    /// Devices per account.
    package var pushDevices = 20
    /// Waiting pushes per device. The oldest of the least urgent ones makes room for a new one.
    package var pushes = 500
    /// Of these, critical ones that never make room.
    package var criticalPushes = 100

    package func history(of account: AccountID) -> Int { account.isCanary ? min(canaryHistory, history) : history }

    package init() {}
}
