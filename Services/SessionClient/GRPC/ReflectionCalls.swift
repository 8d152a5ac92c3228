import Foundation
import GRPCCore
import GRPCProtobuf
import QuartetAPI
import QuartetProto
import SwiftProtobuf

/// `grpc.reflection.v1.ServerReflection`, and under its older name: which services there are and what they take.
struct ReflectionCalls: Sendable {
    typealias Request = Grpc_Reflection_V1_ServerReflectionRequest
    typealias Reply = Grpc_Reflection_V1_ServerReflectionResponse

    /// Descriptors of all files by name.
    private let files: [String: Google_Protobuf_FileDescriptorProto]
    /// Which file declares a symbol.
    private let declaring: [String: String]
    private let services: [String]
    private let admission: RPCAdmission
    private let places = Places<String>(EdgeLimits.reflections)
    /// In the journal of answers, where the API's own calls have bare names.
    private static let journalName = "Reflection.ServerReflectionInfo"

    init(admission: RPCAdmission) throws {
        self.admission = admission
        let set = try Google_Protobuf_FileDescriptorSet(serializedBytes: PackageResources.descriptors_binpb)
        files = Dictionary(set.file.map { ($0.name, $0) }) { first, _ in first }
        declaring = set.file.reduce(into: [:]) { known, file in
            for symbol in file.symbols { known[symbol] = file.name }
        }
        services = set.file.flatMap { file in file.service.map { "\(file.package).\($0.name)" } }.sorted()
    }

    func register(in router: inout RPCRouter<some ServerTransport>) {
        for version in ["v1", "v1alpha"] {
            router.registerHandler(
                forMethod: MethodDescriptor(
                    fullyQualifiedService: "grpc.reflection.\(version).ServerReflection", method: "ServerReflectionInfo"
                ),
                deserializer: ProtobufDeserializer<Request>(), serializer: ProtobufSerializer<Reply>()
            ) { request, context in
                let trace = CallTrace(request.metadata)
                let place = try await enter(request.metadata, context, trace)
                return StreamingServerResponse { writer in
                    defer { place.leave() }
                    do {
                        // For all of its messages together: tools ask what they want to know at once.
                        try await RPCPatience.receive {
                            for try await message in request.messages { try await writer.write(reply(to: message)) }
                        }
                    } catch let error as APIError {
                        throw admission.rpcError(error, of: Self.journalName, trace, AnswerFields())
                    }
                    return [:]
                }
            }
        }
    }

    /// Counts a call from an address, and gives it a place.
    private func enter(
        _ metadata: Metadata, _ context: ServerContext, _ trace: CallTrace
    ) async throws(RPCError) -> Places<String>.Place {
        let fields = AnswerFields()
        do {
            let address = try admission.address(metadata, context, as: .reads, fields)
            guard let place = places.enter(address) else {
                throw APIError(
                    .tooManyRequests, "Your address has \(places.limit) calls of reflection open; close one first.",
                    retryAfter: 5)
            }
            return place
        } catch {
            throw await admission.refusal(error, of: Self.journalName, metadata, context, trace, fields)
        }
    }

    private func reply(to request: Request) -> Reply {
        var reply = Reply()
        reply.validHost = request.host
        reply.originalRequest = request
        switch request.messageRequest {
        case .listServices:
            reply.listServicesResponse.service = services.map { name in .with { $0.name = name } }
        case .fileByFilename(let name): describe(files[name], in: &reply)
        case .fileContainingSymbol(let symbol): describe(declaring[symbol].flatMap { files[$0] }, in: &reply)
        case .fileContainingExtension, .allExtensionNumbersOfType: describe(nil, in: &reply)
        case nil: reply.errorResponse = .with { ($0.errorCode, $0.errorMessage) = (3, "Ask for something.") }
        }
        return reply
    }

    /// The file and everything that it imports.
    private func describe(_ file: Google_Protobuf_FileDescriptorProto?, in reply: inout Reply) {
        guard let file else {
            reply.errorResponse = .with { ($0.errorCode, $0.errorMessage) = (5, "There is nothing of this name.") }
            return
        }
        var (open, known) = ([file], Set([file.name]))
        var described: [Data] = []
        while let next = open.popLast() {
            if let bytes: Data = try? next.serializedBytes() { described.append(bytes) }
            for name in next.dependency where known.insert(name).inserted {
                if let file = files[name] { open.append(file) }
            }
        }
        reply.fileDescriptorResponse.fileDescriptorProto = described
    }
}

extension Google_Protobuf_FileDescriptorProto {
    /// The full names of its services, methods and messages.
    fileprivate var symbols: [String] {
        let prefix = package.isEmpty ? "" : "\(package)."
        return messageType.map { prefix + $0.name } + enumType.map { prefix + $0.name }
            + service.flatMap { service in
                [prefix + service.name] + service.method.map { "\(prefix)\(service.name).\($0.name)" }
            }
    }
}
