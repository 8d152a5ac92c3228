import GRPCCore
import GRPCProtobuf
import QuartetAPI
import QuartetProto
import QuartetSessionContract
import QuartetVocabulary
import SwiftProtobuf

/// `quartet.v1.Quartet/Watch`: the caller's streams, as `GET /v1/stream` has them.
struct WatchCalls: Sendable {
    let streams: Streams
    let drain: Drain
    let admission: RPCAdmission
    private static let call = "Watch"

    func register(in router: inout RPCRouter<some ServerTransport>) {
        router.registerHandler(
            forMethod: MethodDescriptor(fullyQualifiedService: RPCNames.service, method: Self.call),
            deserializer: RPCDeserializer<Quartet_V1_WatchRequest>(),
            serializer: ProtobufSerializer<Quartet_V1_StreamMessage>()
        ) { request, context in
            let (trace, fields) = (CallTrace(request.metadata), AnswerFields())
            do {
                let call = try admission.call(
                    request.metadata, context, as: .streams, isRead: true, trace, fields)
                guard let caller = try await admission.caller(request.metadata, .signedIn, as: .streams, call) else {
                    throw APIError(.missingToken)
                }
                let message = try await RPCPatience.receive { try await ServerRequest(stream: request).message }
                var metadata = Metadata()
                metadata.add(fields)
                return StreamingServerResponse(metadata: metadata) { writer in
                    do {
                        try await watch(message, for: caller, call, writer)
                        return [:]
                    } catch {
                        throw admission.rpcError(error, of: Self.call, trace, AnswerFields())
                    }
                }
            } catch {
                throw await admission.refusal(error, of: Self.call, request.metadata, context, trace, fields)
            }
        }
    }

    private func watch(
        _ request: Quartet_V1_WatchRequest, for caller: Caller, _ call: Call,
        _ writer: RPCWriter<Quartet_V1_StreamMessage>
    ) async throws {
        let wanted = [
            "group": request.group, "stream": request.stream, "type": request.type, "contact": request.contact,
        ]
        let filter = try StreamFilter(
            parts: Parameter<StreamFilter.Part>.choices("stream", "").read(wanted), types: request.type,
            contacts: Parameter<AccountID>.every("contact", "").read(wanted))
        let connection = try streams.open(
            for: caller, after: StreamTokens(request.position),
            following: Set(Parameter<GroupID>.every("group", "").read(wanted)), filter: filter, call.logger)
        defer { connection.place.leave() }
        guard let stream = drain.add({ connection.end(StreamEnd(.serverStopping)) }) else {
            throw APIError(.serverStopping, retryAfter: 1)
        }
        defer { stream.remove() }
        admission.succeeded(Self.call)
        try await withRPCCancellationHandler {
            try await connection.run(over: StreamMessages { try await writer.write(contentsOf: $0) })
        } onCancelRPC: {
            // A server that stops cancels all calls, too; its streams are told why they end.
            if !drain.isBegun { connection.leave() }
        }
    }
}

/// Names in `quartet.proto`.
enum RPCNames {
    static let service = "quartet.v1.Quartet"
}

/// A message of Protobuf. The bus has others.
typealias ProtoMessage = SwiftProtobuf.Message
