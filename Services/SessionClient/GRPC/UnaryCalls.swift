import Foundation
import GRPCCore
import GRPCProtobuf
import Metrics
import QuartetAPI
import QuartetProto
import QuartetVocabulary
import SwiftProtobuf

/// A call for each endpoint. Requests and replies are turned into each other's JSON by Protobuf's own mapping, since their
/// fields are called the same.
struct UnaryCalls: Sendable {
    let actions: Actions
    let admission: RPCAdmission
    let drain: Drain
    private let inFlight = Meter(label: "quartet_grpc_calls_in_flight")

    init(actions: Actions, admission: RPCAdmission, drain: Drain) {
        self.actions = actions
        self.admission = admission
        self.drain = drain
    }

    func register(in router: inout RPCRouter<some ServerTransport>) {
        for endpoint in Endpoint.all {
            guard let messages = QuartetMessages.pair(of: endpoint.declaration.name) else { continue }
            register(RPCBridge(endpoint), messages.request, messages.reply, in: &router)
        }
    }

    private func register<Request: ProtoMessage, Reply: ProtoMessage>(
        _ bridge: RPCBridge, _: Request.Type, _: Reply.Type, in router: inout RPCRouter<some ServerTransport>
    ) {
        router.registerHandler(
            forMethod: MethodDescriptor(
                fullyQualifiedService: RPCNames.service, method: bridge.endpoint.declaration.name),
            deserializer: RPCDeserializer<Request>(), serializer: ProtobufSerializer<Reply>()
        ) { request, context in
            let name = bridge.endpoint.declaration.name
            let (trace, fields) = (CallTrace(request.metadata), AnswerFields())
            do {
                let response: ServerResponse<Reply> = try await answer(request, context, bridge, trace, fields)
                admission.succeeded(name)
                return StreamingServerResponse(single: response)
            } catch {
                throw await admission.refusal(error, of: name, request.metadata, context, trace, fields)
            }
        }
    }

    private func answer<Request: ProtoMessage, Reply: ProtoMessage>(
        _ request: StreamingServerRequest<Request>, _ context: ServerContext, _ bridge: RPCBridge,
        _ trace: CallTrace, _ fields: AnswerFields
    ) async throws -> ServerResponse<Reply> {
        let arrived = ContinuousClock.now
        inFlight.increment()
        defer { inFlight.decrement() }
        let declaration = bridge.endpoint.declaration
        let call = try admission.call(
            request.metadata, context, as: declaration.limit, isRead: declaration.method == .get, trace, fields)
        let caller = try await within(RequestTime.limit, context) {
            try await admission.caller(request.metadata, declaration.access, as: declaration.limit, call)
        }
        let message = try await RPCPatience.receive { try await ServerRequest(stream: request).message }
        return try await within(RequestTime.limit, context) {
            let (parameters, body) = try bridge.request(message)
            let reply = try await bridge.endpoint.answer(
                actions,
                EndpointRequest(parameters: parameters, body: body, caller: caller, call: call, arrived: arrived))
            var metadata: Metadata = call.replay.isReplayed ? ["idempotency-replayed": "true"] : [:]
            metadata.add(fields)
            return ServerResponse(message: try bridge.reply(reply), metadata: metadata)
        }
    }

    /// Answers in time, whatever the database does, and no longer than the caller waits. A command that was sent goes on.
    private func within<Value: Sendable>(
        _ limit: Duration, _ context: ServerContext, _ body: @Sendable @escaping () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            group.addTask {
                try? await context.cancellation.cancelled
                // A server that stops cancels all calls, too; it finishes those that it has begun, within the same limit.
                if drain.isBegun { try? await Task.sleep(for: limit) }
                return nil
            }
            while let value = try await group.next() {
                group.cancelAll()
                if let value { return value }
            }
            throw CancellationError()
        }
    }
}

/// Turns an endpoint's messages into JSON and back.
struct RPCBridge: Sendable {
    let endpoint: Endpoint
    /// Nil where nothing in the body has to be completed.
    private let body: Schema?
    private static let encoding: JSONEncodingOptions = {
        var options = JSONEncodingOptions()
        options.alwaysPrintInt64sAsNumbers = true
        options.preserveProtoFieldNames = true
        return options
    }()
    private static let decoding: JSONDecodingOptions = {
        var options = JSONDecodingOptions()
        options.ignoreUnknownFields = true
        return options
    }()

    init(_ endpoint: Endpoint) {
        self.endpoint = endpoint
        // A body that isn't understood fails where it is decoded.
        body = (try? endpoint.declaration.bodySchema).flatMap { $0.needsLists ? $0 : nil }
    }

    /// The values of the path and the query, and the body, of a message.
    func request(_ message: some ProtoMessage) throws -> (parameters: [String: [String]], body: [UInt8]) {
        let json: [UInt8]
        do {
            json = try message.jsonUTF8Bytes(options: Self.encoding)
        } catch {
            throw APIError(.malformedBody)
        }
        let names = endpoint.declaration.parameters.map(\.name)
        guard !names.isEmpty || body != nil else { return ([:], json) }
        guard case .object(var members) = try JSONDecoder().decode(JSONValue.self, from: Data(json)) else {
            throw APIError(.malformedBody)
        }
        var parameters: [String: [String]] = [:]
        for name in names { parameters[name] = members.removeValue(forKey: name)?.texts }
        let rest = body?.completing(.object(members)) ?? .object(members)
        return (parameters, try Encoded(rest).json)
    }

    func reply<Reply: ProtoMessage>(_ reply: EndpointReply) throws -> Reply {
        guard let json = reply.json else { return Reply() }
        return try Reply(jsonUTF8Bytes: json, options: Self.decoding)
    }
}

extension JSONValue {
    /// As the path or the query has it.
    fileprivate var texts: [String] {
        switch self {
        case .string(let text): [text]
        case .integer(let number): ["\(number)"]
        case .number(let number): ["\(number)"]
        case .bool(let value): ["\(value)"]
        case .array(let elements): elements.flatMap(\.texts)
        case .null, .object: []
        }
    }
}

/// Reads a message, or says what is wrong as every refusal does.
struct RPCDeserializer<Request: ProtoMessage>: MessageDeserializer {
    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> Request {
        do {
            return try ProtobufDeserializer<Request>().deserialize(bytes)
        } catch {
            throw APIError(.malformedBody, "This isn't a \(Request.protoMessageName).").rpcError
        }
    }
}

/// How long a call may take to arrive.
enum RPCPatience {
    private static let limit: Duration = .seconds(EdgeLimits.messageTime.value)

    static func receive<Value: Sendable>(_ body: @Sendable @escaping () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw APIError(.tooSlow)
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
