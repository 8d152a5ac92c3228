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
    /// Connections whose commits aren't flushed: what a crashed server loses of a step, the next run learns again. The
    /// step's command has the same id, and its service remembers the outcome.
    let steps: Pool

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

    /// Writes down that every owner has closed the account, and has what was asked for it emptied. Again, it changes nothing.
    func reportClosure() async throws {
        let (id, account, startedAt) = (id, account, startedAt)
        _ = try await steps.withConnection { database in
            try database.transaction { database in
                let isFirst = try database.execute(
                    """
                    INSERT INTO session_client.closure (account, operation, requested_at)
                    VALUES (\(account), \(id), \(startedAt))
                    ON CONFLICT ON CONSTRAINT account_is_closed_once DO NOTHING
                    """)
                guard isFirst == 1 else { return }
                _ = try database.query("SELECT session_client.redact(\(account))")
                // What earlier operations learnt is the person's, too.
                try database.execute(
                    """
                    UPDATE session_client.saga_step AS t SET result = NULL
                      FROM session_client.saga AS s
                     WHERE s.id = t.saga AND s.account = \(account) AND s.id <> \(id)
                    """)
                try database.execute(
                    """
                    UPDATE session_client.saga SET result = NULL
                     WHERE account = \(account) AND id <> \(id) AND state <> 'running'
                    """)
            }
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
        /// Nobody asked before.
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
        return try await steps.withConnection { database in
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

    /// After a failure nothing was done: the next run asks under a new id.
    private func askAnew(_ name: String) async throws {
        let (saga, owner) = (id, owner)
        _ = try await steps.withConnection { database in
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
        let (kind, result) = try await steps.withConnection { database in
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
