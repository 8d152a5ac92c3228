import GRPCCore
import GRPCProtobuf
import QuartetAPI
import QuartetProto
import ServiceKit
import SwiftProtobuf

/// `grpc.health.v1.Health`: whether this process is ready, as its health check has it.
struct HealthCalls: Sendable {
    typealias Reply = Grpc_Health_V1_HealthCheckResponse

    let health: Health
    /// The services that share the process's status.
    let services: Set<String>
    let admission: RPCAdmission
    private let watches = Places<String>(EdgeLimits.healthWatches)
    private static let service = "grpc.health.v1.Health"
    private static let check = "Check"
    private static let watch = "Watch"

    func register(in router: inout RPCRouter<some ServerTransport>) {
        router.registerHandler(
            forMethod: MethodDescriptor(fullyQualifiedService: Self.service, method: Self.check),
            deserializer: ProtobufDeserializer<Grpc_Health_V1_HealthCheckRequest>(),
            serializer: ProtobufSerializer<Reply>()
        ) { request, context in
            let (name, _) = try await name(request, Self.check, context)
            guard let status = status(of: name) else {
                throw RPCError(code: .notFound, message: "There is no such service.")
            }
            return StreamingServerResponse(single: ServerResponse(message: .with { $0.status = status }))
        }
        router.registerHandler(
            forMethod: MethodDescriptor(fullyQualifiedService: Self.service, method: Self.watch),
            deserializer: ProtobufDeserializer<Grpc_Health_V1_HealthCheckRequest>(),
            serializer: ProtobufSerializer<Reply>()
        ) { request, context in
            let (name, address) = try await name(request, Self.watch, context)
            guard let place = watches.enter(address) else {
                throw await admission.refusal(
                    APIError(
                        .tooManyRequests, "Your address has \(watches.limit) watches of health open; close one first.",
                        retryAfter: 5),
                    of: Self.journalName(of: Self.watch), request.metadata, context, CallTrace(request.metadata),
                    AnswerFields())
            }
            return StreamingServerResponse { writer in
                defer { place.leave() }
                let (changes, end) = health.watch()
                try await withRPCCancellationHandler {
                    var last: Reply.ServingStatus?
                    for await _ in changes {
                        let status = status(of: name) ?? .serviceUnknown
                        if status != last { try await writer.write(.with { $0.status = status }) }
                        last = status
                    }
                } onCancelRPC: {
                    end()
                }
                return [:]
            }
        }
    }

    /// The service that is asked about, and the client's network.
    private func name(
        _ request: StreamingServerRequest<Grpc_Health_V1_HealthCheckRequest>, _ call: String, _ context: ServerContext
    ) async throws -> (service: String, address: String) {
        let fields = AnswerFields()
        do {
            let address = try admission.address(request.metadata, context, as: .reads, fields)
            let message = try await RPCPatience.receive { try await ServerRequest(stream: request).message }
            return (message.service, address)
        } catch {
            throw await admission.refusal(
                error, of: Self.journalName(of: call), request.metadata, context, CallTrace(request.metadata), fields)
        }
    }

    /// A call's name in the journal of answers, where the API's own calls have bare names.
    private static func journalName(of call: String) -> String { "Health.\(call)" }

    private func status(of name: String) -> Reply.ServingStatus? {
        guard name.isEmpty || services.contains(name) else { return nil }
        return health.report.isReady ? .serving : .notServing
    }
}
