import Bus
import Logging
import Metrics
import Postgres
import QuartetSessionClientOrchestration
import QuartetVocabulary
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Keeps a synthetic person in each partition, whose alarm goes the whole way of people's: it opens them, and checks in for them
/// when the alarm has arrived. Nothing else is done for them. How late they are is the gauge `quartet_canary_lateness_seconds`.
struct CanaryKeeper: Service {
    let pool: Pool
    let services: ServiceConnections
    /// How often each is missed; nil if never.
    let interval: Interval?
    let clock: DatabaseClock
    let logger: Logger

    /// How long a command's outcome is waited for.
    private static let patience: Duration = .seconds(10)
    private let underWay = UnderWay()

    /// The partitions for which something is being sent. One that is stuck doesn't hold up the others.
    private final class UnderWay: Sendable {
        private let partitions = Mutex<Set<Partition>>([])

        func begin(_ partition: Partition) -> Bool { partitions.withLock { $0.insert(partition).inserted } }
        func end(_ partition: Partition) { partitions.withLock { _ = $0.remove(partition) } }
    }

    init(pool: Pool, services: ServiceConnections, interval: Interval?, clock: DatabaseClock, logger: Logger) {
        self.pool = pool
        self.services = services
        self.interval = interval
        self.clock = clock
        self.logger = logger
    }

    /// Looks often enough that an alarm doesn't stay on for long after it has arrived.
    private var pause: Duration {
        guard let interval else { return .seconds(5) }
        return min(max(interval.duration / 20, .milliseconds(200)), .seconds(5))
    }

    func run() async throws {
        let begun = ContinuousClock.now
        try? await cancelWhenGracefulShutdown {
            try await withThrowingDiscardingTaskGroup { group in
                while true {
                    await look(since: begun) { work in group.addTask { await work() } }
                    try await Task.sleep(for: pause)
                }
            }
        }
    }

    private func look(
        since begun: ContinuousClock.Instant, _ start: (@escaping @Sendable () async -> Void) -> Void
    ) async {
        do {
            let now = clock.now
            for canary in try await pool.withConnection({ try $0.canaries() }) {
                record(canary, since: begun)
                guard let step = CanaryStep(for: canary, every: interval, at: now), underWay.begin(canary.partition)
                else { continue }
                start {
                    await send(step, for: canary, at: now)
                    underWay.end(canary.partition)
                }
            }
        } catch {
            // The check of the bus says when the database is away.
            logger.debug("can't look for canaries", metadata: ["error": "\(error)"])
        }
    }

    private func record(_ canary: Canary, since begun: ContinuousClock.Instant) {
        guard interval != nil else { return }
        // There is no deadline yet to be late for.
        let late: Duration = canary.leg == "opened" ? ContinuousClock.now - begun : canary.late ?? .zero
        Gauge(label: "quartet_canary_lateness_seconds", dimensions: [("partition", "\(canary.partition)")])
            .record(late / .seconds(1))
    }

    /// What isn't done by this is tried again with the next look.
    private func send(_ step: CanaryStep, for canary: Canary, at now: Instant) async {
        do {
            for (domain, command) in try step.commands(for: canary, every: interval, at: now) {
                _ = try await services[domain].sender.send(command, mayBeRepeated: true, patience: Self.patience)
            }
        } catch {
            logger.debug(
                "can't do what a canary needs",
                metadata: ["partition": "\(canary.partition)", "error": "\(error)"])
        }
    }
}
