import Bus
import Foundation
import Logging
import Postgres
import ServiceLifecycle
import Synchronization
import Vocabulary

/// Starts sagas and brings each to its end, whatever is killed when: every replica looks for running ones that nobody
/// owns and takes them up from their recorded steps. One saga of an account at a time.
final class SagaRunner: Service, Sendable {
    private let services: ServiceConnections
    private let pool: Pool
    private let steps: Pool
    private let operations: Log
    private let streams: StreamReader
    private let owner: OwnerID
    private let logger: Logger
    private let backoff = Backoff(initial: .milliseconds(50), maximum: .seconds(30), multiplier: 2)
    /// What there is to do, for the loop that does it.
    private enum Signal: Sendable {
        case look
        case run(Claimed)
    }

    /// Never more than a look and what may be in hand.
    private let signals: AsyncStream<Signal>
    private let signaller: AsyncStream<Signal>.Continuation
    private let isLookPending = Mutex(false)
    /// How many sagas this process runs now.
    private let inHand = Mutex(0)
    private let search = Mutex(QueueSearch())
    /// Which these are. One that was written down for this process by a request that was cancelled before it heard so isn't
    /// among them: it isn't kept, so whoever looks next takes it up.
    private let running = Mutex<Set<ID<SagaSubject>>>([])
    private static var concurrency: Int { 64 }
    /// How old a request may be: ended sagas are remembered for a day longer.
    private static var horizon: Interval { .days(30) }
    /// How far ahead of this machine's clock a request's time may be, as for commands.
    private static var aheadLimit: Interval { .days(1) }
    /// How long a saga is this process's own unless renewed; then any replica goes on with it.
    private let ownership: Duration

    init(
        services: ServiceConnections, pool: Pool, steps: Pool, operations: Tail,
        ownership: Duration, logger: Logger
    ) {
        self.services = services
        self.pool = pool
        self.steps = steps
        self.operations = operations.log
        streams = StreamReader(tail: operations, pool: pool)
        self.ownership = ownership
        owner = .new()
        self.logger = logger
        (signals, signaller) = AsyncStream.makeStream()
    }

    private func look() {
        let isFirst = isLookPending.withLock { isPending in
            defer { isPending = true }
            return !isPending
        }
        if isFirst { signaller.yield(.look) }
    }

    /// Takes a place among the sagas in hand, if one is free.
    private func takePlace() -> Bool {
        inHand.withLock { inHand in
            guard inHand < Self.concurrency else { return false }
            inHand += 1
            return true
        }
    }

    private func leavePlace() { inHand.withLock { $0 -= 1 } }

    // MARK: Starting

    /// Writes a saga down, once per id, and has it run. Returns how it stands.
    /// - Throws: a ``Rejection`` when the id was used for something else, or is too old to know.
    func start(
        _ saga: some Saga, id: ID<SagaSubject>, for account: AccountID, correlationID: CorrelationID,
        traceParent: String?
    ) async throws {
        guard let made = id.time, made > .now - Self.horizon else {
            throw Rejection(
                .idTooOld,
                "this Idempotency-Key is older than 30 days, so it may have been done already: look, then use a new one"
            )
        }
        guard made < .now + Self.aheadLimit else {
            throw Rejection(
                .idTooOld, "this Idempotency-Key is from the future: set the device's clock and use a new one")
        }
        let (type, lane) = (Swift.type(of: saga).type, Swift.type(of: saga).lane)
        let body = try saga.encoded()
        let hash = BodyHash(
            type: type, version: Swift.type(of: saga).version, key: .account(account), account: account, body: body)
        let operations = operations
        let started = OperationStarted(operation: id, type: type)
        let event = Message(
            kind: .event, type: OperationStarted.type, key: .account(account), account: account,
            body: try started.encoded(), correlationID: correlationID, traceParent: traceParent)
        let (owner, length) = (owner, Interval(ownership).microseconds)
        // Run here, unless another of the account's is running or too many are in hand.
        let hasPlace = takePlace()
        let claimed: Claimed?
        do {
            claimed = try await pool.withConnection { database in
                try database.transaction { database in
                    try database.execute("SELECT pg_advisory_xact_lock(hashtextextended(\(account.description), 0))")
                    let inserted = try database.query(
                        """
                        INSERT INTO session_client.saga
                               (id, type, lane, account, body, body_hash, correlation_id, trace_parent, owner, owned_until,
                                attempts)
                        SELECT \(id), \(type), \(lane), \(account), \(JSON(body)), \(hash.id), \(correlationID), \(traceParent),
                               CASE WHEN b.is_mine THEN \(owner) END,
                               CASE WHEN b.is_mine THEN clock_timestamp() + \(length) * interval '1 microsecond' END,
                               b.is_mine::int
                          FROM (SELECT \(hasPlace) AND NOT EXISTS (
                                    SELECT FROM session_client.saga AS r
                                     WHERE r.account = \(account) AND r.lane = \(lane) AND r.state = 'running') AS is_mine) AS b
                        ON CONFLICT ON CONSTRAINT saga_is_unique DO NOTHING
                        RETURNING owner IS NOT NULL, started_at
                        """
                    ).only
                    guard let inserted else {
                        let recorded = try database.query(
                            "SELECT body_hash FROM session_client.saga WHERE id = \(id)"
                        ).only?.decode(0, as: ID<BodyHash>.self)
                        guard recorded == hash.id else {
                            throw Rejection(
                                .idReused, "this Idempotency-Key was used before for something else; use a new one")
                        }
                        return nil
                    }
                    _ = try database.query(operations.append([event]))
                    guard try inserted.decode(0, as: Bool.self) else { return nil }
                    return Claimed(
                        id: id, type: type, body: body, account: account, correlationID: correlationID,
                        traceParent: traceParent, startedAt: try inserted.decode(1, as: Instant.self), attempts: 1)
                }
            }
        } catch {
            if hasPlace { leavePlace() }
            throw error
        }
        ring(event)
        if let claimed {
            signaller.yield(.run(claimed))
        } else {
            if hasPlace { leavePlace() }
            look()
        }
    }

    /// Waits until an operation of the account has ended, whichever replica runs it.
    private func wait(for id: ID<SagaSubject>, of account: AccountID) async throws {
        let subscription = try await streams.subscribe(
            to: .account(account), from: nil,
            state: "SELECT to_json(s.state) FROM session_client.saga AS s WHERE s.id = \(id) AND s.account = \(account)"
        )
        guard case .snapshot(let state, _) = subscription.beginning, state == Array("\"running\"".utf8) else { return }
        while case .event(let message, _) = await subscription.next() {
            guard message.message.type == OperationEnded.type,
                let ended = try? OperationEnded.decoded(from: message.message.body), ended.operation == id
            else { continue }
            return
        }
    }

    /// How an operation stands.
    enum Standing: Sendable {
        case running, done, failed
        case rejected(Rejection)
    }

    /// Starts a saga, waits for its end until the request's time is up (``Patience``), and says how it stands.
    /// - Throws: what ``start(_:id:for:correlationID:traceParent:)`` throws. Once it is started, it is running at least.
    func run(
        _ saga: some Saga, id: ID<SagaSubject>, for account: AccountID, _ context: EdgeContext
    ) async throws -> Standing {
        try await start(
            saga, id: id, for: account, correlationID: context.correlationID, traceParent: context.traceParent)
        do {
            try await wait(for: id, of: account)
            return try await standing(of: id)
        } catch  where Task.isCancelled {
            return .running
        }
    }

    private func standing(of id: ID<SagaSubject>) async throws -> Standing {
        let found = try await pool.withConnection { database in
            try database.query("SELECT s.state, s.result FROM session_client.saga AS s WHERE s.id = \(id)").only.map {
                (try $0.decode(0, as: String.self), try $0.decode(1, as: JSON?.self)?.bytes)
            }
        }
        switch found?.0 {
        case "done": return .done
        case "rejected":
            return .rejected(try JSONDecoder().decode(Rejection.self, from: Data(found?.1 ?? [])))
        case "failed": return .failed
        default: return .running
        }
    }

    // MARK: Running

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    // Others' sagas and own ones that wait after an error.
                    while !Task.isCancelled {
                        try? await Task.sleep(for: .milliseconds(500))
                        self.look()
                    }
                    self.signaller.finish()
                }
                group.addTask { await self.renew() }
                for await signal in self.signals {
                    switch signal {
                    case .run(let claimed): group.addTask { await self.advance(claimed) }
                    case .look:
                        self.isLookPending.withLock { $0 = false }
                        while let claimed = await self.claim() { group.addTask { await self.advance(claimed) } }
                    }
                }
                group.cancelAll()
            }
        }
    }

    /// Says again that the sagas in hand are this process's own, well before that ends.
    private func renew() async {
        let (owner, length) = (owner, Interval(ownership).microseconds)
        while !Task.isCancelled {
            try? await Task.sleep(for: ownership / 3)
            let ids = running.withLock { Array($0) }
            guard !ids.isEmpty else { continue }
            do {
                _ = try await pool.withConnection { database in
                    try database.execute(
                        """
                        UPDATE session_client.saga
                           SET owned_until = clock_timestamp() + \(length) * interval '1 microsecond'
                         WHERE id = ANY (\(ids)) AND owner = \(owner) AND state = 'running'
                        """)
                }
            } catch {
                logger.notice("sagas can't be kept now", metadata: ["error": "\(error)"])
            }
        }
    }

    private struct Claimed: Sendable {
        let id: ID<SagaSubject>
        let type: String
        let body: [UInt8]
        let account: AccountID
        let correlationID: CorrelationID
        let traceParent: String?
        let startedAt: Instant
        let attempts: Int
    }

    /// Takes the oldest saga that may run: due, owned by nobody, and the first of its account.
    private func claim() async -> Claimed? {
        let (owner, length) = (owner, Interval(ownership).microseconds)
        guard takePlace() else { return nil }
        let look = search.withLock { $0.begin() }
        do {
            let found = try await pool.withConnection { database in
                try database.query(
                    """
                    UPDATE session_client.saga AS s
                       SET owner = \(owner), attempts = s.attempts + 1,
                           owned_until = clock_timestamp() + \(length) * interval '1 microsecond'
                     WHERE s.id = (
                        SELECT c.id FROM session_client.saga AS c
                         WHERE c.state = 'running' AND c.next_attempt <= now()
                           AND c.next_attempt >= now() - \(look.age.microseconds) * interval '1 microsecond'
                           AND (c.owner IS NULL OR c.owned_until < clock_timestamp())
                           AND NOT EXISTS (SELECT FROM session_client.saga AS e
                                            WHERE e.state = 'running' AND e.account = c.account AND e.lane = c.lane
                                              AND e.number < c.number)
                         ORDER BY c.next_attempt
                         LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
                    RETURNING s.id, s.type, s.body, s.account, s.correlation_id, s.trace_parent, s.started_at, s.attempts
                    """
                ).map { row in
                    Claimed(
                        id: try row.decode(0, as: ID<SagaSubject>.self), type: try row.decode(1, as: String.self),
                        body: try row.decode(2, as: JSON.self).bytes, account: try row.decode(3, as: AccountID.self),
                        correlationID: try row.decode(4, as: CorrelationID.self),
                        traceParent: try row.decode(5, as: String?.self),
                        startedAt: try row.decode(6, as: Instant.self), attempts: Int(try row.decode(7, as: Int32.self))
                    )
                }
            }
            search.withLock { $0.end(look, foundAll: found.isEmpty) }
            if found.isEmpty { leavePlace() }
            return found.first
        } catch {
            leavePlace()
            logger.warning("sagas can't be looked for now", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private func advance(_ claimed: Claimed) async {
        running.withLock { _ = $0.insert(claimed.id) }
        defer {
            running.withLock { _ = $0.remove(claimed.id) }
            leavePlace()
            look()
        }
        let run = SagaRun(
            id: claimed.id, account: claimed.account, correlationID: claimed.correlationID,
            traceParent: claimed.traceParent, startedAt: claimed.startedAt, owner: owner, services: services,
            steps: steps
        )
        do {
            // One that nobody here knows was begun by a newer release, and waits for one.
            let saga = try Operation(type: claimed.type, version: 1, body: claimed.body)
            let (state, result) = try await perform(saga.body, run)
            try await end(claimed, state: state, result: result)
        } catch _ where Task.isCancelled {
            // A task of its own, which isn't cancelled: whoever is left goes on at once.
            await Task { try? await postpone(claimed, because: "the process was stopped", after: .zero) }.value
        } catch let error as SagaError where error.isFinal {
            logger.error("a saga failed", metadata: ["saga": "\(claimed.id)", "error": "\(error)"])
            try? await end(claimed, state: "failed", result: encodedFailure("\(error)"))
        } catch {
            logger.notice("a saga will go on later", metadata: ["saga": "\(claimed.id)", "error": "\(error)"])
            try? await postpone(claimed, because: "\(error)")
        }
    }

    private func perform(_ saga: some Saga, _ run: SagaRun) async throws -> (String, [UInt8]) {
        do {
            return ("done", Array(try JSONEncoder().encode(try await saga.run(run))))
        } catch let rejection as Rejection {
            return ("rejected", Array(try JSONEncoder().encode(rejection)))
        }
    }

    /// Writes the end down and says it in the account's operations stream, together.
    private func end(_ claimed: Claimed, state: String, result: [UInt8]) async throws {
        let (owner, operations) = (owner, operations)
        let body = OperationEnded(operation: claimed.id, type: claimed.type, state: state)
        let event = Message(
            kind: .event, type: OperationEnded.type, key: .account(claimed.account), account: claimed.account,
            body: try body.encoded(), correlationID: claimed.correlationID, traceParent: claimed.traceParent)
        let isEnded = try await pool.withConnection { database in
            try database.transaction { database in
                let updated = try database.execute(
                    """
                    UPDATE session_client.saga
                       SET state = \(state), result = \(JSON(result)), ended_at = clock_timestamp(), owner = NULL
                     WHERE id = \(claimed.id) AND owner = \(owner) AND state = 'running'
                    """)
                if updated == 1 { _ = try database.query(operations.append([event])) }
                return updated == 1
            }
        }
        if isEnded { ring(event) }
    }

    private func postpone(_ claimed: Claimed, because error: String, after pause: Duration? = nil) async throws {
        let owner = owner
        let pause = Interval(pause ?? backoff.delay(attempt: claimed.attempts)).microseconds
        _ = try await pool.withConnection { database in
            try database.execute(
                """
                UPDATE session_client.saga
                   SET owner = NULL, owned_until = NULL, last_error = \(String(error.prefix(2000))),
                       next_attempt = clock_timestamp() + \(pause) * interval '1 microsecond'
                 WHERE id = \(claimed.id) AND owner = \(owner) AND state = 'running'
                """)
        }
    }

    private func ring(_ event: Message) {
        let (pool, operations) = (pool, operations)
        Task { try? await pool.withConnection { database in _ = try database.query(operations.ring(for: [event])) } }
    }

    private func encodedFailure(_ reason: String) -> [UInt8] {
        (try? JSONEncoder().encode(["reason": reason])).map(Array.init) ?? Array("{}".utf8)
    }
}

/// An operation was asked for.
private struct OperationStarted: MessageBody {
    let operation: ID<SagaSubject>
    let type: String
}

/// An operation is done, rejected or failed; its result can be read.
private struct OperationEnded: MessageBody {
    let operation: ID<SagaSubject>
    let type: String
    let state: String
}
