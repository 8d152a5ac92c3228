package import Postgres
package import QuartetVocabulary

package struct ConsumerSettings: Sendable {
    /// Connections that handle partitions, per process. One connection handles whatever its partitions have ready in
    /// one transaction. Several share the partitions, which pays off with more cores than services.
    package var workers = 1
    package var limits = PartitionMachine<RecordedMessage>.Limits()
    /// How long a lease lasts unless renewed. A paused worker's partitions are taken over after this time; a killed
    /// worker's within a second, as soon as the others see that its connection is gone.
    package var leaseDuration: Duration = .seconds(5)
    var renewalInterval: Duration { min(leaseDuration / 3, .seconds(1)) }
    /// How often to look for messages without having heard a doorbell.
    package var idlePoll: Duration = .seconds(1)
    /// Whether to look only then, and to handle what came meanwhile together. For what isn't urgent: a busy log costs a few
    /// transactions a second.
    package var waitsForPolls = false
    /// Whether a consumer that never ran begins behind all messages that are there already, not where the log's history begins.
    package var beginsAtHead = false
    /// Pauses between retries of a message that fails by its own fault, and between connections.
    package var backoff = Backoff(initial: .milliseconds(20), maximum: .seconds(5), multiplier: 2)
    /// Pauses between retries of a message that fails by trouble while others succeed, or that no replica can read.
    package var troubleBackoff = Backoff(initial: .milliseconds(100), maximum: .seconds(60), multiplier: 2)
    /// Pauses between retries of a message that ends its owners and may not be given up.
    package var crashBackoff = Backoff(initial: .seconds(1), maximum: .seconds(600), multiplier: 2)
    /// Pauses of a partition in which nothing succeeds.
    package var restBackoff = Backoff(initial: .milliseconds(20), maximum: .seconds(5), multiplier: 2)
    /// Which messages that need care wait for each other.
    package var carefulTurn = FairTurn.ofProcess
    /// Called when partitions have rested for a second because nothing succeeds, when what needs care waits in vain, and when the
    /// number of parked keys changes.
    package var onTrouble: (@Sendable (ConsumerReport.Condition) -> Void)?
    /// Called with the problem and its remedy when the log has deleted messages that this consumer had not handled, and with nil
    /// when that is settled.
    package var onTruncation: (@Sendable (String?) -> Void)?
    /// Called at named points, where a test holds or ends the process; nil in production.
    package var faultPoint: (@Sendable (FaultPoint) -> Void)?
    /// Makes the server execute the whole batch before the fault point `beforeCommit`, so that its locks are held
    /// there. Costs a round trip; false in production.
    package var flushesBeforeCommit = false

    package init() {}
}

/// Where a fault test may interfere with a worker.
package enum FaultPoint: String, Sendable, CaseIterable {
    case afterRead, afterLoad, beforeCommit, afterCommit
}
