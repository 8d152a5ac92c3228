import Synchronization

/// Holds what a stream has brought until its reader is free, and then hands over everything that has come, at once.
final class StreamArrivals: Sendable {
    private struct State: Sendable {
        var items: [StreamItem] = []
        /// How it ended: without more, or by an error.
        var end: Result<[StreamItem]?, any Error>?
    }

    private let state = Mutex(State())
    private let bells: AsyncStream<Void>
    private let bell: AsyncStream<Void>.Continuation

    init() {
        (bells, bell) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Collects what a stream brings, to its end.
    func collect(_ items: AsyncThrowingStream<StreamItem, any Error>) async {
        do {
            for try await item in items {
                let isFirst = state.withLock { state in
                    state.items.append(item)
                    return state.items.count == 1
                }
                if isFirst { bell.yield(()) }
            }
            end(.success(nil))
        } catch {
            end(.failure(error))
        }
    }

    private func end(_ result: Result<[StreamItem]?, any Error>) {
        state.withLock { $0.end = result }
        bell.yield(())
    }

    /// Waits for what comes next. One reader asks.
    /// - Returns: Everything that has arrived, in its order; nil at the end, or if the task is cancelled.
    /// - Throws: What the stream ended with, after everything that it brought.
    func next() async throws -> [StreamItem]? {
        while true {
            let arrived = state.withLock { state -> Result<[StreamItem]?, any Error>? in
                guard !state.items.isEmpty else { return state.end }
                defer { state.items = [] }
                return .success(state.items)
            }
            if let arrived { return try arrived.get() }
            var iterator = bells.makeAsyncIterator()
            guard await iterator.next(isolation: #isolation) != nil else { return nil }
        }
    }
}
