public import EdgeClient
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import GRPCProtobuf
import QuartetGRPC
import QuartetProto
import SwiftProtobuf

/// Speaks gRPC to a running session-client. Messages go in and come out as JSON, so that what is said over HTTP can be said
/// over gRPC.
public struct RPCClient: Sendable {
    private static let service = "quartet.v1.Quartet"
    fileprivate let client: GRPCClient<HTTP2ClientTransport.Posix>

    /// A call's answer.
    public struct Reply: Sendable {
        public let body: JSON
        /// Texts by their lower-case names; of several values the first.
        public let metadata: [String: String]
    }

    /// A call was refused.
    public struct Refused: Error, CustomStringConvertible {
        /// gRPC's status: `invalidArgument`.
        public let status: String
        public let message: String
        /// The code of the API's list.
        public let code: String?
        public let field: String?
        /// Seconds.
        public let retryAfter: Int64?
        public let details: [String: String]
        /// Texts by their lower-case names.
        public let metadata: [String: String]

        init(_ error: RPCError) {
            let status = try? error.unpackGoogleRPCStatus()
            let info = status?.details.lazy.compactMap(\.errorInfo).first
            self.status = "\(error.code)"
            message = error.message
            code = info?.reason
            field = status?.details.lazy.compactMap(\.badRequest).first?.violations.first?.field
            retryAfter = status?.details.lazy.compactMap(\.retryInfo).first?.delay.components.seconds
            details = info?.metadata ?? [:]
            metadata = RPCClient.texts(error.metadata)
        }

        public var description: String { "refused: \(status) \(code ?? "without a code") \(message)" }
    }

    /// The proto has no such call.
    public struct Unknown: Error {
        public let name: String
    }

    /// Runs `body` with a connection.
    /// - Parameters:
    ///   - root: A file with the certificate to trust; nil for no TLS.
    ///   - isCompressed: Whether requests are compressed.
    public static func with<Value: Sendable>(
        port: UInt16, trusting root: String? = nil, isCompressed: Bool = false,
        _ body: (RPCClient) async throws -> Value
    ) async throws -> Value {
        let security: HTTP2ClientTransport.Posix.TransportSecurity =
            root.map { path in .tls { $0.trustRoots = .certificates([.file(path: path, format: .pem)]) } } ?? .plaintext
        let transport = try HTTP2ClientTransport.Posix(
            target: .ipv4(address: "127.0.0.1", port: Int(port)), transportSecurity: security,
            config: .defaults {
                $0.http2.authority = "localhost"
                if isCompressed { $0.compression = .init(algorithm: .gzip, enabledAlgorithms: [.gzip]) }
            })
        return try await withGRPCClient(transport: transport, interceptors: [RequestFirst()]) {
            try await body(RPCClient(client: $0))
        }
    }

    // MARK: Calls

    /// The names of all calls but Watch.
    public static var calls: [String] { QuartetMessages.names }
    /// Those that need no sign-in.
    public static let openCalls = ["SignUp", "SignIn", "RequestSignInCode", "RefreshToken", "Undo"]

    /// Calls an rpc by its name.
    /// - Parameters:
    ///   - key: The idempotency key.
    ///   - timeout: After which the call is given up.
    ///   - besides: Fields that are added to those of the same name.
    /// - Throws: ``Refused``.
    public func call(
        _ name: String, _ body: JSON = [:], token: String? = nil, key: String? = nil, timeout: Duration? = nil,
        metadata: [String: String] = [:], besides: [(String, String)] = []
    ) async throws -> Reply {
        guard let messages = QuartetMessages.pair(of: name) else { throw Unknown(name: name) }
        var fields = Self.metadata(metadata, token)
        if let key { fields.addString(key, forKey: "idempotency-key") }
        for (name, value) in besides { fields.addString(value, forKey: name) }
        return try await call(name, messages.request, messages.reply, body, fields, timeout)
    }

    private func call<Request: Message, Answer: Message>(
        _ name: String, _: Request.Type, _: Answer.Type, _ body: JSON, _ metadata: Metadata, _ timeout: Duration?
    ) async throws -> Reply {
        var options = CallOptions.defaults
        options.timeout = timeout
        let request = ClientRequest(message: try Request(jsonString: "\(body)"), metadata: metadata)
        return try await Self.refusing {
            try await client.unary(
                request: request, descriptor: MethodDescriptor(fullyQualifiedService: Self.service, method: name),
                serializer: ProtobufSerializer<Request>(), deserializer: ProtobufDeserializer<Answer>(),
                options: options
            ) { response in
                Reply(
                    body: try JSON(parsing: try response.message.jsonString(options: Self.encoding)),
                    metadata: Self.texts(response.metadata))
            }
        }
    }

    /// - Throws: ``Refused`` for an error of gRPC.
    private static func refusing<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as RPCError { throw Refused(error) }
    }

    /// Sends bytes that may be no message at all.
    /// - Throws: ``Refused``.
    public func call(
        _ name: String, bytes: [UInt8], token: String? = nil, metadata: [String: String] = [:]
    ) async throws {
        try await Self.refusing {
            try await client.unary(
                request: ClientRequest(message: bytes, metadata: Self.metadata(metadata, token)),
                descriptor: MethodDescriptor(fullyQualifiedService: Self.service, method: name),
                serializer: Bytes(), deserializer: Bytes(), options: .defaults
            ) { response in _ = try response.message }
        }
    }

    private struct Bytes: MessageSerializer, MessageDeserializer {
        func serialize<Result: GRPCContiguousBytes>(_ message: [UInt8]) -> Result { Result(message) }
        func deserialize<Source: GRPCContiguousBytes>(_ bytes: Source) -> [UInt8] {
            bytes.withUnsafeBytes { Array($0) }
        }
    }

    /// Whether the process says that it serves (`grpc.health.v1`).
    public func health(of service: String = "") async throws -> String {
        try await Self.refusing {
            try await client.unary(
                request: ClientRequest(message: Grpc_Health_V1_HealthCheckRequest.with { $0.service = service }),
                descriptor: MethodDescriptor(fullyQualifiedService: "grpc.health.v1.Health", method: "Check"),
                serializer: ProtobufSerializer<Grpc_Health_V1_HealthCheckRequest>(),
                deserializer: ProtobufDeserializer<Grpc_Health_V1_HealthCheckResponse>(), options: .defaults
            ) { response in "\(try response.message.status)" }
        }
    }

    /// Watches whether the process serves, and leaves once `heard` returns false.
    public func watchHealth(heard: @Sendable @escaping (String) async -> Bool) async throws {
        try await Self.refusing {
            try await client.serverStreaming(
                request: ClientRequest(message: Grpc_Health_V1_HealthCheckRequest()),
                descriptor: MethodDescriptor(fullyQualifiedService: "grpc.health.v1.Health", method: "Watch"),
                serializer: ProtobufSerializer<Grpc_Health_V1_HealthCheckRequest>(),
                deserializer: ProtobufDeserializer<Grpc_Health_V1_HealthCheckResponse>(), options: .defaults
            ) { response in
                for try await message in response.messages {
                    guard await heard("\(message.status)") else { return }
                }
            }
        }
    }

    // MARK: Streams

    /// The caller's streams, in the form in which server-sent events have them.
    /// - Parameters:
    ///   - groups: The group sessions to follow.
    ///   - filter: What to carry; everything unless given.
    ///   - position: The id of the last event that was seen.
    public func watch(
        token: String, following groups: [String] = [], only filter: [StreamFilter] = [], after position: String? = nil
    ) -> AsyncThrowingStream<ServerSentEvent, any Error> {
        let (events, continuation) = AsyncThrowingStream<ServerSentEvent, any Error>.makeStream()
        var request = Quartet_V1_WatchRequest()
        request.group = groups
        for part in filter {
            switch part {
            case .stream(let name): request.stream.append(name)
            case .type(let type): request.type.append(type)
            case .contact(let account): request.contact.append(account)
            }
        }
        if let position { request.position = position }
        // Whoever watches would rather look elsewhere than wait for a server that is gone.
        var options = CallOptions.defaults
        options.waitForReady = false
        let reading = Task { [request, options] in
            do {
                try await client.serverStreaming(
                    request: ClientRequest(message: request, metadata: Self.metadata([:], token)),
                    descriptor: MethodDescriptor(fullyQualifiedService: Self.service, method: "Watch"),
                    serializer: ProtobufSerializer<Quartet_V1_WatchRequest>(),
                    deserializer: ProtobufDeserializer<Quartet_V1_StreamMessage>(), options: options
                ) { response in
                    for try await message in response.messages {
                        if let event = try ServerSentEvent(message) { continuation.yield(event) }
                    }
                }
                continuation.finish()
            } catch let error as RPCError {
                continuation.finish(throwing: Refused(error))
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in reading.cancel() }
        return events
    }

    /// The same, counted instead of read, until the task is cancelled or the server ends it.
    /// - Parameter heard: Called with each message's bytes.
    public func listen(token: String, heard: @Sendable @escaping ([UInt8]) -> Void) async throws {
        try await client.serverStreaming(
            request: ClientRequest(message: [], metadata: Self.metadata([:], token)),
            descriptor: MethodDescriptor(fullyQualifiedService: Self.service, method: "Watch"),
            serializer: Bytes(), deserializer: Bytes(), options: .defaults
        ) { response in
            for try await message in response.messages { heard(message) }
        }
    }

    // MARK: Forms

    private static let encoding: JSONEncodingOptions = {
        var options = JSONEncodingOptions()
        options.alwaysPrintInt64sAsNumbers = true
        options.preserveProtoFieldNames = true
        return options
    }()

    private static func metadata(_ texts: [String: String], _ token: String?) -> Metadata {
        var metadata = Metadata()
        for (name, text) in texts { metadata.addString(text, forKey: name) }
        if let token { metadata.addString("Bearer \(token)", forKey: "authorization") }
        return metadata
    }

    fileprivate static func texts(_ metadata: Metadata) -> [String: String] {
        var texts: [String: String] = [:]
        for (name, value) in metadata where texts[name] == nil {
            if case .string(let text) = value { texts[name] = text }
        }
        return texts
    }
}

extension ServerSentEvent {
    /// Nil for what only a newer server knows.
    fileprivate init?(_ message: Quartet_V1_StreamMessage) throws {
        func family(_ stream: String) -> Substring { stream.prefix { $0 != "/" } }
        func data(_ stream: String, _ members: [String: JSON?]) -> JSON {
            let group = stream.split(separator: "/").dropFirst().first.map { JSON.string(String($0)) }
            return .object(members.merging(["group": group]) { $1 }.compactMapValues(\.self))
        }
        let id = message.hasPosition ? message.position : nil
        switch message.content {
        case nil: return nil
        case .heartbeat: self.init("heartbeat", id, [:])
        case .begun(let begun):
            self.init("begun", id, ["stream": .string(begun.stream), "expiresIn": .int(begun.expiresIn)])
        case .snapshot(let snapshot):
            let members: [String: JSON?] = [
                "refetched": .bool(snapshot.refetched), "hash": snapshot.hasHash ? .string(snapshot.hash) : nil,
                "state": try JSON(parsing: snapshot.state),
            ]
            self.init("\(family(snapshot.stream)).snapshot", id, data(snapshot.stream, members))
        case .resumed(let resumed): self.init("\(family(resumed.stream)).resumed", id, data(resumed.stream, [:]))
        case .event(let event):
            let members: [String: JSON?] = [
                "type": .string(event.type), "version": .int(Int64(event.version)), "at": .int(event.at),
                "correlation": event.hasCorrelation ? .string(event.correlation) : .null,
                "command": event.hasCommand ? .string(event.command) : .null,
                "hash": event.hasHash ? .string(event.hash) : nil, "body": try JSON(parsing: event.body),
            ]
            self.init("\(family(event.stream)).event", id, data(event.stream, members))
        case .end(let end):
            let members: [String: JSON?] = ["reason": .string(end.reason), "why": end.hasWhy ? .string(end.why) : nil]
            self.init("end", id, .object(members.compactMapValues(\.self)))
        case .groupEnded(let ended):
            self.init("group.ended", id, ["group": .string(ended.group), "reason": .string(ended.reason)])
        case .groups(let json): self.init("groups", id, try JSON(parsing: json))
        case .person(let json): self.init("person", id, try JSON(parsing: json))
        case .personEnded(let account): self.init("person.ended", id, ["account": .string(account)])
        case .signal(let json): self.init("signal", id, try JSON(parsing: json))
        }
    }

    private init(_ name: String, _ id: String?, _ data: JSON) {
        self.init()
        (self.name, self.id, self.data) = (name, id, data)
    }
}
