import Bus
import Foundation
import Postgres
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetVocabulary

/// Records how sagas begin and end, each together with its event in the account's operations stream: those of many requests in one
/// transaction.
final class SagaWriter: Sendable {
    /// A saga that a request asks for.
    struct Beginning: Sendable {
        let id: ID<OperationSubject>
        let type: String
        let lane: String
        let account: AccountID
        let body: [UInt8]
        let hash: BodyHash
        let correlationID: CorrelationID
        let traceParent: String?
        /// Whether this process has room to run it.
        let isWanted: Bool
    }

    /// What became of a beginning.
    enum Begun: Sendable {
        /// This process runs it: no other saga of its account and lane is running.
        case own(startedAt: Instant)
        /// It runs later, or elsewhere.
        case waiting
        /// It was recorded before, with this body; nil if it is gone since.
        case known(ID<BodyHash>?)
    }

    /// A saga of this process that is over.
    struct Ending: Sendable {
        let saga: ClaimedSaga
        let state: OperationReply.State
        let result: [UInt8]
    }

    /// A saga that ended now.
    struct Ended: Sendable {
        let at: Instant
        /// Whether another one of its account and lane waits.
        let hasNext: Bool
    }

    struct Batch: GatheredBatch {
        var beginnings: [Gathered<Beginning, Begun>] = []
        var endings: [Gathered<Ending, Ended?>] = []

        var count: Int { beginnings.count + endings.count }

        /// At most one beginning of an account: whether another one is running, or has the same id, has to be known.
        mutating func take() -> Self {
            var (batch, accounts, later) = (Self(), Set<AccountID>(), [Gathered<Beginning, Begun>]())
            for beginning in beginnings {
                if accounts.insert(beginning.item.account).inserted {
                    batch.beginnings.append(beginning)
                } else {
                    later.append(beginning)
                }
            }
            batch.endings = endings
            (beginnings, endings) = (later, [])
            return batch
        }

        var awaited: Self {
            Self(beginnings: beginnings.filter(\.isAwaited), endings: endings.filter(\.isAwaited))
        }

        var items: [Self] { beginnings.map { Self(beginnings: [$0]) } + endings.map { Self(endings: [$0]) } }

        func fail(_ error: any Error) {
            for beginning in beginnings { beginning.give(.failure(error)) }
            for ending in endings { ending.give(.failure(error)) }
        }
    }

    private let gathering: Gathering<Batch>
    private let pool: Pool
    private let statements: SagaStatements

    /// - Parameters:
    ///   - owner: Of the sagas of this process.
    ///   - ownership: How long a saga is this process's own unless renewed.
    init(pool: Pool, operations: Log, owner: OwnerID, ownership: Duration) {
        let statements = SagaStatements(operations: operations, owner: owner, ownership: ownership)
        (self.pool, self.statements) = (pool, statements)
        gathering = Gathering { batch in
            let (begun, ended) = try await pool.withConnection { try statements.execute(batch, $0) }
            for (beginning, begun) in zip(batch.beginnings, begun) { beginning.give(.success(begun)) }
            for (ending, ended) in zip(batch.endings, ended) { ending.give(.success(ended)) }
        }
    }

    /// Records a saga, once per id.
    /// - Parameter late: Called with what became of it if the task was cancelled while it was written.
    func begin(_ beginning: Beginning, late: @escaping @Sendable (Begun) -> Void) async throws -> Begun {
        try await gathering.write(beginning, late: late) { $0.beginnings.append($1) }
    }

    /// Records a saga's end.
    /// - Returns: Nil if it wasn't this process's own any more.
    func end(_ ending: Ending) async throws -> Ended? {
        try await gathering.write(ending) { $0.endings.append($1) }
    }

    /// Ends the other sagas of an account that every owner has closed, also those that another replica runs: from then on none of
    /// their steps is written down. They count as failed, since they may be half done. One that was never tried is left to be
    /// refused by its first step.
    /// - Parameter portion: How many are ended in one transaction.
    func endOthers(of closing: ClaimedSaga, atATime portion: Int = 500) async throws {
        let statements = statements
        try await pool.withConnection { database in
            while try statements.endSome(portion, besides: closing, database) == portion {}
        }
    }
}

/// The transactions that write batches, and what a closed account leaves.
private struct SagaStatements: Sendable {
    let operations: Log
    let owner: OwnerID
    let ownership: Duration

    func execute(_ batch: SagaWriter.Batch, _ database: Database) throws -> ([SagaWriter.Begun], [SagaWriter.Ended?]) {
        let (beginnings, endings) = (batch.beginnings.map(\.item), batch.endings.map(\.item))
        let (startedAt, ended) = try database.pipeline { pipeline in
            pipeline.query("BEGIN")
            // Ends first, so that the account's next saga needn't wait.
            let updated = endings.isEmpty ? nil : pipeline.query(end(endings))
            if !beginnings.isEmpty { pipeline.query(lockAccounts(of: beginnings)) }
            let inserted = beginnings.isEmpty ? nil : pipeline.query(insert(beginnings))
            try pipeline.receive()
            var ended = [SagaWriter.Ended?](repeating: nil, count: endings.count)
            for row in try updated.rowsIfAsked {
                ended[Int(try row.decode(0, as: Int64.self)) - 1] = SagaWriter.Ended(
                    at: try row.decode(1, as: Instant.self), hasNext: try row.decode(2, as: Bool.self))
            }
            var startedAt = [(isOwn: Bool, time: Instant)?](repeating: nil, count: beginnings.count)
            for row in try inserted.rowsIfAsked {
                startedAt[Int(try row.decode(0, as: Int64.self)) - 1] = (
                    try row.decode(1, as: Bool.self), try row.decode(2, as: Instant.self)
                )
            }
            let events =
                try zip(endings, ended).filter { $0.1 != nil }.map { try event(of: $0.0) }
                + zip(beginnings, startedAt).filter { $0.1 != nil }.map { try event(of: $0.0) }
            if !events.isEmpty { pipeline.query(operations.append(events)) }
            let commit = pipeline.commit()
            pipeline.sync()
            if !events.isEmpty { pipeline.query(operations.ring(for: events)) }
            pipeline.sync()
            try pipeline.flush()
            try commit.check()
            return (startedAt, ended)
        }
        let known = try hashes(of: zip(beginnings, startedAt).filter { $0.1 == nil }.map(\.0.id), database)
        let begun = zip(beginnings, startedAt).map { beginning, started -> SagaWriter.Begun in
            guard let started else { return .known(known[beginning.id]) }
            return started.isOwn ? .own(startedAt: started.time) : .waiting
        }
        return (begun, ended)
    }

    /// - Returns: How many it ended, which are fewer than asked for if no more were left.
    func endSome(_ portion: Int, besides closing: ClaimedSaga, _ database: Database) throws -> Int {
        let events = try database.transaction { database in
            let ended = try database.query(
                """
                WITH others AS MATERIALIZED (
                    SELECT o.id FROM session_client.saga AS o
                     WHERE o.account = \(closing.account) AND o.id <> \(closing.id) AND o.state = 'running'
                       AND o.attempts > 0
                     LIMIT \(portion) FOR NO KEY UPDATE)
                UPDATE session_client.saga AS s
                   SET state = \(OperationReply.State.failed.rawValue), last_error = 'the account was closed',
                       ended_at = clock_timestamp(), owner = NULL
                  FROM others AS o
                 WHERE s.id = o.id
                RETURNING s.id, s.type, s.correlation_id, s.trace_parent
                """)
            let events = try ended.map { row in
                try message(
                    OperationEnded(
                        operation: try row.decode(0, as: ID<OperationSubject>.self),
                        type: try row.decode(1, as: String.self), state: OperationReply.State.failed.rawValue),
                    closing.account, try row.decode(2, as: CorrelationID.self), try row.decode(3, as: String?.self))
            }
            if !events.isEmpty { _ = try database.query(operations.append(events)) }
            return events
        }
        // After the commit. If no one hears it, that costs latency alone: see Log.ring(for:).
        if !events.isEmpty { _ = try? database.query(operations.ring(for: events)) }
        return events.count
    }

    /// In one order, so that two processes never wait for each other.
    private func lockAccounts(of beginnings: [SagaWriter.Beginning]) -> Query {
        """
        SELECT count(pg_advisory_xact_lock(hashtextextended(a.account, 0)))
          FROM unnest(\(beginnings.map(\.account.description).sorted())) AS a(account)
        """
    }

    private func insert(_ beginnings: [SagaWriter.Beginning]) -> Query {
        """
        WITH wanted AS (
            SELECT w.*
              FROM unnest(\(beginnings.map(\.id)), \(beginnings.map(\.type)), \(beginnings.map(\.lane)),
                          \(beginnings.map(\.account)), \(beginnings.map { JSON($0.body) }), \(beginnings.map(\.hash.id)),
                          \(beginnings.map(\.correlationID)), \(beginnings.map(\.traceParent)), \(beginnings.map(\.isWanted)))
                   WITH ORDINALITY
                   AS w(id, type, lane, account, body, body_hash, correlation_id, trace_parent, is_wanted, ordinal)),
        inserted AS (
            INSERT INTO session_client.saga AS s
                   (id, type, lane, account, body, body_hash, correlation_id, trace_parent, owner, owned_until, attempts)
            SELECT w.id, w.type, w.lane, w.account, w.body, w.body_hash, w.correlation_id, w.trace_parent,
                   CASE WHEN b.is_mine THEN \(owner) END,
                   CASE WHEN b.is_mine THEN clock_timestamp() + \(length) * interval '1 microsecond' END, b.is_mine::int
              FROM wanted AS w
             CROSS JOIN LATERAL (
                    SELECT w.is_wanted AND NOT EXISTS (
                           SELECT FROM session_client.saga AS r
                            WHERE r.account = w.account AND r.lane = w.lane AND r.state = 'running') AS is_mine) AS b
            ON CONFLICT ON CONSTRAINT saga_is_unique DO NOTHING
            RETURNING s.id, s.owner IS NOT NULL AS is_own, s.started_at)
        SELECT w.ordinal, i.is_own, i.started_at FROM inserted AS i JOIN wanted AS w ON w.id = i.id
        """
    }

    private func end(_ endings: [SagaWriter.Ending]) -> Query {
        """
        UPDATE session_client.saga AS s
           SET state = w.state, result = w.result, ended_at = clock_timestamp(), owner = NULL
          FROM unnest(\(endings.map(\.saga.id)), \(endings.map(\.state.rawValue)), \(endings.map { JSON($0.result) }))
               WITH ORDINALITY AS w(id, state, result, ordinal)
         WHERE s.id = w.id AND s.owner = \(owner) AND s.state = 'running'
        RETURNING w.ordinal, s.ended_at,
                  EXISTS (SELECT FROM session_client.saga AS n
                           WHERE n.account = s.account AND n.lane = s.lane AND n.state = 'running' AND n.id <> s.id)
        """
    }

    private func hashes(
        of ids: [ID<OperationSubject>], _ database: Database
    ) throws -> [ID<OperationSubject>: ID<BodyHash>] {
        guard !ids.isEmpty else { return [:] }
        let rows = try database.query(
            "SELECT s.id, s.body_hash FROM session_client.saga AS s WHERE s.id = ANY (\(ids))")
        return Dictionary(
            uniqueKeysWithValues: try rows.map {
                (try $0.decode(0, as: ID<OperationSubject>.self), try $0.decode(1, as: ID<BodyHash>.self))
            })
    }

    private var length: Int64 { Interval(ownership).microseconds }

    // MARK: Events

    private func event(of beginning: SagaWriter.Beginning) throws -> Message {
        try message(
            OperationStarted(operation: beginning.id, type: beginning.type), beginning.account, beginning.correlationID,
            beginning.traceParent)
    }

    private func event(of ending: SagaWriter.Ending) throws -> Message {
        let saga = ending.saga
        return try message(
            OperationEnded(operation: saga.id, type: saga.type, state: ending.state.rawValue), saga.account,
            saga.correlationID, saga.traceParent)
    }

    private func message(
        _ body: some MessageBody, _ account: AccountID, _ correlationID: CorrelationID, _ traceParent: String?
    ) throws -> Message {
        Message(
            kind: .event, type: type(of: body).type, key: .account(account), account: account,
            body: try body.encoded(), correlationID: correlationID, traceParent: traceParent)
    }
}

/// An operation was asked for.
struct OperationStarted: MessageBody {
    let operation: ID<OperationSubject>
    let type: String
}

/// An operation is done, rejected or failed; its result can be read.
struct OperationEnded: MessageBody {
    let operation: ID<OperationSubject>
    let type: String
    let state: String
}
