import Logging
import Postgres
import QuartetVocabulary

/// Renews the leases of a consumer's workers while they are too busy to do it, from a connection of its own. So a
/// transaction may take longer than a lease lasts. A worker that is stuck loses its leases all the same.
struct LeaseKeeper<Handler: BatchHandler>: Sendable {
    let workers: [Worker<Handler>]
    let settings: ConsumerSettings
    private let configuration: Configuration
    private let logger: Logger
    private let bell = Bell()

    init(_ workers: [Worker<Handler>], settings: ConsumerSettings, configuration: Configuration, logger: Logger) {
        self.workers = workers
        self.settings = settings
        self.logger = logger
        var configuration = configuration
        if let first = workers.first {
            configuration.parameters["application_name"] = first.leases.keeperName(first.leases.owner)
        }
        self.configuration = configuration
    }

    /// Works until cancelled or shut down gracefully.
    func run() async {
        let loop = ConnectionLoop(configuration: configuration, backoff: settings.backoff, bell: bell, logger: logger)
        await loop.run { [self] database in
            while !bell.wait(min(settings.leaseDuration / 4, .seconds(1))).stop {
                workers.first?.metrics.turn(settings.carefulTurn.age())
                for worker in workers where worker.tenure.needsRenewal(after: settings.renewalInterval * 1.5) {
                    let asked = ContinuousClock.now
                    try database.execute(worker.leases.heartbeat(cannot: worker.cannot))
                    try database.execute(worker.leases.renewAll())
                    worker.tenure.renewed(asked, until: asked + settings.leaseDuration)
                }
            }
        }
    }
}
