import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import QuartetAPI
import QuartetVocabulary

extension Routes {
    /// `GET /v1/stream`: the caller's streams as server-sent events, and those of the group sessions that it names, as far as it
    /// wants them.
    func stream(
        _ request: Request, _ context: SignedInContext, following groups: Set<GroupID>, filter: StreamFilter
    ) throws -> Response {
        let logger = context.edge.logger
        let connection = try actions.streams.open(
            for: context.caller, after: StreamTokens(request.headers[.lastEventID] ?? ""), following: groups,
            filter: filter, logger)
        guard let stream = drain.add({ connection.end(StreamEnd(.serverStopping)) }) else {
            throw APIError(.serverStopping, retryAfter: 1)
        }
        var headers: HTTPFields = [
            .contentType: "text/event-stream", .cacheControl: "no-store, no-transform", .accelBuffering: "no",
        ]
        // It ends with the stream. HTTP/2 knows no such header.
        if !context.edge.isMultiplexed { headers[.connection] = "close" }
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                defer {
                    stream.remove()
                    connection.place.leave()
                }
                // Safe: this task alone writes, one write after the other.
                nonisolated(unsafe) var writer = writer
                do {
                    try await request.body.consumeWithInboundCloseHandler { _ in
                        try await connection.run(over: ServerSentEvents { try await writer.write($0) })
                    } onInboundClosed: {
                        connection.leave()
                    }
                    // Free before the app can see that the stream is over.
                    connection.place.leave()
                    try await writer.finish(nil)
                } catch {
                    // The app has left, as most do, or doesn't read.
                    logger.debug("a stream ended", metadata: ["error": "\(error)"])
                    throw error
                }
            })
    }
}

extension HTTPField.Name {
    /// Asks proxies not to hold events back.
    fileprivate static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
}
