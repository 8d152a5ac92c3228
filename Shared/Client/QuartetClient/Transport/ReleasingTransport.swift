import Synchronization

/// Bounds the time of whatever a transport does, even of one that is stuck and can't be cancelled: it would hold calls beyond their
/// limit, and whatever waits behind them. What still comes of a request that was left behind is dropped.
final class ReleasingTransport: Transport {
    private let inner: any Transport
    private let time: Timekeeper
    /// When the openings began that haven't ended.
    private let openings = Mutex<[Duration]>([])

    /// How long what is over is waited for. A transport that heeds cancellation has ended by then, and leaves nothing behind.
    static let grace: Duration = .seconds(1)
    /// How many openings may hang in a transport: once it goes on, they are fewer than the streams that a server gives a device. Those
    /// of some age are taken for lost: what has hung for so long goes on for nobody, and without a stream a person hears of no alarm.
    static let openingLimit = 8
    static let openingAge: Duration = .seconds(600)
    /// What carries many bytes takes as long as they do: bytes a second.
    private static let slowest = 1024

    init(inner: any Transport, time: Timekeeper) {
        self.inner = inner
        self.time = time
    }

    func send(_ request: TransportRequest) async throws -> TransportReply {
        let limit = time.requestLimit + .seconds(request.size / Self.slowest)
        return try await run(within: limit) { [inner] in try await inner.send(request) }
    }

    func open(_ request: StreamRequest) async throws -> OpenedStream {
        // The connection ends one from which nothing comes.
        try await run(within: nil) { [self] in
            let began = try beginOpening()
            defer { endOpening(began) }
            return try await inner.open(request)
        }
    }

    private func beginOpening() throws(TransportError) -> Duration {
        let now = time.now()
        let hasRoom = openings.withLock { openings in
            openings.removeAll { $0 <= now - Self.openingAge }
            guard openings.count < Self.openingLimit else { return false }
            openings.append(now)
            return true
        }
        guard hasRoom else { throw .unreachable("\(Self.openingLimit) streams are still being opened") }
        return now
    }

    private func endOpening(_ began: Duration) {
        openings.withLock { openings in
            if let index = openings.firstIndex(of: began) { openings.remove(at: index) }
        }
    }

    private func run<Value: Sendable>(
        within limit: Duration?, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let call = TransportCall<Value>()
        let work = Task(executorPreference: time.workplace) {
            do {
                // Nothing begins once its caller has left.
                try Task.checkCancellation()
                call.end(.success(try await body()))
            } catch {
                call.end(.failure(error))
            }
        }
        call.cancelAtEnd(work)
        if let limit { end(call, after: limit, TransportError.interrupted("it took too long")) }
        return try await withTaskCancellationHandler {
            try await call.value()
        } onCancel: {
            work.cancel()
            end(call, after: .zero, CancellationError())
        }
    }

    private func end<Value: Sendable>(_ call: TransportCall<Value>, after pause: Duration, _ error: any Error) {
        let end = time.now() + pause
        let watch = Task(executorPreference: time.workplace) { [time] in
            do {
                try await time.sleep(end)
                // The device may have slept until now: what came meanwhile is read first.
                try await time.sleep(time.now() + Self.grace)
            } catch {
                return
            }
            call.end(.failure(error))
        }
        call.cancelAtEnd(watch)
    }
}

/// What one caller waits for, from whomever it comes first.
private final class TransportCall<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var result: Result<Value, any Error>?
        var waiting: CheckedContinuation<Value, any Error>?
        var tasks: [Task<Void, Never>] = []
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

    /// Cancels a task once it has ended.
    func cancelAtEnd(_ task: Task<Void, Never>) {
        let hasEnded = state.withLock { state in
            if state.result == nil { state.tasks.append(task) }
            return state.result != nil
        }
        if hasEnded { task.cancel() }
    }

    /// Ends it, unless it has ended.
    func end(_ result: Result<Value, any Error>) {
        let last = state.withLock { state -> State? in
            guard state.result == nil else { return nil }
            defer { state = State(result: result) }
            return state
        }
        for task in last?.tasks ?? [] { task.cancel() }
        last?.waiting?.resume(with: result)
    }
}

extension TransportRequest {
    /// How many bytes it carries, to or from the server.
    fileprivate var size: Int {
        if case .attachment(_, _, let bytes) = endpoint { bytes.count } else { body.count }
    }
}
