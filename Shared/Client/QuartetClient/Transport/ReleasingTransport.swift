import Synchronization

/// Lets a caller that is cancelled go at once, whatever the transport does. One that is stuck would else hold calls beyond their
/// limit, and whatever waits behind them. What still comes of such a request is dropped.
struct ReleasingTransport: Transport {
    let inner: any Transport
    let workplace: (any Workplace)?

    func send(_ request: TransportRequest) async throws -> TransportReply {
        try await run { [inner] in try await inner.send(request) }
    }

    func open(_ request: StreamRequest) async throws -> OpenedStream {
        try await run { [inner] in try await inner.open(request) }
    }

    private func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let first = FirstResult<Value>()
        let work = Task(executorPreference: workplace) {
            do { first.finish(.success(try await body())) } catch { first.finish(.failure(error)) }
        }
        return try await withTaskCancellationHandler {
            try await first.value()
        } onCancel: {
            work.cancel()
            first.finish(.failure(CancellationError()))
        }
    }
}

/// What one caller waits for, from whomever it comes first.
private final class FirstResult<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var result: Result<Value, any Error>?
        var waiting: CheckedContinuation<Value, any Error>?
    }

    private let state = Mutex(State())

    func value() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.waiting = continuation }
                return state.result
            }
            if let result { continuation.resume(with: result) }
        }
    }

    func finish(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard state.result == nil else { return nil }
            state.result = result
            return state.waiting
        }
        waiting?.resume(with: result)
    }
}
