import API
import Bus
import Foundation
import Postgres
import SessionClientOrchestration
import Vocabulary

/// The steps of one run of a saga, recorded as rows: a later run gets the same answers.
struct RecordedSteps: SagaSteps {
    let saga: ClaimedSaga
    let owner: OwnerID
    let services: ServiceConnections
    /// Connections whose commits aren't flushed. If a server's crash loses a step, the next run asks again with the same
    /// id, and the service remembers the outcome.
    let pool: Pool

    var id: ID<OperationSubject> { saga.id }
    var account: AccountID { saga.account }
    var startedAt: Instant { saga.startedAt }

    func ask(
        _ name: String, _ body: some CommandBody, of domain: Domain, for account: AccountID
    ) async throws -> Outcome {
        var message = Message(
            kind: .command, type: type(of: body).type, version: type(of: body).version, key: .account(account),
            account: account, body: try body.encoded(), correlationID: saga.correlationID,
            traceParent: saga.traceParent)
        let step = try await begin(name, message.bodyHash)
        if let outcome = step.outcome { return outcome }
        message.commandID = command(of: name, attempt: step.attempt)
        return try await record(name, try await services[domain].sender.send(message, mayBeRepeated: !step.isFresh))
    }

    private struct Step {
        let hash: ID<BodyHash>?
        /// If an earlier run got it.
        let outcome: Outcome?
        let attempt: Int32
        /// Whether this is the first time.
        let isFresh: Bool
    }

    /// Writes the step down before it is asked.
    private func begin(_ name: String, _ hash: BodyHash) async throws -> Step {
        // A second time when another run wrote it down between this one's look and its write.
        var found = try await write(name, hash)
        if found == nil { found = try await write(name, hash) }
        guard let found else { throw SagaError.notOwner }
        guard found.hash == hash.id else { throw SagaError.changed(step: name) }
        return found
    }

    private func write(_ name: String, _ hash: BodyHash) async throws -> Step? {
        let (saga, owner) = (id, owner)
        let first = command(of: name)
        return try await pool.withConnection { database in
            let row = try database.query(
                """
                WITH fresh AS (
                    INSERT INTO session_client.saga_step (saga, name, number, command_id, body_hash)
                    SELECT \(saga), \(name), (SELECT count(*) + 1 FROM session_client.saga_step WHERE saga = \(saga)),
                           \(first), \(hash.id)
                      FROM session_client.saga AS s
                     WHERE s.id = \(saga) AND s.owner = \(owner) AND s.state = 'running'
                       AND s.owned_until > clock_timestamp()
                    ON CONFLICT ON CONSTRAINT saga_step_is_recorded_once DO NOTHING
                    RETURNING body_hash, outcome, result, attempt)
                SELECT body_hash, outcome, result, attempt, true FROM fresh
                UNION ALL
                SELECT body_hash, outcome, result, attempt, false FROM session_client.saga_step
                 WHERE saga = \(saga) AND name = \(name)
                """
            ).only
            guard let row else { return nil }
            let outcome = try row.decode(1, as: String?.self)
            let result = try row.decode(2, as: JSON?.self)
            return Step(
                hash: try row.decode(0, as: ID<BodyHash>?.self),
                outcome: try outcome.map {
                    try JSONDecoder().decode(RecordedOutcome.self, from: Data(result?.bytes ?? [])).outcome($0)
                },
                attempt: try row.decode(3, as: Int32.self), isFresh: try row.decode(4, as: Bool.self))
        }
    }

    func askAnew(_ name: String) async throws {
        let (saga, owner) = (id, owner)
        _ = try await pool.withConnection { database in
            try database.transaction { database in
                let attempt = try database.query(
                    """
                    SELECT attempt FROM session_client.saga_step
                     WHERE saga = \(saga) AND name = \(name) AND outcome = 'failed'
                       FOR NO KEY UPDATE
                    """
                ).only?.decode(0, as: Int32.self)
                guard let attempt else { return }
                let next = command(of: name, attempt: attempt + 1)
                try database.execute(
                    """
                    UPDATE session_client.saga_step AS t
                       SET attempt = \(attempt + 1), command_id = \(next), outcome = NULL, result = NULL, ended_at = NULL
                      FROM session_client.saga AS s
                     WHERE t.saga = \(saga) AND t.name = \(name) AND s.id = t.saga AND s.owner = \(owner)
                    """)
            }
        }
    }

    /// Writes the outcome down; if another run was first, returns that one's.
    private func record(_ name: String, _ outcome: Outcome) async throws -> Outcome {
        let saga = id
        let body = try JSONEncoder().encode(RecordedOutcome(outcome))
        let (kind, result) = try await pool.withConnection { database in
            let written = try database.query(
                """
                UPDATE session_client.saga_step
                   SET outcome = \(outcome.kind.rawValue), result = \(JSON([UInt8](body))), ended_at = clock_timestamp()
                 WHERE saga = \(saga) AND name = \(name) AND outcome IS NULL
                RETURNING outcome, result
                """
            ).only
            let row =
                try written
                ?? database.query(
                    "SELECT outcome, result FROM session_client.saga_step WHERE saga = \(saga) AND name = \(name)"
                ).only
            guard let row else { throw SagaError.notOwner }
            return try (row.decode(0, as: String.self), row.decode(1, as: JSON.self).bytes)
        }
        return try JSONDecoder().decode(RecordedOutcome.self, from: Data(result)).outcome(kind)
    }
}

/// An outcome as a step keeps it.
private struct RecordedOutcome: Codable {
    var rejection: Rejection?
    var code: String?
    var partition: Int32?
    var position: Int64?
    var type: String?
    var body: String?

    init(_ outcome: Outcome) {
        switch outcome {
        case .accepted(let event):
            partition = event?.partition.number
            position = event?.position.number
            type = event?.type
            body = event.map { String(decoding: $0.body, as: UTF8.self) }
        case .rejected(let rejection): self.rejection = rejection
        case .failed(let code): self.code = code
        }
    }

    func outcome(_ kind: String) -> Outcome {
        switch kind {
        case "rejected": .rejected(rejection ?? Rejection(.malformed, "the reason can't be read"))
        case "failed": .failed(code: code ?? "error")
        default:
            .accepted(
                event: partition.flatMap { partition in
                    position.flatMap { position in
                        type.map {
                            CausedEvent(
                                partition: Partition(partition), position: Position(position), type: $0,
                                body: Array((body ?? "{}").utf8))
                        }
                    }
                })
        }
    }
}
