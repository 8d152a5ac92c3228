import Logging
import Postgres
import QuartetVocabulary
import ServiceLifecycle
import Synchronization

/// One connection of a consumer, and the thread that handles its partitions, one batch at a time.
///
/// The thread's loop is synchronous: wake, renew leases when due, read all rung partitions in one round trip, then take
/// two round trips per batch: `BEGIN; load`, and `save; append; batch; COMMIT; ring; next read`.
final class Worker<Handler: BatchHandler>: Sendable {
    let bell = Bell()
    let tenure = Tenure()
    private let unreadable = Mutex<Set<String>>([])
    private let lost = Mutex<[Partition: [Position: Int]]>([:])
    let source: Log
    let leases: LeaseStatements
    let parking: ParkingStatements
    let metrics: ConsumerMetrics
    let settings: ConsumerSettings
    private let configuration: Configuration
    let logger: Logger
    let handler: Handler
    let ordering: Ordering<RecordedMessage>
    private let report: ConsumerReport

    init(
        source: Log, schema: String, owner: OwnerID, slot: Int32, process: [OwnerID], settings: ConsumerSettings,
        configuration: Configuration, report: ConsumerReport, logger: Logger, handler: Handler
    ) {
        self.report = report
        self.source = source
        self.settings = settings
        self.logger = logger
        self.handler = handler
        ordering = Ordering(handler)
        leases = LeaseStatements(
            schema: schema, source: source.name, owner: owner, slot: slot, process: process,
            duration: settings.leaseDuration)
        metrics = ConsumerMetrics(source: source)
        parking = ParkingStatements(schema: schema, source: source.name, owner: owner)
        var configuration = configuration
        configuration.parameters["application_name"] = leases.ownerName(owner)
        // A paused process must not hold others up longer than its lease, nor must one that waits for a lock.
        for (name, limit) in [
            ("idle_in_transaction_session_timeout", settings.leaseDuration * 0.6),
            ("lock_timeout", settings.leaseDuration * 0.5),
        ] {
            configuration.settings[name] = "\(max(1, Int(limit / .milliseconds(1))))ms"
        }
        // Shorter than the lock time-out, so that a silent blocker is ended first.
        configuration.blockerPatience = settings.leaseDuration * 0.3
        self.configuration = configuration
    }

    var membershipChannel: String { leases.channel }

    /// What this worker couldn't read, which outlasts connections, and what all of its process lack at the moment.
    var cannot: Set<String> {
        let unreadable = unreadable.withLock { $0 }
        return isTurnLate ? unreadable.union([Careful.turn]) : unreadable
    }

    /// Whether something careful of the process takes so long that what needs care should go to another process.
    var isTurnLate: Bool { settings.carefulTurn.isLate(forLeasesOf: settings.leaseDuration) }

    /// Returns false if this is already known.
    func learn(cannot need: String) -> Bool { unreadable.withLock { $0.insert(need).inserted } }

    // What ends the server's process may end all of its processes, and the notes of attempts with them, because those
    // aren't flushed. So losses are counted here.

    /// The connection was lost while this message was tried alone.
    func lostConnection(trying message: Careful) {
        lost.withLock { $0[message.partition, default: [:]][message.position, default: 0] += 1 }
    }

    /// These messages were handled, parked or given up.
    func forgetLosses(of positions: some Sequence<Position>, in partition: Partition) {
        lost.withLock { lost in
            guard lost[partition] != nil else { return }
            for position in positions { lost[partition]?[position] = nil }
            if lost[partition]?.isEmpty == true { lost[partition] = nil }
        }
    }

    /// How many connections were lost while the message at a position was tried alone. Others than these are forgotten.
    func losses(in partition: Partition, where isOpen: (Position) -> Bool) -> [Position: Int] {
        lost.withLock { lost in
            let kept = lost[partition]?.filter { isOpen($0.key) } ?? [:]
            lost[partition] = kept.isEmpty ? nil : kept
            return kept
        }
    }

    func report(_ condition: ConsumerReport.Condition) { report.report(condition, of: leases.slot) }

    /// Works until cancelled or shut down gracefully.
    func run() async throws {
        let loop = ConnectionLoop(
            configuration: configuration, backoff: settings.backoff, bell: bell, logger: logger)
        await loop.run { [self] database in try WorkerLoop(self, database).run() }
    }
}
