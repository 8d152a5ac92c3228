import Bus
import Foundation
import Postgres
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetVocabulary

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

/// What is recorded of a saga for the one who asked for it.
struct SagaRecord: Sendable {
    let type: String
    let state: OperationReply.State
    /// JSON. If it was rejected, the rejection.
    let result: [UInt8]?
    let startedAt: Instant
    /// Nil while it runs.
    let endedAt: Instant?

    /// Why it was refused, if it was.
    var rejection: Rejection? {
        get throws {
            guard state == .rejected else { return nil }
            return try JSONDecoder().decode(Rejection.self, from: Data(result ?? []))
        }
    }
}

/// The rows of sagas, apart from their beginnings and ends (``SagaWriter``).
struct SagaTable: Sendable {
    let pool: Pool
    let owner = OwnerID.new()
    /// How long a saga is this process's own unless renewed; then any replica goes on with it.
    let ownership: Duration

    /// Takes the oldest saga that may run: due, owned by nobody, no other of its account and lane in hand, and the first of those
    /// in it that don't rest. What another process had in hand goes before all, so that a lane never waits for what can't be taken.
    func claim(notOlderThan age: Interval) async throws -> ClaimedSaga? {
        do { return try await claimFirst(notOlderThan: age) } catch let error as PostgresError
            where error.constraint == "saga_in_hand"
        {
            // Another replica took another one of the lane at the same moment. This time it is seen.
            return try await claimFirst(notOlderThan: age)
        }
    }

    private func claimFirst(notOlderThan age: Interval) async throws -> ClaimedSaga? {
        let query = claimQuery(notOlderThan: age)
        return try await pool.withConnection { database in
            try database.query(query).only.map { row in
                ClaimedSaga(
                    id: try row.decode(0, as: ID<OperationSubject>.self), type: try row.decode(1, as: String.self),
                    body: try row.decode(2, as: JSON.self).bytes, account: try row.decode(3, as: AccountID.self),
                    correlationID: try row.decode(4, as: CorrelationID.self),
                    traceParent: try row.decode(5, as: String?.self),
                    startedAt: try row.decode(6, as: Instant.self), attempts: Int(try row.decode(7, as: Int32.self)))
            }
        }
    }

    /// What runs is found by `ended_at`, others of its lane by `state`: the index of what is due can't answer the second then.
    /// Planned while nothing runs, it would, and each look would read all that run once for each of them.
    func claimQuery(notOlderThan age: Interval) -> Query {
        """
        UPDATE session_client.saga AS s
           SET owner = \(owner), attempts = s.attempts + 1,
               owned_until = clock_timestamp() + \(Interval(ownership).microseconds) * interval '1 microsecond'
         WHERE s.id = (
            SELECT c.id FROM session_client.saga AS c
             WHERE c.ended_at IS NULL AND c.next_attempt <= now()
               AND c.next_attempt >= now() - \(age.microseconds) * interval '1 microsecond'
               AND (c.owner IS NULL OR c.owned_until < clock_timestamp())
               AND (c.owner IS NOT NULL
                    OR NOT EXISTS (SELECT FROM session_client.saga AS e
                                    WHERE e.state = 'running' AND e.account = c.account AND e.lane = c.lane
                                      AND (e.owner IS NOT NULL OR e.number < c.number AND e.next_attempt <= now())))
             ORDER BY c.next_attempt
             LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
        RETURNING s.id, s.type, s.body, s.account, s.correlation_id, s.trace_parent, s.started_at, s.attempts
        """
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

    /// Gives a saga back, to be run again after a pause. One that rests gives way: its place is then behind those of its account
    /// and lane that wait, so that however often it fails, and however long that takes, each of them gets its turn.
    /// - Parameter pause: Without one it keeps its place.
    /// - Returns: Whether others of its account and lane are running.
    func postpone(_ saga: ClaimedSaga, because error: String, for pause: Duration) async throws -> Bool {
        let (owner, pause) = (owner, Interval(pause).microseconds)
        let place = pause > 0 ? ", number = DEFAULT" : ""
        return try await pool.withConnection { database in
            try database.query(
                """
                UPDATE session_client.saga AS s
                   SET owner = NULL, owned_until = NULL, last_error = \(String(error.prefix(2000))),
                       next_attempt = clock_timestamp() + \(pause) * interval '1 microsecond'\(unescaped: place)
                 WHERE s.id = \(saga.id) AND s.owner = \(owner) AND s.state = 'running'
                RETURNING EXISTS (SELECT FROM session_client.saga AS n
                                   WHERE n.account = s.account AND n.lane = s.lane AND n.state = 'running' AND n.id <> s.id)
                """
            ).only?.decode(0, as: Bool.self) ?? false
        }
    }

    /// - Returns: Nil if the account has no such saga.
    func record(of id: ID<OperationSubject>, for account: AccountID) async throws -> SagaRecord? {
        try await pool.withConnection { database in
            try database.query(
                """
                SELECT s.type, s.state, s.result, s.started_at, s.ended_at
                  FROM session_client.saga AS s
                 WHERE s.id = \(id) AND s.account = \(account)
                """
            ).only.map {
                SagaRecord(
                    type: try $0.decode(0, as: String.self),
                    state: .init(rawValue: try $0.decode(1, as: String.self)) ?? .failed,
                    result: try $0.decode(2, as: JSON?.self)?.bytes, startedAt: try $0.decode(3, as: Instant.self),
                    endedAt: try $0.decode(4, as: Instant?.self))
            }
        }
    }
}
