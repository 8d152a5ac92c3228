import Foundation
import Postgres
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetVocabulary

/// Writes the steps of all sagas that this process runs, many at a time.
final class StepWriter: Sendable {
    /// A step that is about to be asked.
    struct Beginning: Sendable {
        let saga: ID<OperationSubject>
        let name: String
        let command: CommandID
        let hash: ID<BodyHash>
    }

    /// A step as it is recorded, by this run or an earlier one.
    struct Step: Sendable {
        let hash: ID<BodyHash>?
        /// If an earlier run got it.
        let outcome: Outcome?
        let attempt: Int32
        /// Whether this is the first time.
        let isFresh: Bool
    }

    /// How a step ended.
    struct Ending: Sendable {
        let saga: ID<OperationSubject>
        let name: String
        let outcome: Outcome
    }

    struct Batch: GatheredBatch {
        var beginnings: [Gathered<Beginning, Step?>] = []
        var endings: [Gathered<Ending, Outcome>] = []

        var count: Int { beginnings.count + endings.count }
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

    /// - Parameters:
    ///   - pool: Connections whose commits aren't flushed. If a server's crash loses a step, the next run asks again with the same
    ///     id, and the service remembers the outcome.
    ///   - owner: Of the sagas.
    init(pool: Pool, owner: OwnerID) {
        let statements = StepStatements(owner: owner)
        gathering = Gathering { batch in
            let (steps, outcomes) = try await pool.withConnection { try statements.execute(batch, $0) }
            for (beginning, step) in zip(batch.beginnings, steps) { beginning.give(step) }
            for (ending, outcome) in zip(batch.endings, outcomes) { ending.give(outcome) }
        }
    }

    /// Writes a step down, once per saga and name.
    /// - Returns: The step; nil if the saga isn't this process's own, or if another run wrote the step down at the same moment.
    /// - Throws: ``SagaError`` if what is recorded can't be read, or why the step couldn't be written down.
    func begin(_ beginning: Beginning) async throws -> Step? {
        try await gathering.write(beginning) { $0.beginnings.append($1) }
    }

    /// Writes an outcome down.
    /// - Returns: It, or what another run wrote down before.
    /// - Throws: ``SagaError`` if the saga is over or what is recorded can't be read, or why the outcome couldn't be written down.
    func end(_ ending: Ending) async throws -> Outcome {
        try await gathering.write(ending) { $0.endings.append($1) }
    }
}

/// The statements that write a batch.
struct StepStatements: Sendable {
    let owner: OwnerID

    /// Whether the saga of the step `t` is running. Not a join: in a small table that would be planned as a search of all running ones.
    private static let isRunning = "(SELECT s.state FROM session_client.saga AS s WHERE s.id = t.saga) = 'running'"

    /// - Returns: What each beginning and ending gets. What is recorded of one step and can't be read is that step's error alone.
    func execute(
        _ batch: StepWriter.Batch, _ database: Database
    ) throws -> ([Result<StepWriter.Step?, any Error>], [Result<Outcome, any Error>]) {
        let (beginnings, endings) = (batch.beginnings.map(\.item), batch.endings.map(\.item))
        let (begin, end) = (statement(for: beginnings), try statement(for: endings))
        let (begun, ended) = try database.pipeline { pipeline in
            let begun = begin.map { pipeline.query($0) }
            let ended = end.map { pipeline.query($0) }
            pipeline.sync()
            try pipeline.flush()
            return (try begun.rowsIfAsked, try ended.rowsIfAsked)
        }
        var steps = [Result<StepWriter.Step?, any Error>](repeating: .success(nil), count: beginnings.count)
        for row in begun {
            let index = Int(try row.decode(0, as: Int64.self)) - 1
            steps[index] = Result { try StepWriter.Step(row, named: beginnings[index].name) }
        }
        var isWritten = [Bool](repeating: false, count: endings.count)
        for row in ended { isWritten[Int(try row.decode(0, as: Int64.self)) - 1] = true }
        let outcomes = try zip(endings, isWritten).map { ending, isWritten -> Result<Outcome, any Error> in
            guard !isWritten else { return .success(ending.outcome) }
            return try outcome(of: ending, database)
        }
        return (steps, outcomes)
    }

    private func statement(for beginnings: [StepWriter.Beginning]) -> Query? {
        guard !beginnings.isEmpty else { return nil }
        return """
            WITH wanted AS (
                SELECT w.* FROM unnest(\(beginnings.map(\.saga)), \(beginnings.map(\.name)), \(beginnings.map(\.command)),
                                       \(beginnings.map(\.hash)))
                                WITH ORDINALITY AS w(saga, name, command_id, body_hash, ordinal)),
            fresh AS (
                INSERT INTO session_client.saga_step AS t (saga, name, number, command_id, body_hash)
                SELECT w.saga, w.name,
                       (SELECT count(*) FROM session_client.saga_step AS b WHERE b.saga = w.saga)
                       + row_number() OVER (PARTITION BY w.saga ORDER BY w.ordinal), w.command_id, w.body_hash
                  FROM wanted AS w
                  JOIN session_client.saga AS s ON s.id = w.saga
                 WHERE s.owner = \(owner) AND s.state = 'running' AND s.owned_until > clock_timestamp()
                ON CONFLICT ON CONSTRAINT saga_step_is_recorded_once DO NOTHING
                RETURNING t.saga, t.name, t.body_hash, t.outcome, t.result, t.attempt)
            SELECT w.ordinal, f.body_hash, f.outcome, f.result, f.attempt, true
              FROM fresh AS f JOIN wanted AS w ON w.saga = f.saga AND w.name = f.name
            UNION ALL
            SELECT w.ordinal, t.body_hash, t.outcome, t.result, t.attempt, false
              FROM wanted AS w JOIN session_client.saga_step AS t ON t.saga = w.saga AND t.name = w.name
             WHERE \(unescaped: Self.isRunning)
            """
    }

    private func statement(for endings: [StepWriter.Ending]) throws -> Query? {
        guard !endings.isEmpty else { return nil }
        let results = try endings.map { JSON([UInt8](try JSONEncoder().encode(RecordedOutcome($0.outcome)))) }
        return """
            UPDATE session_client.saga_step AS t
               SET outcome = w.outcome, result = w.result, ended_at = clock_timestamp()
              FROM unnest(\(endings.map(\.saga)), \(endings.map(\.name)), \(endings.map(\.outcome.kind.rawValue)), \(results))
                   WITH ORDINALITY AS w(saga, name, outcome, result, ordinal)
             WHERE t.saga = w.saga AND t.name = w.name AND t.outcome IS NULL AND \(unescaped: Self.isRunning)
            RETURNING w.ordinal
            """
    }

    /// What another run wrote down, unless the saga is over: what its steps learnt may have been emptied.
    private func outcome(of ending: StepWriter.Ending, _ database: Database) throws -> Result<Outcome, any Error> {
        let row = try database.query(
            """
            SELECT t.outcome, t.result FROM session_client.saga_step AS t
             WHERE t.saga = \(ending.saga) AND t.name = \(ending.name) AND \(unescaped: Self.isRunning)
            """
        ).only
        return Result {
            guard let row,
                let outcome = try RecordedOutcome.outcome(
                    try row.decode(0, as: String?.self), try row.decode(1, as: JSON?.self), of: ending.name)
            else { throw SagaError.notOwner }
            return outcome
        }
    }
}

extension StepWriter.Step {
    /// Reads hash, outcome, result, attempt and whether it is fresh, from the second column on.
    fileprivate init(_ row: Row, named name: String) throws {
        hash = try row.decode(1, as: ID<BodyHash>?.self)
        outcome = try RecordedOutcome.outcome(
            try row.decode(2, as: String?.self), try row.decode(3, as: JSON?.self), of: name)
        attempt = try row.decode(4, as: Int32.self)
        isFresh = try row.decode(5, as: Bool.self)
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

    /// Reads the columns of a step; nil if it has no outcome.
    /// - Throws: ``SagaError/emptied(step:)`` or ``SagaError/unreadable(step:)``, which says nothing of what is recorded.
    static func outcome(_ kind: String?, _ result: JSON?, of step: String) throws -> Outcome? {
        guard let kind else { return nil }
        guard let result else { throw SagaError.emptied(step: step) }
        do { return try JSONDecoder().decode(Self.self, from: Data(result.bytes)).outcome(kind) } catch {
            throw SagaError.unreadable(step: step)
        }
    }

    private func outcome(_ kind: String) -> Outcome {
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
