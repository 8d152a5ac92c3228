import Logging
import Postgres
import ServiceLifecycle
import Synchronization
import Vocabulary

/// One connection of a consumer and the thread on which its partitions are handled, one batch at a time.
///
/// The thread's loop is synchronous: wake, look after the leases when due, read all rung partitions in one round trip,
/// then per partition two round trips a batch: `BEGIN; load`, and `save; append; batch; COMMIT; ring; next read`.
final class Worker<Handler: BatchHandler>: Sendable {
    let bell = Bell()
    /// What its thread and the keeper of its leases share.
    let tenure = Tenure()
    private let unreadable = Mutex<Set<String>>([])
    let source: Log
    let leases: LeaseStatements
    let parking: ParkingStatements
    let metrics: ConsumerMetrics
    let settings: ConsumerSettings
    private let configuration: Configuration
    let logger: Logger
    let handler: Handler
    private let report: ConsumerReport

    init(
        source: Log, schema: String, owner: OwnerID, slot: Int32, settings: ConsumerSettings,
        configuration: Configuration, report: ConsumerReport, logger: Logger, handler: Handler
    ) {
        self.report = report
        self.source = source
        self.settings = settings
        self.logger = logger
        self.handler = handler
        leases = LeaseStatements(
            schema: schema, source: source.name, owner: owner, slot: slot, duration: settings.leaseDuration)
        metrics = ConsumerMetrics(source: source)
        parking = ParkingStatements(schema: schema, source: source.name, owner: owner)
        var configuration = configuration
        configuration.parameters["application_name"] = leases.ownerName(owner)
        // A paused process must not hold others up longer than its lease, nor must who waits for a lock.
        for (name, limit) in [
            ("idle_in_transaction_session_timeout", settings.leaseDuration * 0.6),
            ("lock_timeout", settings.leaseDuration * 0.5),
        ] {
            configuration.settings[name] = "\(max(1, Int(limit / .milliseconds(1))))ms"
        }
        // Before the wait for a lock is given up.
        configuration.blockerPatience = settings.leaseDuration * 0.3
        self.configuration = configuration
    }

    var membershipChannel: String { leases.channel }

    /// What this worker has met and couldn't read; it outlasts connections.
    var cannot: Set<String> { unreadable.withLock { $0 } }

    /// Notes something that couldn't be read; false if that is known already.
    func learn(cannot need: String) -> Bool { unreadable.withLock { $0.insert(need).inserted } }

    /// - Parameters:
    ///   - resting: why partitions rest; nil if none does.
    ///   - parked: how many keys are parked.
    func report(resting: String?, parked: Int) {
        report.report(ConsumerReport.Condition(resting: resting, parked: parked), of: leases.slot)
    }

    /// Works until shut down, on one connection after another.
    func run() async throws {
        let loop = ConnectionLoop(
            configuration: configuration, backoff: settings.backoff, bell: bell, logger: logger)
        await loop.run { [self] database in try WorkerLoop(self, database).run() }
    }
}
