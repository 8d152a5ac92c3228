import Logging
public import Postgres
import Synchronization
public import Vocabulary

/// Joins streams of one log: the state at a position, then every change after it, with nothing missing and nothing
/// twice, across reconnects and restarts; or says that it must start again.
public struct StreamReader: Sendable {
    private let tail: Tail
    private let pool: Pool
    private let settings: Settings

    /// Limits. All have sane defaults.
    public struct Settings: Sendable {
        /// Events that wait for a slow subscriber, at most; then it is told that it fell behind.
        public var bufferLimit = 1024
        /// How far back a resume reads the log, in positions; from further back it gets a snapshot.
        public var resumeLimit: Int64 = 100_000

        /// All its parts, as the properties describe them.
        public init() {}
    }

    /// - Parameters:
    ///   - tail: of the log that the streams are in.
    ///   - pool: connections that may read the log and what its owner publishes.
    public init(tail: Tail, pool: Pool, settings: Settings = Settings()) {
        self.tail = tail
        self.pool = pool
        self.settings = settings
    }

    /// Subscribes to the stream of `key`.
    /// - Parameters:
    ///   - token: where to go on; nil for a snapshot first.
    ///   - state: a scalar SQL expression of type json that gives the stream's state. It is read in one statement with
    ///     the position, so it must hold no volatile function.
    public func subscribe(to key: Key, from token: ResumeToken?, state: Query) async throws -> Subscription {
        let subscription = Subscription(limit: settings.bufferLimit, key: key, tail: tail)
        let (id, tailPosition, incarnation) = await tail.register(
            Tail.Subscriber(
                offer: { [weak subscription] in subscription?.offer($0) },
                interrupt: { [weak subscription] in subscription?.interrupt() }),
            to: key)
        subscription.registered(as: id, incarnation: incarnation)
        do {
            if let token, let between = try await resume(key, token, incarnation, through: tailPosition) {
                subscription.join(.resumed, at: token.position, between: between)
                return subscription
            }
            let (position, body) = try await snapshot(key, state)
            let between = try await read(key, after: position, through: tailPosition)
            subscription.join(
                .snapshot(body, isRefetched: token != nil), at: position, between: between)
            return subscription
        } catch {
            subscription.end()
            throw error
        }
    }

    /// The state and its position, in one statement: two would be wrong whenever somebody commits in between.
    private func snapshot(_ key: Key, _ state: Query) async throws -> (Position, [UInt8]) {
        let head = tail.log.head(tail.log.partition(of: key))
        return try await pool.withConnection { database in
            let rows = try database.query("SELECT \(unescaped: head) AS position, (\(state))::json AS state")
            guard let row = rows.only else {
                throw BusError.unreadable(LogName(schema: "snapshot", table: "\(key)"), "no row")
            }
            return (
                Position(try row.decode(0, as: Int64.self)),
                row.bytes(1) { $0.map { [UInt8]($0) } ?? Array("null".utf8) }
            )
        }
    }

    /// What came after the token, or nil when it can't be gone on from: another incarnation, before the kept history,
    /// ahead of the log, or too far back.
    private func resume(
        _ key: Key, _ token: ResumeToken, _ incarnation: Incarnation, through end: Position
    ) async throws -> [RecordedMessage]? {
        let partition = tail.log.partition(of: key)
        guard token.log == tail.log.name, token.incarnation == incarnation, token.partition == partition,
            token.position <= end, end.number - token.position.number <= settings.resumeLimit
        else { return nil }
        let log = tail.log
        return try await pool.withConnection { database in
            // One transaction: retention must not move the beginning between the look and the read.
            try database.transaction(isolation: .repeatableRead, readOnly: true) { database in
                let base = try database.query(
                    """
                    SELECT base_position FROM \(unescaped: "\(log.name)_partition") WHERE partition = \(partition.number)
                    """
                ).map { try $0.decode(0, as: Int64.self) }
                guard let base = base.first, base <= token.position.number else { return nil }
                return try database.query(log.read(key, after: token.position, through: end))
                    .map { try RecordedMessage($0, of: log.name) }
            }
        }
    }

    private func read(_ key: Key, after position: Position, through end: Position) async throws -> [RecordedMessage] {
        guard position < end else { return [] }
        let log = tail.log
        return try await pool.withConnection { database in
            try database.query(log.read(key, after: position, through: end)).map {
                try RecordedMessage($0, of: log.name)
            }
        }
    }
}

/// One subscriber's view of a stream: take the beginning, then `next()` until it ends.
///
/// Bounded: a subscriber that doesn't take what it is offered is told that it fell behind, and costs nobody else
/// anything.
public final class Subscription: Sendable {
    /// How the subscription begins.
    public enum Beginning: Sendable {
        /// The state as JSON. `isRefetched` when a token was given that can't be gone on from.
        case snapshot([UInt8], isRefetched: Bool)
        /// Exactly after the token.
        case resumed
    }

    /// What a subscriber gets.
    public enum Element: Sendable {
        case event(RecordedMessage, ResumeToken)
        /// Too much waited. Subscribe again with the last token.
        case fellBehind
    }

    private struct State: Sendable {
        var machine: SubscriptionMachine<RecordedMessage>
        var beginning: Beginning?
        var id: Tail.SubscriberID?
        var incarnation: Incarnation?
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let key: Key
    private let tail: Tail
    private let state: Mutex<State>

    init(limit: Int, key: Key, tail: Tail) {
        self.key = key
        self.tail = tail
        state = Mutex(State(machine: SubscriptionMachine(limit: limit)))
    }

    deinit { end() }

    /// Where this subscription began.
    public var beginning: Beginning { state.withLock { $0.beginning ?? .resumed } }

    /// Where the subscriber stands after the last element that it took.
    public var token: ResumeToken? {
        state.withLock { state in
            state.incarnation.map { token(at: state.machine.given, $0) }
        }
    }

    /// The next element; nil when the subscription or the task has ended.
    public func next() async -> Element? {
        while true {
            let element: Element?? = state.withLock { state in
                switch state.machine.next() {
                case .event(let position, let message):
                    state.incarnation.map { .event(message, token(at: position, $0)) }
                case .fellBehind: .some(.fellBehind)
                case .ended: .some(nil)
                case .nothing: nil
                }
            }
            if let element { return element }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state in
                        if state.machine.hasNext || Task.isCancelled { return true }
                        state.waiter = continuation
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                end()
            }
            if Task.isCancelled { return nil }
        }
    }

    /// Leaves the stream. Whoever waits in `next()` gets nil.
    public func end() {
        let (id, waiter) = state.withLock { state in
            state.machine.end()
            defer { (state.id, state.waiter) = (nil, nil) }
            return (state.id, state.waiter)
        }
        if let id { tail.unregister(id, from: key) }
        waiter?.resume()
    }

    func registered(as id: Tail.SubscriberID, incarnation: Incarnation) {
        state.withLock { state in
            state.id = id
            state.incarnation = incarnation
        }
    }

    func join(_ beginning: Beginning, at position: Position, between: [RecordedMessage]) {
        state.withLock { state in
            state.beginning = beginning
            state.machine.join(at: position, between: between.map { ($0.position, $0) })
        }
    }

    func offer(_ message: RecordedMessage) {
        guard message.message.kind == .event else { return }
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard state.machine.offer(message, at: message.position) else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// The log began another life: what comes next can't be told from here.
    func interrupt() {
        let waiter = state.withLock { state in
            state.machine.interrupt()
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    private func token(at position: Position, _ incarnation: Incarnation) -> ResumeToken {
        ResumeToken(
            log: tail.log.name, incarnation: incarnation, partition: tail.log.partition(of: key), position: position)
    }
}
