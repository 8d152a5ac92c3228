package import Vocabulary

/// The numbers that contacts' rules use.
package struct ContactsLimits: Equatable, Sendable {
    /// per account
    package var contacts = 1000
    /// per account and direction, waiting for an answer
    package var requests = 100
    /// per account
    package var blocks = 1000
    /// between two pings to the same contact
    package var pingCooldown: Interval = .seconds(10)
    /// How long after the last recorded contact an account can still be reached. Only a device's first contact of a day
    /// is recorded, so this is 30 days after the last one, or up to one more.
    package var reachWindow: Interval = .days(31)
    /// How long a change of responders must last before the account is notified of it
    package var reachSettling: Interval = .seconds(60)

    package init() {}
}
