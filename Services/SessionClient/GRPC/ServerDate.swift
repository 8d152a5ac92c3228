import GRPCCore
import QuartetAPI
import QuartetVocabulary

/// Says in each answer when it was given, as HTTP's `Date` does: apps learn from it what the time is.
struct ServerDate: ServerInterceptor {
    func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingServerRequest<Input>, context: ServerContext,
        next:
            @concurrent @Sendable (StreamingServerRequest<Input>, ServerContext) async throws ->
            StreamingServerResponse<Output>
    ) async throws -> StreamingServerResponse<Output> {
        do {
            var response = try await next(request, context)
            response.metadata.addString(Instant.now.httpDate, forKey: "date")
            return response
        } catch var error as RPCError {
            error.metadata.addString(Instant.now.httpDate, forKey: "date")
            throw error
        }
    }
}
