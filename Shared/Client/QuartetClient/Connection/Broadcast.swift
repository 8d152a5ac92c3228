import Synchronization

/// Sends values to any number of readers.
final class Broadcast<Value: Sendable>: Sendable {
    private struct Readers: Sendable {
        var next = 0
        var continuations: [Int: AsyncStream<Value>.Continuation] = [:]
    }

    private let readers = Mutex(Readers())

    /// - Parameters:
    ///   - limit: A reader that falls behind by more loses the oldest.
    ///   - first: What it begins with. Nothing that is sent after this was asked for is missed.
    func subscribe(keeping limit: Int, beginningWith first: () -> Value? = { nil }) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream<Value>.makeStream(bufferingPolicy: .bufferingNewest(limit))
        let id = readers.withLock { readers in
            if let first = first() { continuation.yield(first) }
            readers.next += 1
            readers.continuations[readers.next] = continuation
            return readers.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.readers.withLock { _ = $0.continuations.removeValue(forKey: id) }
        }
        return stream
    }

    func send(_ value: Value) {
        let continuations = readers.withLock { Array($0.continuations.values) }
        for continuation in continuations { continuation.yield(value) }
    }
}

extension Timekeeper {
    /// Waits until somebody calls, or until a time.
    /// - Parameter calls: A subscription that began before its reader looked at what there is to do.
    /// - Returns: Whether somebody has called.
    @discardableResult
    func wait(for calls: AsyncStream<Void>, until deadline: Duration?) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in calls { return true }
                return false
            }
            if let deadline {
                group.addTask {
                    try? await self.sleep(deadline)
                    return false
                }
            }
            let isCalled = await group.next() ?? false
            group.cancelAll()
            return isCalled
        }
    }
}
