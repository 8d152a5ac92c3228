import Foundation
import GRPCCore
public import GRPCNIOTransportHTTP2Posix
import GRPCProtobuf
import QuartetAPI
public import QuartetClient
import QuartetContractSupport
import QuartetProto
import SwiftProtobuf
import Synchronization

/// Requests and the stream over gRPC, on one connection of HTTP/2.
///
/// ```swift
/// let connection = Connection(transport: try GRPCTransport(host: "api.example.org"))
/// ```
///
/// It connects with the first call and again when a call finds the connection gone. A minute after the last call the connection is
/// closed; it ends with this object.
public final class GRPCTransport: Transport {
    private let client: GRPCClient<HTTP2ClientTransport.Posix>
    private let running: Task<Void, Never>
    private let headers: [String: String]
    private let files: (any Transport)?

    /// - Parameters:
    ///   - host: A name or an address.
    ///   - security: What the server's certificate is checked by. `.plaintext` is for tests.
    ///   - files: Carries attachments, which the API has over HTTP alone. Without it, they are refused.
    ///   - headers: Sent as metadata with every call, besides those of the API.
    /// - Throws: If the certificates can't be read.
    public init(
        host: String, port: Int = 443, security: HTTP2ClientTransport.Posix.TransportSecurity = .tls,
        files: (any Transport)? = nil, headers: [String: String] = [:]
    ) throws {
        let transport = try HTTP2ClientTransport.Posix(
            target: .dns(host: host, port: port), transportSecurity: security,
            config: .defaults { config in
                config.connection.maxIdleTime = .seconds(60)
                // A connection that died is noticed before a person gives up.
                config.connection.keepalive = .init(
                    time: .seconds(20), timeout: .seconds(10), allowWithoutCalls: false)
                // How patient an app is, its connection's policy says.
                config.backoff = .init(
                    initial: .milliseconds(100), max: .seconds(1), multiplier: 2, jitter: 0.2)
            })
        let client = GRPCClient(transport: transport, interceptors: [RequestFirst()])
        self.client = client
        self.headers = headers
        self.files = files
        running = Task { try? await client.runConnections() }
    }

    deinit {
        client.beginGracefulShutdown()
        running.cancel()
    }

    /// The largest message. The library takes a call's limit for requests as the limit for what arrives, too, and
    /// without one it takes 4 MiB, which the snapshot of a large account exceeds.
    private static let messageLimit = 32 << 20

    // MARK: Requests

    public func send(_ request: TransportRequest) async throws -> TransportReply {
        switch request.endpoint {
        case .serverTime: return try await health()
        case .upload, .chunks, .attachment:
            guard let files else {
                return TransportReply(.failure(APIError(.refused, "This transport carries no attachments.")))
            }
            return try await files.send(request)
        default: break
        }
        let call = try RPCCall(request)
        return try await send(call, call.messages.request, call.messages.reply, request)
    }

    private func send<Request: ProtoMessage, Reply: ProtoMessage>(
        _ call: RPCCall, _: Request.Type, _: Reply.Type, _ request: TransportRequest
    ) async throws -> TransportReply {
        let message: Request
        do { message = try call.message() } catch { throw TransportError.malformed("the request: \(error)") }
        var metadata = metadata(request.token)
        if let key = request.key { metadata.addString("\(key)", forKey: "idempotency-key") }
        return try await unary(message, call.method, metadata, reply: Reply.self) { try call.body(of: $0) }
    }

    /// A call that anyone may make, for the time in its answer.
    private func health() async throws -> TransportReply {
        try await unary(
            Grpc_Health_V1_HealthCheckRequest(),
            MethodDescriptor(fullyQualifiedService: "grpc.health.v1.Health", method: "Check"), metadata(nil),
            reply: Grpc_Health_V1_HealthCheckResponse.self
        ) { _ in [] }
    }

    private func unary<Request: ProtoMessage, Reply: ProtoMessage>(
        _ message: Request, _ method: MethodDescriptor, _ metadata: Metadata, reply: Reply.Type,
        _ body: @Sendable @escaping (Reply) throws -> [UInt8]
    ) async throws -> TransportReply {
        let isSent = Sent()
        var options = CallOptions.defaults
        options.timeout = .seconds(TransportRequest.patience)
        options.waitForReady = false
        options.maxRequestMessageBytes = Self.messageLimit
        do {
            return try await client.clientStreaming(
                request: StreamingClientRequest(metadata: metadata) { writer in
                    isSent.mark()
                    try await writer.write(message)
                }, descriptor: method, serializer: ProtobufSerializer<Request>(),
                deserializer: ProtobufDeserializer<Reply>(), options: options
            ) { response in
                let time = Instant(response.metadata)
                let reply = try response.message
                do { return TransportReply(.success(try body(reply)), serverTime: time) } catch {
                    throw TransportError.malformed("\(error)")
                }
            }
        } catch let error as RPCError {
            if let refusal = APIError(error) {
                return TransportReply(.failure(refusal), serverTime: Instant(error.metadata))
            }
            throw Self.failure(error, isSent)
        } catch  where error is TransportError || error is CancellationError {
            throw error
        } catch {
            // Of the client itself, which was stopped for instance: the request can be repeated.
            throw Self.failure(error, isSent)
        }
    }

    // MARK: The stream

    public func open(_ request: StreamRequest) async throws -> OpenedStream {
        let (items, output) = AsyncThrowingStream<StreamItem, any Error>.makeStream()
        let (answers, answered) = AsyncThrowingStream<Instant?, any Error>.makeStream()
        let reading = Task { [client, metadata = metadata(request.token)] in
            do {
                try await Self.watch(client, request, metadata, answered, output)
                output.finish()
            } catch {
                answered.finish(throwing: error)
                output.finish(throwing: error)
            }
        }
        output.onTermination = { _ in reading.cancel() }
        return try await withTaskCancellationHandler {
            for try await time in answers { return OpenedStream(items: items, serverTime: time) }
            throw CancellationError()
        } onCancel: {
            reading.cancel()
        }
    }

    private static func watch(
        _ client: GRPCClient<HTTP2ClientTransport.Posix>, _ request: StreamRequest, _ metadata: Metadata,
        _ answered: AsyncThrowingStream<Instant?, any Error>.Continuation,
        _ output: AsyncThrowingStream<StreamItem, any Error>.Continuation
    ) async throws {
        let isSent = Sent()
        var message = Quartet_V1_WatchRequest()
        message.group = request.groups.map(\.description)
        if let place = request.place { message.position = place }
        var options = CallOptions.defaults
        options.waitForReady = false
        options.maxRequestMessageBytes = Self.messageLimit
        do {
            try await client.bidirectionalStreaming(
                request: StreamingClientRequest(metadata: metadata) { [message] writer in
                    isSent.mark()
                    try await writer.write(message)
                }, descriptor: MethodDescriptor(fullyQualifiedService: RPCCall.service, method: "Watch"),
                serializer: ProtobufSerializer<Quartet_V1_WatchRequest>(),
                deserializer: ProtobufDeserializer<Quartet_V1_StreamMessage>(), options: options
            ) { response in
                _ = try response.accepted.get()
                answered.yield(Instant(response.metadata))
                for try await message in response.messages {
                    if let item = try StreamItem(message) { output.yield(item) }
                }
            }
        } catch let error as RPCError {
            if let refusal = APIError(error) { throw refusal }
            throw failure(error, isSent)
        } catch  where error is TransportError || error is CancellationError {
            throw error
        } catch {
            throw failure(error, isSent)
        }
    }

    // MARK: Forms

    /// Whether a call's message was handed to a connection: before that, the server can't know of it.
    private final class Sent: Sendable {
        private let isMarked = Mutex(false)

        var value: Bool { isMarked.withLock { $0 } }
        func mark() { isMarked.withLock { $0 = true } }
    }

    private static func failure(_ error: any Error, _ isSent: Sent) -> any Error {
        if Task.isCancelled { return CancellationError() }
        let reason = (error as? RPCError)?.message ?? "\(error)"
        return isSent.value ? TransportError.interrupted(reason) : TransportError.unreachable(reason)
    }

    private func metadata(_ token: String?) -> Metadata {
        var metadata = Metadata()
        for (name, text) in headers { metadata.addString(text, forKey: name.lowercased()) }
        if let token { metadata.addString("Bearer \(token)", forKey: "authorization") }
        return metadata
    }
}

extension Instant {
    /// When the server answered, if it said so.
    fileprivate init?(_ metadata: Metadata) {
        guard let date = metadata[stringValues: "date"].first(where: { _ in true }) else { return nil }
        self.init(httpDate: date)
    }
}

extension APIError {
    /// A refusal of the API; nil for a failure of the network, or of a server on the way.
    fileprivate init?(_ error: RPCError) {
        guard let status = try? error.unpackGoogleRPCStatus(),
            let info = status.details.lazy.compactMap(\.errorInfo).first, info.domain == "quartet"
        else { return nil }
        let known = Code(rawValue: info.reason)
        let facts = info.metadata
        self.init(
            known ?? .refused, error.message, field: facts["field"],
            retryAfter: status.details.lazy.compactMap(\.retryInfo).first.map { Int($0.delay.components.seconds) })
        reason = facts["reason"] ?? (known == nil ? info.reason : nil)
        if known == nil {
            unknownCode = UnknownCode(
                status: error.code.httpStatus, retry: facts["retry"].flatMap { Retry(rawValue: $0) })
        }
        details = facts["details"].flatMap { try? Encoded(json: Array($0.utf8)).decoded() }
        current = facts["current"].map { Array($0.utf8) }
        key = facts["idempotencyKey"].flatMap { ID($0) }
    }
}

extension RPCError.Code {
    /// The status over HTTP that comes closest.
    fileprivate var httpStatus: Int {
        switch self {
        case .unauthenticated: 401
        case .resourceExhausted: 429
        case .unavailable: 503
        case .deadlineExceeded: 504
        case .unknown, .internalError, .dataLoss: 500
        default: 400
        }
    }
}
