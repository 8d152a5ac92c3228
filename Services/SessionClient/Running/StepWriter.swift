import API
import Foundation
import Postgres
import SessionClientOrchestration
import Synchronization
import Vocabulary

/// Writes the steps of all sagas that this process runs: while one statement is on its way, what comes next gathers for another.
///
/// If the server refuses a statement, its rows are written one at a time, so that the refusal reaches only the saga at fault.
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

    private struct Waiting<Item: Sendable, Value: Sendable>: Sendable {
        let item: Item
        let answer: SingleAnswer<Result<Value, any Error>>
    }

    private struct Queue: Sendable {
        var beginnings: [Waiting<Beginning, Step?>] = []
        var endings: [Waiting<Ending, Outcome>] = []
        var isWriting = false

        var isEmpty: Bool { beginnings.isEmpty && endings.isEmpty }
    }

    /// Its commits aren't flushed. If a server's crash loses a step, the next run asks again with the same id, and the service
    /// remembers the outcome.
    private let pool: Pool
    private let owner: OwnerID
    private let queue = Mutex(Queue())

    /// - Parameter owner: Of the sagas.
    init(pool: Pool, owner: OwnerID) {
        self.pool = pool
        self.owner = owner
    }

    /// Writes a step down, once per saga and name.
    /// - Returns: The step; nil if the saga isn't this process's own, or if another run wrote the step down at the same moment.
    func begin(_ beginning: Beginning) async throws -> Step? {
        try await write(beginning) { $0.beginnings.append($1) }
    }

    /// Writes an outcome down.
    /// - Returns: It, or what another run wrote down before.
    func end(_ ending: Ending) async throws -> Outcome { try await write(ending) { $0.endings.append($1) } }

    private func write<Item: Sendable, Value: Sendable>(
        _ item: Item, _ append: (inout Queue, Waiting<Item, Value>) -> Void
    ) async throws -> Value {
        let waiting = Waiting(item: item, answer: SingleAnswer<Result<Value, any Error>>())
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.answer.wait(continuation)
                let isFirst = queue.withLock { queue in
                    append(&queue, waiting)
                    defer { queue.isWriting = true }
                    return !queue.isWriting
                }
                if isFirst { Task { await self.writeAll() } }
            }
        } onCancel: {
            waiting.answer.give(.failure(CancellationError()))
        }
        return try result.get()
    }

    private func writeAll() async {
        while true {
            let taken = queue.withLock { queue in
                defer { queue = Queue(isWriting: !queue.isEmpty) }
                return queue
            }
            guard !taken.isEmpty else { return }
            await write(taken)
        }
    }

    private func write(_ queue: Queue) async {
        do {
            let (steps, outcomes) = try await results(of: queue)
            for (waiting, step) in zip(queue.beginnings, steps) { waiting.answer.give(.success(step)) }
            for (waiting, outcome) in zip(queue.endings, outcomes) { waiting.answer.give(outcome) }
        } catch {
            let isAlone = queue.beginnings.count + queue.endings.count == 1
            if !isAlone, let error = error as? PostgresError, case .server = error.root {
                for waiting in queue.beginnings { await write(Queue(beginnings: [waiting])) }
                for waiting in queue.endings { await write(Queue(endings: [waiting])) }
            } else {
                for waiting in queue.beginnings { waiting.answer.give(.failure(error)) }
                for waiting in queue.endings { waiting.answer.give(.failure(error)) }
            }
        }
    }

    private func results(of queue: Queue) async throws -> ([Step?], [Result<Outcome, any Error>]) {
        let (beginnings, endings) = (queue.beginnings.map(\.item), queue.endings.map(\.item))
        let (begin, end) = (statement(for: beginnings), try statement(for: endings))
        return try await pool.withConnection { database in
            let (begun, ended) = try database.pipeline { pipeline in
                let begun = begin.map { pipeline.query($0) }
                let ended = end.map { pipeline.query($0) }
                pipeline.sync()
                try pipeline.flush()
                return (try begun?.rows(), try ended?.rows())
            }
            var steps = [Step?](repeating: nil, count: beginnings.count)
            for row in begun.map(Array.init) ?? [] {
                steps[Int(try row.decode(0, as: Int64.self)) - 1] = try Step(row)
            }
            var isWritten = [Bool](repeating: false, count: endings.count)
            for row in ended.map(Array.init) ?? [] { isWritten[Int(try row.decode(0, as: Int64.self)) - 1] = true }
            let outcomes = try zip(endings, isWritten).map { ending, isWritten -> Result<Outcome, any Error> in
                guard !isWritten else { return .success(ending.outcome) }
                guard let outcome = try Self.outcome(of: ending, database) else { return .failure(SagaError.notOwner) }
                return .success(outcome)
            }
            return (steps, outcomes)
        }
    }

    private func statement(for beginnings: [Beginning]) -> Query? {
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
            """
    }

    private func statement(for endings: [Ending]) throws -> Query? {
        guard !endings.isEmpty else { return nil }
        let results = try endings.map { JSON([UInt8](try JSONEncoder().encode(RecordedOutcome($0.outcome)))) }
        return """
            UPDATE session_client.saga_step AS t
               SET outcome = w.outcome, result = w.result, ended_at = clock_timestamp()
              FROM unnest(\(endings.map(\.saga)), \(endings.map(\.name)), \(endings.map(\.outcome.kind.rawValue)), \(results))
                   WITH ORDINALITY AS w(saga, name, outcome, result, ordinal)
             WHERE t.saga = w.saga AND t.name = w.name AND t.outcome IS NULL
            RETURNING w.ordinal
            """
    }

    /// What another run wrote down.
    private static func outcome(of ending: Ending, _ database: Database) throws -> Outcome? {
        try database.query(
            """
            SELECT t.outcome, t.result FROM session_client.saga_step AS t
             WHERE t.saga = \(ending.saga) AND t.name = \(ending.name)
            """
        ).only.flatMap { row in
            try RecordedOutcome.outcome(try row.decode(0, as: String?.self), try row.decode(1, as: JSON?.self))
        }
    }
}

extension StepWriter.Step {
    /// Reads hash, outcome, result, attempt and whether it is fresh, from the second column on.
    fileprivate init(_ row: Row) throws {
        hash = try row.decode(1, as: ID<BodyHash>?.self)
        outcome = try RecordedOutcome.outcome(try row.decode(2, as: String?.self), try row.decode(3, as: JSON?.self))
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
    static func outcome(_ kind: String?, _ result: JSON?) throws -> Outcome? {
        try kind.map { try JSONDecoder().decode(Self.self, from: Data(result?.bytes ?? [])).outcome($0) }
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
