import Bus
import Foundation
import Postgres
import Vocabulary

/// One run of a saga: asks services under names, and gives a later run the same answers.
struct SagaRun: Sendable {
    let id: ID<SagaSubject>
    let account: AccountID
    let correlationID: CorrelationID
    let traceParent: String?
    let startedAt: Instant
    let owner: OwnerID
    let services: ServiceConnections
    let pool: Pool

    /// The id of the command that a step asks: the same in every run.
    func command(of step: String, attempt: Int32 = 1) -> CommandID {
        .derived(at: startedAt, from: Array("saga".utf8), id.bytes, Array(step.utf8), Array("\(attempt)".utf8))
    }

    /// A step that decides: its rejection is the saga's, and so is its failure.
    /// - Parameter name: the step's; the same in every run.
    /// - Throws: `Rejection`, ``SagaError``, `CommandError` when the outcome can't be known now.
    func decide(
        _ name: String, _ body: some CommandBody, of domain: Domain, for account: AccountID
    ) async throws -> CausedEvent? {
        switch try await ask(name, body, of: domain, for: account) {
        case .accepted(let event): return event
        case .rejected(let rejection): throw rejection
        case .failed(let code): throw SagaError.decisionFailed(name, code: code)
        }
    }

    /// A step after the decision: it must be accepted in the end.
    /// - Parameters:
    ///   - name: the step's; the same in every run.
    ///   - pointless: a rejection that is as good: whom it concerned is gone, say.
    /// - Returns: whether it was accepted; false for a pointless one.
    /// - Throws: ``SagaError``, `CommandError` when the outcome can't be known now.
    @discardableResult
    func demand(
        _ name: String, _ body: some CommandBody, of domain: Domain, for account: AccountID,
        unless pointless: Rejection.Code? = nil
    ) async throws -> Bool {
        switch try await ask(name, body, of: domain, for: account) {
        case .accepted: return true
        case .rejected(let rejection) where rejection.code == pointless: return false
        case .rejected(let rejection): throw SagaError.stepRejected(name, rejection)
        case .failed(let code):
            try await askAnew(name)
            throw SagaError.stepFailed(name, code: code)
        }
    }

    // MARK: Recording

    /// Asks a service, once however often the saga runs, and waits for the outcome.
    private func ask(
        _ name: String, _ body: some CommandBody, of domain: Domain, for account: AccountID
    ) async throws -> Outcome {
        var message = Message(
            kind: .command, type: type(of: body).type, version: type(of: body).version, key: .account(account),
            account: account, body: try body.encoded(), correlationID: correlationID, traceParent: traceParent)
        let (recorded, attempt) = try await begin(name, message.bodyHash)
        if let recorded { return recorded }
        message.commandID = command(of: name, attempt: attempt)
        return try await record(name, try await services[domain].sender.send(message, mayBeRepeated: true))
    }

    /// Writes the step down before it is asked. Returns its outcome if an earlier run got it.
    private func begin(_ name: String, _ hash: BodyHash) async throws -> (Outcome?, attempt: Int32) {
        let (saga, owner) = (id, owner)
        let first = command(of: name)
        let recorded = try await pool.withConnection { database in
            try database.transaction { database in
                try database.execute(
                    """
                    INSERT INTO session_client.saga_step (saga, name, number, command_id, body_hash)
                    SELECT \(saga), \(name), (SELECT count(*) + 1 FROM session_client.saga_step WHERE saga = \(saga)),
                           \(first), \(hash.id)
                      FROM session_client.saga AS s
                     WHERE s.id = \(saga) AND s.owner = \(owner) AND s.state = 'running' AND s.owned_until > clock_timestamp()
                    ON CONFLICT ON CONSTRAINT saga_step_is_recorded_once DO NOTHING
                    """)
                return try database.query(
                    """
                    SELECT body_hash, outcome, result, attempt FROM session_client.saga_step
                     WHERE saga = \(saga) AND name = \(name)
                    """
                ).map {
                    try (
                        $0.decode(0, as: ID<BodyHash>?.self), $0.decode(1, as: String?.self),
                        $0.decode(2, as: JSON?.self), $0.decode(3, as: Int32.self)
                    )
                }
            }
        }
        guard let (recordedHash, outcome, result, attempt) = recorded.first else { throw SagaError.notOwner }
        guard recordedHash == hash.id else { throw SagaError.changed(step: name) }
        guard let outcome else { return (nil, attempt) }
        let known = try JSONDecoder().decode(RecordedOutcome.self, from: Data(result?.bytes ?? []))
        return (known.outcome(outcome), attempt)
    }

    /// After a failure nothing was done: the next run asks under a new id.
    private func askAnew(_ name: String) async throws {
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
            try database.execute(
                """
                UPDATE session_client.saga_step
                   SET outcome = \(outcome.kind.rawValue), result = \(JSON([UInt8](body))), ended_at = clock_timestamp()
                 WHERE saga = \(saga) AND name = \(name) AND outcome IS NULL
                """)
            guard
                let row = try database.query(
                    "SELECT outcome, result FROM session_client.saga_step WHERE saga = \(saga) AND name = \(name)"
                ).only
            else { throw SagaError.notOwner }
            return try (row.decode(0, as: String.self), row.decode(1, as: JSON.self).bytes)
        }
        return try JSONDecoder().decode(RecordedOutcome.self, from: Data(result)).outcome(kind)
    }
}

/// What ``SagaRun/id`` identifies.
enum SagaSubject {}

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
