public import Logging
public import Postgres
public import ServiceLifecycle
public import Vocabulary

/// Handles every message of a log exactly once, in the order of each key. It has as many workers as configured, each
/// with a connection and a thread of its own, which share the partitions with the workers of all other replicas. One
/// more connection renews their leases while they are busy.
///
/// On a graceful shutdown it finishes the batch in hand, gives its leases back and wakes the other replicas.
public final class Consumer<Handler: BatchHandler>: Service, Sendable {
    private let workers: [Worker<Handler>]
    private let keeper: LeaseKeeper<Handler>

    /// - Parameters:
    ///   - schema: The service's own schema, with its batches and leases.
    ///   - doorbells: Hears the source's doorbell.
    public init(
        source: Log, schema: String, settings: ConsumerSettings, configuration: Configuration, doorbells: Doorbells,
        logger: Logger, handler: Handler
    ) {
        let report = ConsumerReport(settings.onTrouble)
        let workers = (0..<settings.workers).map { slot in
            let owner = OwnerID.new()
            var logger = logger
            logger[metadataKey: "source"] = "\(source.name)"
            logger[metadataKey: "worker"] = "\(owner)"
            let worker = Worker(
                source: source, schema: schema, owner: owner, slot: Int32(slot), settings: settings,
                configuration: configuration, report: report, logger: logger, handler: handler)
            doorbells.connect(worker.bell, to: source)
            doorbells.onRing(of: worker.membershipChannel) { _ in worker.bell.ring { $0.membership = true } }
            return worker
        }
        self.workers = workers
        keeper = LeaseKeeper(workers, settings: settings, configuration: configuration, logger: logger)
    }

    /// Works until cancelled or shut down gracefully.
    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in workers {
                group.addTask { try await worker.run() }
            }
            group.addTask { [keeper] in await keeper.run() }
            try await group.waitForAll()
        }
    }
}

public struct ConsumerSettings: Sendable {
    /// Connections that handle partitions, per process. One connection handles whatever its partitions have ready in
    /// one transaction. Several share the partitions, which pays off with more cores than services.
    public var workers = 1
    public var limits = PartitionMachine<RecordedMessage>.Limits()
    /// How long a lease lasts unless renewed. A paused worker's partitions are taken over after this time; a killed
    /// worker's within a second, as soon as the others see that its connection is gone.
    public var leaseDuration: Duration = .seconds(5)
    var renewalInterval: Duration { min(leaseDuration / 3, .seconds(1)) }
    /// How often to look for messages without having heard a doorbell.
    public var idlePoll: Duration = .seconds(1)
    /// Pauses between retries of a message that fails by its own fault, and between connections.
    public var backoff = Backoff(initial: .milliseconds(20), maximum: .seconds(5), multiplier: 2)
    /// Pauses between retries of a message that fails by trouble while others succeed, or that no replica can read.
    public var troubleBackoff = Backoff(initial: .milliseconds(100), maximum: .seconds(60), multiplier: 2)
    /// Pauses between retries of a message that ends its owners and may not be given up.
    public var crashBackoff = Backoff(initial: .seconds(1), maximum: .seconds(600), multiplier: 2)
    /// Pauses of a partition in which nothing succeeds.
    public var restBackoff = Backoff(initial: .milliseconds(20), maximum: .seconds(5), multiplier: 2)
    /// Called when partitions have rested for a second because nothing succeeds, and when the number of parked keys
    /// changes.
    public var onTrouble: (@Sendable (ConsumerReport.Condition) -> Void)?
    /// Called with the problem and its remedy when the log has deleted messages that this consumer had not handled, and with nil
    /// when that is settled.
    public var onTruncation: (@Sendable (String?) -> Void)?
    /// Called at named points, where a test holds or ends the process; nil in production.
    public var faultPoint: (@Sendable (FaultPoint) -> Void)?
    /// Makes the server execute the whole batch before the fault point `beforeCommit`, so that its locks are held
    /// there. Costs a round trip; false in production.
    public var flushesBeforeCommit = false

    public init() {}
}

/// Where a fault test may interfere with a worker.
public enum FaultPoint: String, Sendable, CaseIterable {
    case afterRead, afterLoad, beforeCommit, afterCommit
}
