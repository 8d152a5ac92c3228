package import Logging
package import Postgres
package import QuartetVocabulary
import ServiceLifecycle
import Synchronization

/// Reads a log as it grows, once per process however many subscribers there are, and offers each row to the subscribers of
/// its key and to the observers that want it.
///
/// One indexed read per doorbell covers all rung partitions; without doorbells, it looks at each idle poll. Rows that nobody
/// here wants aren't decoded. In a backlog, their bodies aren't even read.
package final class Tail: Service, Sendable {
    struct SubscriberID: Hashable, Sendable { let number: UInt64 }

    struct Registry: Sendable {
        var subscribers: [Key: [SubscriberID: SubscriptionBuffer]] = [:]
        /// How many subscribers there are, over all keys.
        var served = 0
        var observers: [Observer] = []
        var last: UInt64 = 0
        /// Nil until the first connection.
        var place: Place?
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    /// What an observer gets, in order.
    package enum Observation: Sendable {
        case row(RecordedMessage)
        /// A connection but the first: the server may have lost what wasn't flushed.
        /// - hasMissedRows: The log is in another incarnation, and this one's rows so far were not offered.
        case reconnected(hasMissedRows: Bool)
    }

    /// Wants rows whatever their key.
    struct Observer: Sendable {
        let isWanted: @Sendable (RowHeading) -> Bool
        let observe: @Sendable (Observation) -> Void
    }

    /// How far each partition was read, and in which incarnation of the log.
    struct Place: Sendable {
        var positions: [Position]
        let incarnation: Incarnation
    }

    package let log: Log
    private let configuration: Configuration
    private let logger: Logger
    private let idlePoll: Duration
    private let backoff: Backoff
    private let bell = Bell()
    let registry = Mutex(Registry())
    let metrics: TailMetrics

    package init(
        log: Log, idlePoll: Duration = .seconds(1),
        backoff: Backoff = Backoff(initial: .milliseconds(20), maximum: .seconds(2), multiplier: 2),
        configuration: Configuration, doorbells: Doorbells, logger: Logger
    ) {
        self.log = log
        self.idlePoll = idlePoll
        self.backoff = backoff
        self.configuration = configuration.named("tail")
        var logger = logger
        logger[metadataKey: "log"] = "\(log.name)"
        self.logger = logger
        metrics = TailMetrics(log: log.name)
        doorbells.connect(bell, to: log)
    }

    /// How far each partition was read; empty before the first connection.
    var positions: [Position] { registry.withLock { $0.place?.positions ?? [] } }

    // MARK: Registering

    /// Offers every row of `key` from now on. Returns how far the tail has read: rows up to there aren't offered.
    func register(_ subscriber: SubscriptionBuffer, to key: Key) async throws -> (SubscriberID, Position, Incarnation) {
        while true {
            await ready()
            try Task.checkCancellation()
            let registered: (SubscriberID, Position, Incarnation)? = registry.withLock { registry in
                guard let place = registry.place else { return nil }
                registry.last += 1
                let id = SubscriberID(number: registry.last)
                registry.subscribers[key, default: [:]][id] = subscriber
                registry.served += 1
                metrics.serves(registry.served)
                return (id, place.positions[Int(log.partition(of: key).number)], place.incarnation)
            }
            if let registered { return registered }
        }
    }

    func unregister(_ id: SubscriberID, from key: Key) {
        registry.withLock { registry in
            guard registry.subscribers[key]?.removeValue(forKey: id) != nil else { return }
            registry.served -= 1
            metrics.serves(registry.served)
            if registry.subscribers[key]?.isEmpty == true { registry.subscribers[key] = nil }
        }
    }

    /// Takes note that a subscriber has come as far as the tail has read, if it has taken everything that it was offered. Returns
    /// whether that is further than it was.
    func advance(_ subscriber: SubscriptionBuffer, registeredAs id: SubscriberID, to key: Key) -> Bool {
        // Under the registry's lock, nothing is read and not offered.
        registry.withLock { registry in
            guard registry.subscribers[key]?[id] != nil, let place = registry.place else { return false }
            return subscriber.advance(to: place.positions[Int(log.partition(of: key).number)])
        }
    }

    /// Offers the wanted rows to `observer`, on the tail's thread. Neither closure may block. Register before `run()`.
    package func observe(
        where isWanted: @escaping @Sendable (RowHeading) -> Bool,
        _ observer: @escaping @Sendable (Observation) -> Void
    ) {
        registry.withLock { $0.observers.append(Observer(isWanted: isWanted, observe: observer)) }
    }

    /// Returns once the tail has read where the log ends and misses nothing from then on, or when the task is cancelled.
    package func ready() async {
        let number = registry.withLock { registry in
            registry.last += 1
            return registry.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = registry.withLock { registry in
                    let isOver = registry.place != nil || Task.isCancelled
                    if !isOver { registry.waiters[number] = continuation }
                    return isOver
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            registry.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }

    /// The log's present incarnation, as far as it is known.
    var incarnation: Incarnation? { registry.withLock { $0.place?.incarnation } }

    // MARK: Reading

    /// Reads until cancelled or shut down gracefully.
    package func run() async throws {
        let loop = ConnectionLoop(configuration: configuration, backoff: backoff, bell: bell, logger: logger)
        await loop.run { [self] database in try readUntilStopped(database) }
    }

    private func readUntilStopped(_ database: Database) throws {
        try open(database)
        var rung = Set(log.partitions)
        var nextPoll = ContinuousClock.now + idlePoll
        while true {
            if !rung.isEmpty { rung = try read(rung, database) }
            let rings = rung.isEmpty ? bell.wait(nextPoll - .now) : bell.take()
            if rings.stop { return }
            rung.formUnion(rings.partitions)
            let isPollDue = ContinuousClock.now >= nextPoll
            if rings.all || isPollDue { rung = Set(log.partitions) }
            if isPollDue { nextPoll = .now + idlePoll }
        }
    }

    /// Finds where to begin: where it stopped, or, in another incarnation, the log's end.
    private func open(_ database: Database) throws {
        let incarnation = try Incarnation.current(database)
        let heads = try database.query(
            "SELECT \(unescaped: log.partitions.map { log.head($0) }.joined(separator: ", "))")
        guard let row = heads.only else { return }
        let positions = try log.partitions.indices.map { Position(try row.decode($0, as: Int64.self)) }
        let (waiters, interrupted, observers, hasMissedRows) = registry.withLock { registry in
            var interrupted: [SubscriptionBuffer] = []
            let observers = registry.place == nil ? [] : registry.observers
            let isNew = registry.place?.incarnation != incarnation
            if isNew {
                interrupted = registry.subscribers.values.flatMap(\.values)
                registry.subscribers = [:]
                registry.served = 0
                metrics.serves(0)
                registry.place = Place(positions: positions, incarnation: incarnation)
            }
            defer { registry.waiters = [:] }
            return (registry.waiters, interrupted, observers, isNew)
        }
        for observer in observers { observer.observe(.reconnected(hasMissedRows: hasMissedRows)) }
        for subscriber in interrupted { subscriber.interrupt() }
        for waiter in waiters.values { waiter.resume() }
    }
}
