import Synchronization

/// Lets one caller in at a time, in the order in which they came: between two commands the server keeps the order only if the first
/// is decided before the second is sent.
final class Lane: Sendable {
    private struct Queue: Sendable {
        var isTaken = false
        var next = 0
        var waiting: [(id: Int, continuation: CheckedContinuation<Bool, Never>?)] = []
    }

    /// A place in the line, for a task that is made after it was taken. Whoever takes it has to run at it.
    struct Place: Sendable {
        fileprivate let id: Int
    }

    private let queue = Mutex(Queue())

    /// A caller's place, taken when the person acts.
    /// - Parameter isShielded: Whether a caller that is cancelled waits all the same.
    func run<Value>(
        isShielded: Bool = false, _ body: () async throws(QuartetError) -> Value
    ) async throws(QuartetError) -> Value {
        guard await enter(isShielded) else { throw .cancelled }
        defer { leave() }
        return try await body()
    }

    func takePlace() -> Place {
        queue.withLock { queue in
            queue.next += 1
            if queue.isTaken { queue.waiting.append((queue.next, nil)) }
            queue.isTaken = true
            return Place(id: queue.next)
        }
    }

    /// Waits for the place's turn, also for a caller that is cancelled.
    func run<Value>(
        at place: Place, _ body: () async throws(QuartetError) -> Value
    ) async throws(QuartetError) -> Value {
        _ = await withCheckedContinuation { continuation in
            let isIn = queue.withLock { queue in
                guard let index = queue.waiting.firstIndex(where: { $0.id == place.id }) else { return true }
                queue.waiting[index].continuation = continuation
                return false
            }
            if isIn { continuation.resume(returning: true) }
        }
        defer { leave() }
        return try await body()
    }

    /// False if the caller was cancelled while it waited.
    private func enter(_ isShielded: Bool) async -> Bool {
        let id = queue.withLock { queue in
            queue.next += 1
            return queue.next
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIn = queue.withLock { queue -> Bool? in
                    if Task.isCancelled, !isShielded { return false }
                    guard queue.isTaken else {
                        queue.isTaken = true
                        return true
                    }
                    queue.waiting.append((id, continuation))
                    return nil
                }
                if let isIn { continuation.resume(returning: isIn) }
            }
        } onCancel: {
            guard !isShielded else { return }
            let waiting = queue.withLock { queue in
                queue.waiting.firstIndex { $0.id == id }.map { queue.waiting.remove(at: $0) }
            }
            waiting?.continuation?.resume(returning: false)
        }
    }

    private func leave() {
        let next = queue.withLock { queue in
            guard !queue.waiting.isEmpty else {
                queue.isTaken = false
                return nil as CheckedContinuation<Bool, Never>?
            }
            return queue.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
