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
        let buffer = SubscriptionBuffer(limit: settings.bufferLimit)
        let (id, tailPosition, incarnation) = try await tail.register(buffer, to: key)
        // From here on whoever holds the subscription, and nobody else, keeps it registered.
        let subscription = Subscription(buffer, registeredAs: id, key: key, tail: tail, incarnation: incarnation)
        if let token, let between = try await resume(key, token, incarnation, through: tailPosition) {
            buffer.join(.resumed, at: token.position, between: between)
            return subscription
        }
        let (position, body) = try await snapshot(key, state)
        let between = try await read(key, after: position, through: tailPosition)
        buffer.join(.snapshot(body, isRefetched: token != nil), at: position, between: between)
        return subscription
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

    private let buffer: SubscriptionBuffer
    private let id: Tail.SubscriberID
    private let key: Key
    private let tail: Tail
    private let incarnation: Incarnation

    init(
        _ buffer: SubscriptionBuffer, registeredAs id: Tail.SubscriberID, key: Key, tail: Tail, incarnation: Incarnation
    ) {
        self.buffer = buffer
        self.id = id
        self.key = key
        self.tail = tail
        self.incarnation = incarnation
    }

    deinit { end() }

    /// Where this subscription began.
    public var beginning: Beginning { buffer.beginning }

    /// Where the subscriber stands after the last element that it took.
    public var token: ResumeToken { token(at: buffer.given) }

    /// The next element; nil when the subscription or the task has ended.
    public func next() async -> Element? {
        while true {
            switch buffer.next() {
            case .event(let position, let message): return .event(message, token(at: position))
            case .fellBehind: return .fellBehind
            case .ended: return nil
            case .nothing: break
            }
            await withTaskCancellationHandler {
                await buffer.wait()
            } onCancel: {
                // Not end(): a handler that waits for the tail's lock, under which the tail wakes this very task, is a
                // deadlock in waiting.
                buffer.end()
            }
            if Task.isCancelled {
                end()
                return nil
            }
        }
    }

    /// Leaves the stream. Whoever waits in `next()` gets nil.
    public func end() {
        tail.unregister(id, from: key)
        buffer.end()
    }

    private func token(at position: Position) -> ResumeToken {
        ResumeToken(
            log: tail.log.name, incarnation: incarnation, partition: tail.log.partition(of: key), position: position)
    }
}
