import Bus
import Foundation
import Postgres
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetVocabulary

/// The steps of one run of a saga, recorded as rows: a later run gets the same answers.
struct RecordedSteps: SagaSteps {
    let saga: ClaimedSaga
    let owner: OwnerID
    let services: ServiceConnections
    let writer: StepWriter
    let sagas: SagaWriter
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
        let outcome = try await services[domain].sender.send(
            message, isUrgent: type(of: body).isUrgent, mayBeRepeated: !step.isFresh)
        return try await writer.end(.init(saga: id, name: name, outcome: outcome))
    }

    /// Writes the step down before it is asked.
    private func begin(_ name: String, _ hash: BodyHash) async throws -> StepWriter.Step {
        let beginning = StepWriter.Beginning(saga: id, name: name, command: command(of: name), hash: hash.id)
        // A second time when another run wrote it down between this one's look and its write.
        var found = try await writer.begin(beginning)
        if found == nil { found = try await writer.begin(beginning) }
        guard let found else { throw SagaError.notOwner }
        // What is done is done, whichever command did it. Without a hash, an operator lets this version ask.
        guard found.hash == hash.id || found.hash == nil || found.outcome != nil else {
            throw SagaError.changed(step: name)
        }
        return found
    }

    func askAnew(_ name: String) async throws {
        let (saga, owner) = (id, owner)
        _ = try await pool.withConnection { database in
            try database.transaction { database in
                let attempt = try database.query(
                    """
                    SELECT attempt FROM session_client.saga_step
                     WHERE saga = \(saga) AND name = \(name) AND outcome IN ('failed', 'rejected')
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
}
