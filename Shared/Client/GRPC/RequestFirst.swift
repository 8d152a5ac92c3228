package import GRPCCore

/// Holds a call's answer back until its request is written or given up.
///
/// A server may refuse a call by its metadata before the client has written the message. The library closes a stream once the
/// answer is read, and a message that then meets the closed stream ends the process of a debug build
/// (`GRPCStreamStateMachine.clientSend`: "Client is closed, cannot send a message").
///
/// It is for calls whose request ends by itself: one that waits for its answer would wait until the call is given up.
package struct RequestFirst: ClientInterceptor {
    package init() {}

    /// Ends its stream when nobody can write any more: the writer is done, or was never called.
    private final class Writing: Sendable {
        private let end: AsyncStream<Never>.Continuation

        init(_ end: AsyncStream<Never>.Continuation) { self.end = end }
        deinit { end.finish() }
    }

    package func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingClientRequest<Input>, context: ClientContext,
        next: @concurrent (StreamingClientRequest<Input>, ClientContext) async throws -> StreamingClientResponse<Output>
    ) async throws -> StreamingClientResponse<Output> {
        let (written, end) = AsyncStream<Never>.makeStream()
        let response = try await next(Self.request(request, Writing(end)), context)
        // A cancelled call, too, closes its stream, so this doesn't end with the call's task.
        await Task { for await _ in written {} }.value
        return response
    }

    /// The request, whose writer alone keeps `writing`: until its task is over, which also ends the request's stream.
    private static func request<Input>(
        _ request: StreamingClientRequest<Input>, _ writing: Writing
    ) -> StreamingClientRequest<Input> {
        var request = request
        let produce = request.producer
        request.producer = { writer in
            defer { withExtendedLifetime(writing) {} }
            try await produce(writer)
        }
        return request
    }
}
