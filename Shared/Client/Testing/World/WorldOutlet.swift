import QuartetAPI
import QuartetClient
import Synchronization

/// One open stream, from which an app takes one item after the other.
final class WorldOutlet: Sendable {
    private struct State: Sendable {
        var items: [StreamItem] = []
        var end: Result<StreamItem?, any Error>?
        var waiting: CheckedContinuation<StreamItem?, any Error>?
    }

    private let state = Mutex(State())

    var isOpen: Bool { state.withLock { $0.end == nil } }

    func send(_ item: StreamItem) {
        let waiting = state.withLock { state -> CheckedContinuation<StreamItem?, any Error>? in
            guard state.end == nil else { return nil }
            guard let waiting = state.waiting else {
                state.items.append(item)
                return nil
            }
            state.waiting = nil
            return waiting
        }
        waiting?.resume(returning: item)
    }

    /// Ends it; what the app hasn't taken is lost.
    func end(throwing error: (any Error)?) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            state.items = []
            if state.end == nil { state.end = error.map { .failure($0) } ?? .success(nil) }
            return state.waiting
        }
        if let error { waiting?.resume(throwing: error) } else { waiting?.resume(returning: nil) }
    }

    /// What an app reads. When the app lets go of it, the stream ends, whether or not somebody waits for an item.
    var items: AsyncThrowingStream<StreamItem, any Error> {
        let reader = Reader(outlet: self)
        return AsyncThrowingStream(unfolding: { try await reader.outlet.next() })
    }

    private final class Reader: Sendable {
        let outlet: WorldOutlet

        init(outlet: WorldOutlet) { self.outlet = outlet }

        deinit { outlet.end(throwing: CancellationError()) }
    }

    private func next() async throws -> StreamItem? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let now = state.withLock { state -> Result<StreamItem?, any Error>? in
                    if let end = state.end { return end }
                    if !state.items.isEmpty { return .success(state.items.removeFirst()) }
                    state.waiting = continuation
                    return nil
                }
                if let now { continuation.resume(with: now) }
            }
        } onCancel: {
            end(throwing: CancellationError())
        }
    }
}
