import Logging
import Postgres
import ServiceLifecycle
import Vocabulary

/// One connection of a consumer and the thread on which its partitions are handled, one batch at a time.
///
/// The thread's loop is synchronous: wake, look after the leases when due, read all rung partitions in one round trip,
/// then per partition two round trips a batch: `BEGIN; load`, and `save; append; batch; COMMIT; ring; next read`.
final class Worker<Handler: BatchHandler>: Sendable {
    let bell = Bell()
    let source: Log
    let leases: LeaseStatements
    let parking: ParkingStatements
    let metrics: ConsumerMetrics
    let settings: ConsumerSettings
    private let configuration: Configuration
    let logger: Logger
    let handler: Handler

    init(
        source: Log, schema: String, owner: OwnerID, slot: Int32, settings: ConsumerSettings,
        configuration: Configuration, logger: Logger, handler: Handler
    ) {
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
        // A paused process must not hold others up longer than its lease.
        configuration.settings["idle_in_transaction_session_timeout"] =
            "\(Int(settings.leaseDuration * 0.6 / .milliseconds(1)))ms"
        configuration.blockerPatience = settings.leaseDuration
        self.configuration = configuration
    }

    var membershipChannel: String { leases.channel }

    /// Works until shut down, on one connection after another.
    func run() async throws {
        let loop = ConnectionLoop(
            configuration: configuration, backoff: settings.backoff, bell: bell, logger: logger)
        await loop.run { [self] database in try WorkerLoop(self, database).run() }
    }
}
