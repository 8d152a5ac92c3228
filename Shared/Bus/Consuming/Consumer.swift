package import Logging
package import Postgres
import QuartetVocabulary
import ServiceLifecycle

/// Handles every message of a log exactly once, in the order of each key. It has as many workers as configured, each
/// with a connection and a thread of its own, which share the partitions with the workers of all other replicas. One
/// more connection renews their leases while they are busy.
///
/// On a graceful shutdown it finishes the batch in hand, gives its leases back and wakes the other replicas.
package final class Consumer<Handler: BatchHandler>: Service, Sendable {
    private let workers: [Worker<Handler>]
    private let keeper: LeaseKeeper<Handler>

    /// - Parameters:
    ///   - schema: The service's own schema, with its batches and leases.
    ///   - doorbells: Hears the source's doorbell, unless the settings say to wait for polls.
    package init(
        source: Log, schema: String, settings: ConsumerSettings, configuration: Configuration, doorbells: Doorbells,
        logger: Logger, handler: Handler
    ) {
        let report = ConsumerReport(settings.onTrouble)
        let owners = (0..<settings.workers).map { _ in OwnerID.new() }
        let workers = owners.enumerated().map { slot, owner in
            var logger = logger
            logger[metadataKey: "source"] = "\(source.name)"
            logger[metadataKey: "worker"] = "\(owner)"
            let worker = Worker(
                source: source, schema: schema, owner: owner, slot: Int32(slot), process: owners,
                settings: settings, configuration: configuration, report: report, logger: logger, handler: handler)
            if !settings.waitsForPolls { doorbells.connect(worker.bell, to: source) }
            doorbells.onRing(of: worker.membershipChannel) { _ in worker.bell.ring { $0.membership = true } }
            return worker
        }
        self.workers = workers
        keeper = LeaseKeeper(workers, settings: settings, configuration: configuration, logger: logger)
    }

    /// Works until cancelled or shut down gracefully.
    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in workers {
                group.addTask { try await worker.run() }
            }
            group.addTask { [keeper] in await keeper.run() }
            try await group.waitForAll()
        }
    }
}
