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

    package init() {}
}
