import API
import GRPCCore
import Logging
import Vocabulary

/// Lets calls in, as the middleware of HTTP lets requests in.
struct RPCAdmission: Sendable {
    let admission: Admission
    let addresses: ClientAddress
    let versions: ClientVersions
    let answers: AnswerJournal?
    let logger: Logger

    /// What a call's metadata says of it.
    /// - Parameter isRead: Whether nothing is done, so that there is nothing to do twice.
    /// - Throws: `upgradeRequired`, `invalidIdempotencyKey`, `tooManyRequests`.
    func call(
        _ metadata: Metadata, _ context: ServerContext, as kind: RequestLimits.Kind?, isRead: Bool
    ) throws(APIError) -> Call {
        let address = addresses.network(
            connection: context.remotePeer.drop { $0 != ":" }.dropFirst(),
            forwardedFor: metadata.text("x-forwarded-for"))
        if let kind { try admission.limits.admit(kind, from: address) { _ in } }
        try versions.check(metadata.text("quartet-client"))
        return Call(
            key: try IdempotencyKey(isRead ? nil : metadata.text("idempotency-key")), address: address,
            correlationID: .new(), traceParent: TraceParent.valid(metadata.text("traceparent")), logger: logger)
    }

    /// - Throws: `missingToken`, `invalidToken`, `signedOut`; the limit's refusal.
    func caller(
        _ metadata: Metadata, _ access: Access, as kind: RequestLimits.Kind?
    ) async throws -> Caller? {
        try await admission.admit(metadata.text("authorization"), to: access, as: kind)
    }

    /// What a call is refused with.
    func rpcError(_ error: any Error, of call: String) -> RPCError {
        // The transport's own, such as a stream without a message, or that of a message that can't be read.
        if let error = error as? RPCError {
            answers?.note(.grpc, call, error.code.rawValue, APIError.Code(of: error))
            return error
        }
        let error = APIError(thrown: error, logger)
        if error.code.isLimit { LimitMetrics.hit(error.code.rawValue) }
        answers?.note(.grpc, call, error.code.grpcStatus.rawValue, error.code)
        return error.rpcError
    }

    func succeeded(_ call: String) { answers?.note(.grpc, call, 0, nil) }
}

extension Metadata {
    /// The first value of a key.
    func text(_ key: String) -> String? { self[stringValues: key].first { _ in true } }
}
