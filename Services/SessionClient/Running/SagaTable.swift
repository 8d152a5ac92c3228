import API
import Bus
import Foundation
import Postgres
import SessionClientOrchestration
import Vocabulary

/// A saga that this process runs.
struct ClaimedSaga: Sendable {
    let id: ID<OperationSubject>
    let type: String
    let body: [UInt8]
    let account: AccountID
    let correlationID: CorrelationID
    let traceParent: String?
    let startedAt: Instant
    let attempts: Int
}

/// How a saga stands.
enum SagaStanding: Sendable {
    case running, done, failed
    case rejected(Rejection)

    /// As the table has it.
    var state: String {
        switch self {
        case .running: "running"
        case .done: "done"
        case .failed: "failed"
        case .rejected: "rejected"
        }
    }
}

/// The rows of sagas, and what their account's operations stream says of them.
struct SagaTable: Sendable {
    let pool: Pool
    let operations: Log
    let owner = OwnerID.new()
    /// How long a saga is this process's own unless renewed; then any replica goes on with it.
    let ownership: Duration

    /// Inserts a saga, once per id.
    /// - Parameter isWanted: Whether this process has room to run it.
    /// - Returns: It, if this process is to run it: no other saga of its account and lane is running.
    /// - Throws: A `Rejection` when the id was used for something else.
    func insert(
        _ saga: some Saga, id: ID<OperationSubject>, for account: AccountID, _ call: Call, isWanted: Bool
    ) async throws -> ClaimedSaga? {
        let (type, lane) = (Swift.type(of: saga).type, Swift.type(of: saga).lane)
        let body = try saga.encoded()
        let hash = BodyHash(
            type: type, version: Swift.type(of: saga).version, key: .account(account), account: account, body: body)
        let event = try message(
            OperationStarted(operation: id, type: type), account, call.correlationID, call.traceParent)
        let (owner, operations, length) = (owner, operations, Interval(ownership).microseconds)
        let (correlationID, traceParent, replay) = (call.correlationID, call.traceParent, call.replay)
        let inserted: (isOwn: Bool, startedAt: Instant)? = try await pool.withConnection { database in
            let rows = try database.pipeline { pipeline in
                pipeline.query("SELECT pg_advisory_xact_lock(hashtextextended(\(account.description), 0))")
                let inserted = pipeline.query(
                    """
                    WITH inserted AS (
                        INSERT INTO session_client.saga
                               (id, type, lane, account, body, body_hash, correlation_id, trace_parent, owner, owned_until,
                                attempts)
                        SELECT \(id), \(type), \(lane), \(account), \(JSON(body)), \(hash.id), \(correlationID),
                               \(traceParent), CASE WHEN b.is_mine THEN \(owner) END,
                               CASE WHEN b.is_mine THEN clock_timestamp() + \(length) * interval '1 microsecond' END,
                               b.is_mine::int
                          FROM (SELECT \(isWanted) AND NOT EXISTS (
                                    SELECT FROM session_client.saga AS r
                                     WHERE r.account = \(account) AND r.lane = \(lane) AND r.state = 'running') AS is_mine) AS b
                        ON CONFLICT ON CONSTRAINT saga_is_unique DO NOTHING
                        RETURNING owner IS NOT NULL AS is_own, started_at)
                    SELECT i.is_own, i.started_at, (\(operations.append([event]))) FROM inserted AS i
                    """)
                pipeline.sync()
                pipeline.query(operations.ring(for: [event]))
                pipeline.sync()
                try pipeline.flush()
                return try inserted.rows()
            }
            if let row = rows.only { return (try row.decode(0, as: Bool.self), try row.decode(1, as: Instant.self)) }
            let recorded = try database.query("SELECT body_hash FROM session_client.saga WHERE id = \(id)")
                .only?.decode(0, as: ID<BodyHash>.self)
            guard recorded == hash.id else {
                throw Rejection(.idReused, "This Idempotency-Key was used for another request; use a new one.")
            }
            replay.note()
            return nil
        }
        guard let inserted, inserted.isOwn else { return nil }
        return ClaimedSaga(
            id: id, type: type, body: body, account: account, correlationID: correlationID, traceParent: traceParent,
            startedAt: inserted.startedAt, attempts: 1)
    }

    /// Takes the oldest saga that may run: due, owned by nobody, and the first of its account and lane.
    func claim(notOlderThan age: Interval) async throws -> ClaimedSaga? {
        let (owner, length) = (owner, Interval(ownership).microseconds)
        return try await pool.withConnection { database in
            try database.query(
                """
                UPDATE session_client.saga AS s
                   SET owner = \(owner), attempts = s.attempts + 1,
                       owned_until = clock_timestamp() + \(length) * interval '1 microsecond'
                 WHERE s.id = (
                    SELECT c.id FROM session_client.saga AS c
                     WHERE c.state = 'running' AND c.next_attempt <= now()
                       AND c.next_attempt >= now() - \(age.microseconds) * interval '1 microsecond'
                       AND (c.owner IS NULL OR c.owned_until < clock_timestamp())
                       AND NOT EXISTS (SELECT FROM session_client.saga AS e
                                        WHERE e.state = 'running' AND e.account = c.account AND e.lane = c.lane
                                          AND e.number < c.number)
                     ORDER BY c.next_attempt
                     LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
                RETURNING s.id, s.type, s.body, s.account, s.correlation_id, s.trace_parent, s.started_at, s.attempts
                """
            ).only.map { row in
                ClaimedSaga(
                    id: try row.decode(0, as: ID<OperationSubject>.self), type: try row.decode(1, as: String.self),
                    body: try row.decode(2, as: JSON.self).bytes, account: try row.decode(3, as: AccountID.self),
                    correlationID: try row.decode(4, as: CorrelationID.self),
                    traceParent: try row.decode(5, as: String?.self),
                    startedAt: try row.decode(6, as: Instant.self), attempts: Int(try row.decode(7, as: Int32.self)))
            }
        }
    }

    /// Says again that these sagas are this process's own.
    func renew(_ ids: [ID<OperationSubject>]) async throws {
        let (owner, length) = (owner, Interval(ownership).microseconds)
        _ = try await pool.withConnection { database in
            try database.execute(
                """
                UPDATE session_client.saga
                   SET owned_until = clock_timestamp() + \(length) * interval '1 microsecond'
                 WHERE id = ANY (\(ids)) AND owner = \(owner) AND state = 'running'
                """)
        }
    }

    /// Records the end, and publishes it in the account's operations stream, together.
    /// - Returns: Whether it ended now: it was still this process's own.
    func end(_ saga: ClaimedSaga, _ standing: SagaStanding, result: [UInt8]) async throws -> Bool {
        let (owner, operations, state) = (owner, operations, standing.state)
        let event = try message(
            OperationEnded(operation: saga.id, type: saga.type, state: state), saga.account, saga.correlationID,
            saga.traceParent)
        return try await pool.withConnection { database in
            try database.pipeline { pipeline in
                let ended = pipeline.query(
                    """
                    WITH ended AS (
                        UPDATE session_client.saga
                           SET state = \(state), result = \(JSON(result)), ended_at = clock_timestamp(), owner = NULL
                         WHERE id = \(saga.id) AND owner = \(owner) AND state = 'running'
                        RETURNING id)
                    SELECT (\(operations.append([event]))) FROM ended
                    """)
                pipeline.sync()
                pipeline.query(operations.ring(for: [event]))
                pipeline.sync()
                try pipeline.flush()
                return try !ended.rows().isEmpty
            }
        }
    }

    /// Gives a saga back, to be run again after a pause.
    func postpone(_ saga: ClaimedSaga, because error: String, for pause: Duration) async throws {
        let (owner, pause) = (owner, Interval(pause).microseconds)
        _ = try await pool.withConnection { database in
            try database.execute(
                """
                UPDATE session_client.saga
                   SET owner = NULL, owned_until = NULL, last_error = \(String(error.prefix(2000))),
                       next_attempt = clock_timestamp() + \(pause) * interval '1 microsecond'
                 WHERE id = \(saga.id) AND owner = \(owner) AND state = 'running'
                """)
        }
    }

    func standing(of id: ID<OperationSubject>) async throws -> SagaStanding {
        let found = try await pool.withConnection { database in
            try database.query("SELECT s.state, s.result FROM session_client.saga AS s WHERE s.id = \(id)").only.map {
                (try $0.decode(0, as: String.self), try $0.decode(1, as: JSON?.self)?.bytes)
            }
        }
        return switch found?.0 {
        case "done": .done
        case "rejected": .rejected(try JSONDecoder().decode(Rejection.self, from: Data(found?.1 ?? [])))
        case "failed": .failed
        default: .running
        }
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
