public import QuartetAPI
public import QuartetClient
import Synchronization

/// A server that a test plays: it answers requests by a closure, and hands each stream that is opened to the test.
public final class ScriptedTransport: Transport {
    public typealias Answer = @Sendable (TransportRequest) async throws -> TransportReply

    private struct State: Sendable {
        var answer: Answer
        var requests: [TransportRequest] = []
        var refusals: [any Error] = []
        var openCount = 0
    }

    private let state: Mutex<State>
    private let opened: AsyncStream<ScriptedStream>
    private let add: AsyncStream<ScriptedStream>.Continuation

    /// - Parameter answer: How requests are answered.
    public init(_ answer: @escaping Answer) {
        state = Mutex(State(answer: answer))
        (opened, add) = AsyncStream<ScriptedStream>.makeStream()
    }

    /// Changes how requests are answered from now on.
    public func answer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

    /// Refuses the next stream.
    public func refuseStream(_ error: any Error) { state.withLock { $0.refusals.append(error) } }

    /// Every request so far, in the order in which they arrived.
    public var requests: [TransportRequest] { state.withLock { $0.requests } }

    /// How many streams are open.
    public var openStreams: Int { state.withLock { $0.openCount } }

    /// The next stream that is opened; nil if the task is cancelled.
    public func nextStream() async -> ScriptedStream? {
        var streams = opened.makeAsyncIterator()
        return await streams.next(isolation: #isolation)
    }

    public func send(_ request: TransportRequest) async throws -> TransportReply {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answer
        }
        return try await answer(request)
    }

    public func open(_ request: StreamRequest) async throws -> OpenedStream {
        let refusal = state.withLock { state -> (any Error)? in
            guard state.refusals.isEmpty else { return state.refusals.removeFirst() }
            state.openCount += 1
            return nil
        }
        if let refusal { throw refusal }
        let (items, continuation) = AsyncThrowingStream<StreamItem, any Error>.makeStream()
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.openCount -= 1 } }
        add.yield(ScriptedStream(request: request, items: continuation))
        return OpenedStream(items: items)
    }
}

/// One stream, on which a test says what arrives.
public struct ScriptedStream: Sendable {
    /// With which token and from where it was opened.
    public let request: StreamRequest
    fileprivate let items: AsyncThrowingStream<StreamItem, any Error>.Continuation

    public func send(_ item: StreamItem) { items.yield(item) }

    /// An event of a sequence, at a place of all sequences.
    public func send(_ event: StreamEvent, place: String? = nil) { items.yield(.event(event, place: place)) }

    /// The connection breaks, or closes in good order.
    public func end(throwing error: (any Error)? = nil) { items.finish(throwing: error) }
}
