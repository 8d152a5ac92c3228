import GRPCCore
import Logging
import QuartetAPI
import QuartetVocabulary
import ServiceKit
import Synchronization

/// Lets calls in, as the middleware of HTTP lets requests in.
struct RPCAdmission: Sendable {
    let admission: Admission
    let clock: DatabaseClock
    let addresses: ClientAddress
    let refusals: RefusalPace
    let versions: ClientVersions
    let answers: AnswerJournal?
    let logger: Logger

    /// What a call's metadata says of it.
    /// - Parameters:
    ///   - isRead: Whether nothing is done, so that there is nothing to do twice.
    ///   - fields: Gets what is left of the limit.
    /// - Throws: `upgradeRequired`, `invalidIdempotencyKey`, `tooManyRequests`.
    func call(
        _ metadata: Metadata, _ context: ServerContext, as kind: RequestLimits.Kind?, isRead: Bool,
        _ trace: CallTrace, _ fields: AnswerFields
    ) throws(APIError) -> Call {
        let address = try address(metadata, context, as: kind, fields)
        let client = metadata.text("quartet-client")
        try versions.check(client)
        let arrival = clock.now
        return Call(
            key: try IdempotencyKey(isRead ? nil : metadata.text("idempotency-key"), at: arrival), arrival: arrival,
            address: address,
            correlationID: .new(), traceParent: trace.parent, logger: logger.tracing(trace.parent), client: client,
            fields: fields)
    }

    /// Counts a call from an address, whoever calls.
    /// - Returns: The client's network.
    /// - Throws: `tooManyRequests`.
    func address(
        _ metadata: Metadata, _ context: ServerContext, as kind: RequestLimits.Kind?, _ fields: AnswerFields
    ) throws(APIError) -> String {
        let address = network(metadata, context)
        if let kind {
            try admission.admit(kind, from: address, metadata.text("authorization"), fields.quota.note)
        }
        return address
    }

    private func network(_ metadata: Metadata, _ context: ServerContext) -> String {
        addresses.network(
            connection: context.remotePeer.drop { $0 != ":" }.dropFirst(),
            forwardedFor: metadata.text("x-forwarded-for"))
    }

    /// - Throws: `missingToken`, `invalidToken`, `signedOut`; the limit's refusal.
    func caller(
        _ metadata: Metadata, _ access: Access, as kind: RequestLimits.Kind?, _ call: Call
    ) async throws -> Caller? {
        try await admission.admit(
            metadata.text("authorization"), from: call.address, to: access, as: kind, call.key, call.fields.quota.note
        ).caller
    }

    /// What a call is refused with before it answers anything. Waits if its address is refused often.
    func refusal(
        _ error: any Error, of call: String, _ metadata: Metadata, _ context: ServerContext, _ trace: CallTrace,
        _ fields: AnswerFields
    ) async -> RPCError {
        if let code = (error as? APIError)?.code { await refusals.wait(code, at: network(metadata, context)) }
        return rpcError(error, of: call, trace, fields)
    }

    /// What a call ends with because of an error.
    func rpcError(_ error: any Error, of call: String, _ trace: CallTrace, _ fields: AnswerFields) -> RPCError {
        var refusal: RPCError
        if let error = error as? RPCError {
            // The transport's own, such as a stream without a message, or that of a message that can't be read.
            refusal = error
            answers?.note(.grpc, call, error.code.rawValue, APIError.Code(of: error))
        } else {
            let error = APIError(thrown: error, logger.tracing(trace.parent))
            if error.code.isLimit { LimitMetrics.hit(error.code) }
            refusal = error.rpcError
            answers?.note(.grpc, call, error.code.grpcStatus.rawValue, error.code)
        }
        refusal.metadata.add(fields)
        return refusal
    }

    func succeeded(_ call: String) { answers?.note(.grpc, call, 0, nil) }
}

/// A call's trace, the same for its rows and its log lines. Made when first asked for, because most refusals need none.
final class CallTrace: Sendable {
    private enum State: Sendable {
        case metadata(Metadata)
        case made(String)
    }

    private let state: Mutex<State>

    init(_ metadata: Metadata) { state = Mutex(.metadata(metadata)) }

    /// The call's own `traceparent`, or a new one.
    var parent: String {
        state.withLock { state in
            let parent =
                switch state {
                case .metadata(let metadata): TraceParent.valid(metadata.text("traceparent"))
                case .made(let parent): parent
                }
            state = .made(parent)
            return parent
        }
    }
}

extension Metadata {
    /// The value of a key. Several are joined, as HTTP joins the fields of one name (RFC 9110, section 5.3): a list stays
    /// whole, and where there may be one value only, two are a wrong one.
    func text(_ key: String) -> String? {
        let values = Array(self[stringValues: key])
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// What every answer says besides, under HTTP's names in lower case.
    mutating func add(_ fields: AnswerFields) {
        for (name, value) in fields.all { addString(value, forKey: name.lowercased()) }
    }
}
