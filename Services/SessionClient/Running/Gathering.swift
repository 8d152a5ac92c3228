import Bus
import Postgres
import Synchronization

/// What is written together. It fills while the batch before it is on its way.
protocol GatheredBatch: Sendable {
    init()
    var count: Int { get }
    /// Takes what is written next, and leaves what has to come after it.
    mutating func take() -> Self
    /// Without the items that nobody waits for any longer.
    var awaited: Self { get }
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
    private let late: @Sendable (Value) -> Void

    /// - Parameter late: Called with what the item was given after its waiter was gone.
    init(_ item: Item, late: @escaping @Sendable (Value) -> Void = { _ in }) {
        self.item = item
        self.late = late
    }

    /// Whether it has no answer yet.
    var isAwaited: Bool { !answer.isGiven }

    func give(_ result: Result<Value, any Error>) {
        guard !answer.give(result), case .success(let value) = result else { return }
        late(value)
    }

    func wait(_ continuation: CheckedContinuation<Result<Value, any Error>, Never>) { answer.wait(continuation) }
}

/// Writes what many ask for in few transactions: while one is on its way, what comes next gathers for another.
///
/// If the server refuses a batch for what an item is, its items are written one at a time, so that the refusal reaches only the one
/// at fault. Trouble of the database is nobody's fault, and would meet each of them: it ends all of the batch at once. A
/// statement that is stuck holds up its own batch: after a moment, what comes next is written beside it.
final class Gathering<Batch: GatheredBatch>: Sendable {
    private struct Pending: Sendable {
        var batch = Batch()
        /// How many batches are on their way.
        var writing = 0
        /// How many of them are taking long.
        var stuck = 0

        /// Adds a writer if there is none, or none that gets on.
        mutating func addWriter() -> Bool {
            guard writing == 0 || stuck == writing && writing < Gathering.writerLimit else { return false }
            writing += 1
            return true
        }
    }

    private let pending = Mutex(Pending())
    private let writeBatch: @Sendable (Batch) async throws -> Void
    private let patience: Duration
    /// The most batches on their way, while one is stuck.
    private static var writerLimit: Int { 2 }

    /// - Parameters:
    ///   - patience: How long a batch may be on its way before the next isn't held up by it any more.
    ///   - write: Writes a batch and gives each item its answer, or throws.
    init(patience: Duration = .milliseconds(250), _ write: @escaping @Sendable (Batch) async throws -> Void) {
        self.patience = patience
        writeBatch = write
    }

    /// Adds an item to the next batch.
    /// - Parameter late: Called with what the writing gave it if the task was cancelled meanwhile.
    /// - Returns: What the writing gave it.
    /// - Throws: Why it couldn't be written, or ``Postgres/PostgresError/cancelled`` when the task is cancelled. It isn't written
    ///   any more then, unless its batch is on its way.
    func write<Item: Sendable, Value: Sendable>(
        _ item: Item, late: @escaping @Sendable (Value) -> Void = { _ in },
        _ add: (inout Batch, Gathered<Item, Value>) -> Void
    ) async throws -> Value {
        let gathered = Gathered<Item, Value>(item, late: late)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                gathered.wait(continuation)
                let isWriter = pending.withLock { pending in
                    add(&pending.batch, gathered)
                    return pending.addWriter()
                }
                if isWriter { Task { await self.writeAll() } }
            }
        } onCancel: {
            gathered.give(.failure(PostgresError.cancelled))
        }
        return try result.get()
    }

    private func writeAll() async {
        while true {
            let (isOver, batch) = pending.withLock { pending in
                let batch = pending.batch.take()
                if batch.count == 0 { pending.writing -= 1 }
                return (batch.count == 0, batch.awaited)
            }
            if isOver { return }
            guard batch.count > 0 else { continue }
            let watch = Task { await self.watch() }
            await write(batch)
            watch.cancel()
            if await watch.value { pending.withLock { $0.stuck -= 1 } }
        }
    }

    /// Has another writer go on when a batch takes long.
    /// - Returns: Whether it did.
    private func watch() async -> Bool {
        guard (try? await Task.sleep(for: patience)) != nil else { return false }
        let isWriter = pending.withLock { pending in
            pending.stuck += 1
            return pending.batch.count > 0 && pending.addWriter()
        }
        // Not this task, which ends with the batch.
        if isWriter { Task { await self.writeAll() } }
        return true
    }

    private func write(_ batch: Batch) async {
        guard let error = await failure(of: batch) else { return }
        guard batch.count > 1, error.isOfOneItem else { return batch.fail(error) }
        var trouble: (any Error)?
        for item in batch.items {
            // What meets one of them now would meet each.
            if let trouble {
                item.fail(trouble)
            } else if let error = await failure(of: item) {
                item.fail(error)
                if !error.isOfOneItem { trouble = error }
            }
        }
    }

    private func failure(of batch: Batch) async -> (any Error)? {
        do {
            try await writeBatch(batch)
            return nil
        } catch {
            return error
        }
    }
}

extension Error {
    /// Whether the server refused what one of the items is, so that the others may succeed without it.
    fileprivate var isOfOneItem: Bool {
        guard let state = (self as? PostgresError)?.sqlState else { return false }
        return Blame.of(state) == .message || state == "23505"
    }
}
