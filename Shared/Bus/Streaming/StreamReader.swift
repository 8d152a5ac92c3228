import Logging
package import Postgres
package import QuartetVocabulary
import Synchronization

/// Joins streams of one log: gives the state at a position and then every change after it, with nothing missing and
/// nothing twice, across reconnects and restarts; or reports that the subscriber has to start over.
package struct StreamReader: Sendable {
    private let tail: Tail
    private let pool: Pool
    private let settings: Settings
    private let metrics: JoinMetrics

    package struct Settings: Sendable {
        /// How many events may wait for a slow subscriber before it falls behind.
        package var bufferLimit = 1024
        /// How many rows of its partition a stream may be behind and still resume. Beyond that, a snapshot is cheaper.
        package var resumeLimit = 1000
        /// How many bytes of bodies a stream may be behind and still resume.
        package var resumeByteLimit = 1 << 20

        package init() {}
    }

    /// - Parameters:
    ///   - tail: Of the log that has the streams.
    ///   - pool: Connections that may read the log and what its owner publishes.
    package init(tail: Tail, pool: Pool, settings: Settings = Settings()) {
        self.tail = tail
        self.pool = pool
        self.settings = settings
        metrics = JoinMetrics(log: tail.log.name)
    }

    /// Subscribes to the stream of `key`.
    /// - Parameters:
    ///   - token: Where to resume; nil to begin with a snapshot.
    ///   - withState: Whether to read the state even if the stream resumes.
    ///   - state: A scalar SQL expression of type json for the stream's state. It is read in one statement with the
    ///     position, so it may not use volatile functions.
    package func subscribe(
        to key: Key, from token: ResumeToken?, withState: Bool = false, state: Query
    ) async throws -> Subscription {
        let subscriptions = try await join([(key, token)], withStates: withState, state: state)
        guard let only = subscriptions.first else { throw BusError.unreadable(tail.log.name, "nothing to join") }
        return only
    }

    /// Subscribes to the streams of many accounts with one statement. Each begins with a snapshot.
    /// - Parameter state: As for one stream, in terms of `stream.account`.
    /// - Returns: The subscriptions, in the order of the accounts.
    package func subscribe(to accounts: [AccountID], state: Query) async throws -> [Subscription] {
        try await join(accounts.map { (.account($0), nil) }, withStates: true, state: state)
    }

    /// Reads a stream's state as JSON and where the stream was then, without following it.
    /// - Parameter state: As for subscribing.
    package func state(of key: Key, _ state: Query) async throws -> ([UInt8], ResumeToken) {
        await tail.ready()
        let (log, limits, incarnation) = (tail.log, settings, tail.incarnation)
        let joined = try await pool.withConnection { database in
            try log.join([JoinRequest(key: key, after: nil)], state: state, withStates: true, limits: limits, database)
        }
        metrics.joined(joined.count)
        // In another incarnation, the position would be another.
        guard let stream = joined.first, let body = stream.state, let incarnation, tail.incarnation == incarnation
        else { throw BusError.behind(log.name) }
        let partition = log.partition(of: key)
        return (
            body,
            ResumeToken(log: log.name, incarnation: incarnation, partition: partition, position: stream.position)
        )
    }

    /// Whether joining again may help: the database is away, busy or behind.
    package static func isPassing(_ error: any Error) -> Bool {
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
            // From here on, the subscription's owner alone keeps it registered.
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

    /// A stream that is registered with the tail and has not begun.
    private struct Joining {
        let subscription: Subscription
        let buffer: SubscriptionBuffer
        let hasToken: Bool
        let tailPosition: Position

        func begin(_ stream: JoinedStream, after: Position?) throws {
            // Rows that the tail has already read aren't offered, so the state or the events must have them.
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

/// One subscriber's view of a stream: take the beginning, then call `next()` until it ends.
///
/// Bounded: a subscriber that doesn't keep up falls behind, at no cost to anybody else.
package final class Subscription: Sendable {
    /// How the subscription begins.
    package enum Beginning: Sendable {
        /// The state as JSON. `isRefetched` if a token was given that can't be resumed from.
        case snapshot([UInt8], isRefetched: Bool)
        /// It goes on right after the token.
        case resumed
    }

    package enum Element: Sendable {
        case event(RecordedMessage, ResumeToken)
        /// Nothing more concerns the stream up to here. Comes only after ``Subscription/ask()``.
        case reached(ResumeToken)
        /// Too many events waited. Subscribe again with the last token.
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

    package struct State: Sendable {
        /// As JSON.
        package let body: [UInt8]
        /// The state includes all events up to here.
        package let position: Position
    }

    /// Where this subscription began. Read it before the first `next()` or `ready()`, which drop it.
    package var beginning: Beginning { buffer.beginning }

    /// The state as it was when the stream was joined; nil if the stream was resumed without asking for it, and after
    /// the first `next()` or `ready()`.
    package var state: State? { buffer.joinedState }

    var log: LogName { tail.log.name }

    /// The subscriber's place after the last element that it took.
    package var token: ResumeToken { token(at: buffer.given) }

    /// The next element; nil when the subscription or the task has ended.
    package func next() async -> Element? {
        while await ready() {
            if let element = take() { return element }
        }
        return nil
    }

    /// Waits until there may be something to ``take()``. Takes little memory, also where thousands wait: what a loop does with an
    /// element belongs in a function of its own, or else a waiting task keeps room for it.
    /// - Returns: False when the subscription or the task has ended.
    package func ready() async -> Bool {
        await withTaskCancellationHandler {
            await buffer.wait()
        } onCancel: {
            // Not end(): this handler may run under the tail's lock, which end() would wait for.
            buffer.end()
        }
        if Task.isCancelled { end() }
        return !buffer.isEnded
    }

    /// The next element, if there is one now.
    package func take() -> Element? {
        switch buffer.next() {
        case .event(let position, let message): return .event(message, token(at: position))
        case .fellBehind: return .fellBehind
        case .ended: return nil
        case .nothing:
            guard buffer.takeQuestion(), tail.advance(buffer, registeredAs: id, to: key) else { return nil }
            return .reached(token)
        }
    }

    /// Has ``take()`` return, once nothing waits, how far the stream was read, if that is further than its last event. In a
    /// stream where little happens, a place that is kept up to date stays near the log's end, where it can be resumed from.
    package func ask() { buffer.ask() }

    /// Leaves the stream. A task that waits for an element gets none.
    package func end() {
        tail.unregister(id, from: key)
        buffer.end()
    }

    private func token(at position: Position) -> ResumeToken {
        ResumeToken(
            log: tail.log.name, incarnation: incarnation, partition: tail.log.partition(of: key), position: position)
    }
}
