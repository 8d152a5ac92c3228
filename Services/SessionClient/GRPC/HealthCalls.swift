import GRPCCore
import GRPCProtobuf
import QuartetProto
import ServiceKit
import SwiftProtobuf

/// `grpc.health.v1.Health`: whether this process is ready, as its health check has it.
struct HealthCalls: Sendable {
    typealias Reply = Grpc_Health_V1_HealthCheckResponse

    let health: Health
    /// The services that share the process's status.
    let services: Set<String>
    private static let service = "grpc.health.v1.Health"

    func register(in router: inout RPCRouter<some ServerTransport>) {
        router.registerHandler(
            forMethod: MethodDescriptor(fullyQualifiedService: Self.service, method: "Check"),
            deserializer: ProtobufDeserializer<Grpc_Health_V1_HealthCheckRequest>(),
            serializer: ProtobufSerializer<Reply>()
        ) { request, _ in
            let name = try await ServerRequest(stream: request).message.service
            guard let status = status(of: name) else {
                throw RPCError(code: .notFound, message: "There is no such service.")
            }
            return StreamingServerResponse(single: ServerResponse(message: .with { $0.status = status }))
        }
        router.registerHandler(
            forMethod: MethodDescriptor(fullyQualifiedService: Self.service, method: "Watch"),
            deserializer: ProtobufDeserializer<Grpc_Health_V1_HealthCheckRequest>(),
            serializer: ProtobufSerializer<Reply>()
        ) { request, _ in
            let name = try await ServerRequest(stream: request).message.service
            return StreamingServerResponse { writer in
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

    private func status(of name: String) -> Reply.ServingStatus? {
        guard name.isEmpty || services.contains(name) else { return nil }
        return health.report.isReady ? .serving : .notServing
    }
}
