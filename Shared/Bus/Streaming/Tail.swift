public import Logging
public import Postgres
public import ServiceLifecycle
import Synchronization
public import Vocabulary

/// Reads a log as it grows, once per process however many subscribers there are, and offers each row to those who
/// asked for its key and to the waiters for its command's outcome.
///
/// One indexed read per doorbell for all rung partitions together; without doorbells it looks every idle poll. Rows that
/// nobody here wants aren't decoded; in a backlog, their bodies aren't read either.
public final class Tail: Service, Sendable {
    struct SubscriberID: Hashable, Sendable { let number: UInt64 }

    struct Registry: Sendable {
        var subscribers: [Key: [SubscriberID: SubscriptionBuffer]] = [:]
        /// How many subscribers there are, over all keys.
        var served = 0
        var observers: [Observer] = []
        var polls: [@Sendable () -> Void] = []
        var restarts: [@Sendable () -> Void] = []
        var reconnects: [@Sendable () -> Void] = []
        var last: UInt64 = 0
        /// Nil until the first connection.
        var place: Place?
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    /// Wants rows whatever their key.
    struct Observer: Sendable {
        let isWanted: @Sendable (RowHeading) -> Bool
        let observe: @Sendable (RecordedMessage) -> Void
    }

    /// How far each partition was read, in which life of the log.
    struct Place: Sendable {
        var positions: [Position]
        let incarnation: Incarnation
    }

    /// The log.
    public let log: Log
    private let configuration: Configuration
    private let logger: Logger
    private let idlePoll: Duration
    private let backoff: Backoff
    private let bell = Bell()
    let registry = Mutex(Registry())
    let metrics: TailMetrics

    /// All its parts, as the properties describe them.
    public init(
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

    // MARK: Registering

    /// Offers every row of `key` that comes after now. Returns how far the tail has come: rows up to there aren't
    /// offered.
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

    /// Offers the rows that are wanted to `observer`, on the tail's thread and in order, calls `poll` at each idle poll,
    /// `restart` when the log has begun another life, in which rows may have been missed, and `reconnect` on each connection
    /// after the first. None may block. Register before `run()`.
    public func observe(
        where isWanted: @escaping @Sendable (RowHeading) -> Bool,
        _ observer: @escaping @Sendable (RecordedMessage) -> Void, poll: @escaping @Sendable () -> Void = {},
        restart: @escaping @Sendable () -> Void = {}, reconnect: @escaping @Sendable () -> Void = {}
    ) {
        registry.withLock { registry in
            registry.observers.append(Observer(isWanted: isWanted, observe: observer))
            registry.polls.append(poll)
            registry.restarts.append(restart)
            registry.reconnects.append(reconnect)
        }
    }

    /// Returns when the tail has read where the log ends, from when on it misses nothing; or when the task is cancelled.
    public func ready() async {
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

    // MARK: Reading

    /// Works until it is cancelled or shut down gracefully.
    public func run() async throws {
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
            // Not at each ring: anybody may ring as often as they like.
            if isPollDue {
                for poll in registry.withLock({ $0.polls }) { poll() }
                nextPoll = .now + idlePoll
            }
        }
    }

    /// Finds where to begin: where it stopped, or the log's end. In another incarnation positions mean nothing.
    private func open(_ database: Database) throws {
        let incarnation = try Incarnation.current(database)
        let heads = try database.query(
            "SELECT \(unescaped: log.partitions.map { log.head($0) }.joined(separator: ", "))")
        guard let row = heads.only else { return }
        let positions = try log.partitions.indices.map { Position(try row.decode($0, as: Int64.self)) }
        let (waiters, interrupted, actions) = registry.withLock { registry in
            var interrupted: [SubscriptionBuffer] = []
            var actions = registry.place == nil ? [] : registry.reconnects
            if registry.place?.incarnation != incarnation {
                if registry.place != nil { actions = registry.restarts + actions }
                interrupted = registry.subscribers.values.flatMap(\.values)
                registry.subscribers = [:]
                registry.served = 0
                metrics.serves(0)
                registry.place = Place(positions: positions, incarnation: incarnation)
            }
            defer { registry.waiters = [:] }
            return (registry.waiters, interrupted, actions)
        }
        for action in actions { action() }
        for subscriber in interrupted { subscriber.interrupt() }
        for waiter in waiters.values { waiter.resume() }
    }
}
