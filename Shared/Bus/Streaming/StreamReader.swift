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
    private let metrics: JoinMetrics

    /// Limits. All have sane defaults.
    public struct Settings: Sendable {
        /// Events that wait for a slow subscriber, at most; then it is told that it fell behind.
        public var bufferLimit = 1024
        /// How many rows of its partition a stream may be behind and still go on; beyond, a snapshot is cheaper.
        public var resumeLimit = 1000
        /// Bytes of missed events' bodies, at most; the same beyond.
        public var resumeByteLimit = 1 << 20

        public init() {}
    }

    /// - Parameters:
    ///   - tail: of the log that the streams are in.
    ///   - pool: connections that may read the log and what its owner publishes.
    public init(tail: Tail, pool: Pool, settings: Settings = Settings()) {
        self.tail = tail
        self.pool = pool
        self.settings = settings
        metrics = JoinMetrics(log: tail.log.name)
    }

    /// Subscribes to the stream of `key`.
    /// - Parameters:
    ///   - token: where to go on; nil for a snapshot first.
    ///   - withState: whether to read the state also where the stream goes on.
    ///   - state: a scalar SQL expression of type json that gives the stream's state. It is read in one statement with
    ///     the position, so it must hold no volatile function.
    public func subscribe(
        to key: Key, from token: ResumeToken?, withState: Bool = false, state: Query
    ) async throws -> Subscription {
        let subscriptions = try await join([(key, token)], withStates: withState, state: state)
        guard let only = subscriptions.first else { throw BusError.unreadable(tail.log.name, "nothing was joined") }
        return only
    }

    /// Subscribes to the streams of many accounts with one statement, each with a snapshot first.
    /// - Parameter state: as for one stream, in terms of `stream.account`.
    /// - Returns: the subscriptions in the order of the accounts.
    public func subscribe(to accounts: [AccountID], state: Query) async throws -> [Subscription] {
        try await join(accounts.map { (.account($0), nil) }, withStates: true, state: state)
    }

    /// Whether joining again may work: the database is away, busy or behind.
    public static func isPassing(_ error: any Error) -> Bool {
        if case BusError.behind = error { return true }
        return error is PostgresError
    }

    private func join(
        _ streams: [(key: Key, token: ResumeToken?)], withStates: Bool, state: Query
    ) async throws -> [Subscription] {
        guard !streams.isEmpty else { return [] }
        let (log, limits) = (tail.log, settings)
        var joining: [Joining] = []
        var requests: [JoinRequest] = []
        for (key, token) in streams {
            let buffer = SubscriptionBuffer(limit: limits.bufferLimit)
            let (id, tailPosition, incarnation) = try await tail.register(buffer, to: key)
            // From here on whoever holds the subscription, and nobody else, keeps it registered.
            let subscription = Subscription(buffer, registeredAs: id, key: key, tail: tail, incarnation: incarnation)
            joining.append(
                Joining(subscription: subscription, buffer: buffer, hasToken: token != nil, tailPosition: tailPosition))
            let isOurs =
                token?.log == log.name && token?.incarnation == incarnation
                && token?.partition == log.partition(of: key)
            requests.append(JoinRequest(key: key, after: isOurs ? token?.position : nil))
        }
        let joined = try await pool.withConnection { [requests] database in
            try log.join(requests, state: state, withStates: withStates, limits: limits, database)
        }
        metrics.joined(joined.count)
        for (number, stream) in joined.enumerated() { try joining[number].begin(stream, after: requests[number].after) }
        return joining.map(\.subscription)
    }

    /// A stream that is being joined: registered with the tail, and not begun.
    private struct Joining {
        let subscription: Subscription
        let buffer: SubscriptionBuffer
        let hasToken: Bool
        let tailPosition: Position

        func begin(_ stream: JoinedStream, after: Position?) throws {
            // What the tail has read isn't offered, so it must be in the state or among the events.
            guard stream.position >= tailPosition else { throw BusError.behind(subscription.log) }
            let state = stream.state.map { Subscription.State(body: $0, position: stream.position) }
            if let events = stream.events, let after {
                buffer.join(.resumed, state: state, at: after, between: events)
            } else {
                let body = stream.state ?? Array("null".utf8)
                buffer.join(
                    .snapshot(body, isRefetched: hasToken), state: state, at: stream.position, between: [])
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

    /// The stream's state, and up to which position it has all events.
    public struct State: Sendable {
        /// As JSON.
        public let body: [UInt8]
        /// Events up to here are in it.
        public let position: Position
    }

    /// Where this subscription began. To be read before the first `next()`, after which no state is kept.
    public var beginning: Beginning { buffer.beginning }

    /// The state as it was read when the stream was joined; nil where the stream goes on and it wasn't asked for, and
    /// after the first `next()`.
    public var state: State? { buffer.joinedState }

    var log: LogName { tail.log.name }

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
