import Postgres
import Synchronization

/// What is written together. It fills while the batch before it is on its way.
protocol GatheredBatch: Sendable {
    init()
    var count: Int { get }
    /// Takes what is written next, and leaves what has to come after it.
    mutating func take() -> Self
    /// Each of its items by itself.
    var items: [Self] { get }
    /// Gives everybody who waits for an item the error.
    func fail(_ error: any Error)
}

extension GatheredBatch {
    mutating func take() -> Self {
        defer { self = Self() }
        return self
    }
}

/// An item of a batch, and who waits for what becomes of it.
struct Gathered<Item: Sendable, Value: Sendable>: Sendable {
    let item: Item
    private let answer = SingleAnswer<Result<Value, any Error>>()

    init(_ item: Item) { self.item = item }

    func give(_ result: Result<Value, any Error>) { answer.give(result) }
    func wait(_ continuation: CheckedContinuation<Result<Value, any Error>, Never>) { answer.wait(continuation) }
}

/// Writes what many ask for in few transactions: while one is on its way, what comes next gathers for another.
///
/// If the server refuses a batch, its items are written one at a time, so that the refusal reaches only the one at fault.
final class Gathering<Batch: GatheredBatch>: Sendable {
    private struct Pending: Sendable {
        var batch = Batch()
        var isWriting = false
    }

    private let pending = Mutex(Pending())
    private let writeBatch: @Sendable (Batch) async throws -> Void

    /// - Parameter write: Writes a batch and gives each item its answer, or throws.
    init(_ write: @escaping @Sendable (Batch) async throws -> Void) { writeBatch = write }

    /// Adds an item to the next batch.
    /// - Returns: What the writing gave it.
    /// - Throws: Why it couldn't be written, or ``Postgres/PostgresError/cancelled`` when the task is cancelled. It may be written
    ///   all the same.
    func write<Item: Sendable, Value: Sendable>(
        _ item: Item, _ add: (inout Batch, Gathered<Item, Value>) -> Void
    ) async throws -> Value {
        let gathered = Gathered<Item, Value>(item)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                gathered.wait(continuation)
                let isFirst = pending.withLock { pending in
                    add(&pending.batch, gathered)
                    defer { pending.isWriting = true }
                    return !pending.isWriting
                }
                if isFirst { Task { await self.writeAll() } }
            }
        } onCancel: {
            gathered.give(.failure(PostgresError.cancelled))
        }
        return try result.get()
    }

    private func writeAll() async {
        while true {
            let batch = pending.withLock { pending in
                let batch = pending.batch.take()
                pending.isWriting = batch.count > 0
                return batch
            }
            guard batch.count > 0 else { return }
            await write(batch)
        }
    }

    private func write(_ batch: Batch) async {
        do { try await writeBatch(batch) } catch {
            if batch.count > 1, let error = error as? PostgresError, case .server = error.root {
                for item in batch.items { await write(item) }
            } else {
                batch.fail(error)
            }
        }
    }
}
