public import Logging
public import Postgres
public import ServiceLifecycle
public import Vocabulary

/// Handles every message of a source exactly once, in the order of each key: as many workers as configured, each with
/// a connection and a thread of its own, sharing the partitions with the workers of all other replicas. One more
/// connection renews their leases while they are busy.
///
/// Ends gracefully: the batch in hand is finished, leases are given back, and the others are told at once.
public final class Consumer<Handler: BatchHandler>: Service, Sendable {
    private let workers: [Worker<Handler>]
    private let keeper: LeaseKeeper<Handler>

    /// - Parameters:
    ///   - source: the log to read.
    ///   - schema: the service's own schema, with its batches and leases.
    ///   - doorbells: rung by whoever appends to the source.
    ///   - handler: what to do with the messages.
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

    /// Works until it is cancelled or shut down gracefully.
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

/// How a consumer works. All have sane defaults.
public struct ConsumerSettings: Sendable {
    /// Connections that handle partitions, per process. One handles what all its partitions have ready in one transaction;
    /// several share the partitions, which pays where there are more cores than services.
    public var workers = 1
    /// Batch size and numbers of tries.
    public var limits = PartitionMachine<RecordedMessage>.Limits()
    /// How long a lease lasts unless renewed. A paused worker's partitions are taken over after this; a killed one's as soon
    /// as the others see that its connection is gone, within a second.
    public var leaseDuration: Duration = .seconds(5)
    /// How often a worker renews its leases.
    var renewalInterval: Duration { min(leaseDuration / 3, .seconds(1)) }
    /// A reader that hears nothing looks by itself after this.
    public var idlePoll: Duration = .seconds(1)
    /// Pauses between the tries of a message that fails by its own fault, and between connections.
    public var backoff = Backoff(initial: .milliseconds(20), maximum: .seconds(5), multiplier: 2)
    /// Pauses between the tries of a message that fails by trouble while others get through, or that no replica can read.
    public var troubleBackoff = Backoff(initial: .milliseconds(100), maximum: .seconds(60), multiplier: 2)
    /// Pauses between the tries of a message that ends its owners and may not be given up.
    public var crashBackoff = Backoff(initial: .seconds(1), maximum: .seconds(600), multiplier: 2)
    /// Pauses of a partition in which nothing gets through.
    public var restBackoff = Backoff(initial: .milliseconds(20), maximum: .seconds(5), multiplier: 2)
    /// Told when partitions have rested for a second because nothing got through, and when keys are parked.
    public var onTrouble: (@Sendable (ConsumerReport.Condition) -> Void)?
    /// Told when the log has forgotten what this consumer has not handled, with what to do; and nil when that was done.
    public var onTruncation: (@Sendable (String?) -> Void)?
    /// Named points at which a test holds or ends the process; nil in production.
    public var faultPoint: (@Sendable (FaultPoint) -> Void)?
    /// Has the server do everything of a batch before the fault point `beforeCommit`, so that its locks are held there.
    /// Costs a round trip; false in production.
    public var flushesBeforeCommit = false

    /// All its parts, as the properties describe them.
    public init() {}
}

/// Where a fault test may interfere with a worker.
public enum FaultPoint: String, Sendable, CaseIterable {
    case afterRead, afterLoad, beforeCommit, afterCommit
}
