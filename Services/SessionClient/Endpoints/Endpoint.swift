import QuartetAPI
import QuartetVocabulary

/// Something that can be asked of this server, whatever carries the request. Said once: HTTP and gRPC route by it, the OpenAPI
/// document describes it, and limits count by it.
struct Endpoint: Sendable {
    var declaration: Declaration
    private let handle: @Sendable (Actions, EndpointRequest) async throws -> EndpointReply

    init(
        declaration: Declaration, handle: @Sendable @escaping (Actions, EndpointRequest) async throws -> EndpointReply
    ) {
        self.declaration = declaration
        self.handle = handle
    }

    /// Answers a request whose sender was let in (``Admission``).
    /// - Throws: ``APIError``, or what ``APIError/init(thrown:)`` makes one of.
    func answer(_ actions: Actions, _ request: EndpointRequest) async throws -> EndpointReply {
        let call = request.call
        call.fields.deprecated.note(declaration, request.parameters, request.body, by: call.client, call.logger)
        return try await handle(actions, request)
    }

    /// What everyone may know of an endpoint.
    struct Declaration: Sendable {
        /// The operation's id in the OpenAPI document and the rpc's name, as in `ListContacts`.
        let name: String
        let method: Method
        /// With its parameters, as in `/v1/contacts/{account}`.
        let path: String
        let access: Access
        /// A sentence.
        let summary: String
        var parameters: [ParameterDeclaration] = []
        /// Nil where nothing is sent.
        var body: RequestContent?
        let replies: [ReplyDeclaration]
        /// What it is refused with besides what any such endpoint is refused with (``codes``).
        var refusals: [APIError.Code] = []
        /// What can't happen here, although any such endpoint is refused with it.
        var impossible: Set<APIError.Code> = []
        /// Which limit its requests count for; nil when it has one of its own.
        let limit: RequestLimits.Kind?
        var family: Family?
        /// Whether a service decides it, unless it only reads.
        var isDecided = true
        var deprecation: Deprecation?
        /// Parameters, and fields of the body, by their names.
        var deprecatedFields: [String: Deprecation] = [:]
    }

    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    /// Endpoints that differ by the last part of the path, served by one route.
    enum Family: String, CaseIterable, Sendable {
        case commands, operations

        var path: String { "/v1/\(rawValue)" }

        var limit: RequestLimits.Kind {
            switch self {
            case .commands: .commands
            case .operations: .operations
            }
        }

        /// - Parameter name: What no endpoint has as the last part of its path.
        func unknown(_ name: String) -> APIError {
            switch self {
            case .commands:
                APIError(.unknownCommand, "There is no command \(name.prefix(100)) for apps.", field: "type")
            case .operations:
                APIError(.unknownOperation, "There is no operation \(name.prefix(100)).", field: "operation")
            }
        }
    }
}

/// Who may ask. Nobody may ask what isn't declared.
enum Access: Hashable, Sendable {
    case open
    /// Anyone with the access token of a device that is signed in.
    case signedIn
    /// Operators with an API key of at least this role.
    case operators(OperatorRole)
}

/// What a request carries.
enum RequestContent: Sendable {
    case json(any MessageBody.Type)
    /// Bytes of one of these media types.
    case bytes([String])
}

/// One of the ways in which a request succeeds.
struct ReplyDeclaration: Sendable {
    /// As in RFC 9110.
    let status: Int
    let content: ReplyContent?
    /// A sentence, when the status doesn't say it.
    var summary: String?
    /// Names of the headers that belong to it.
    var headers: [String] = []

    static let notModified = ReplyDeclaration(
        status: 304, content: nil, summary: "It is what `If-None-Match` names.", headers: ["ETag"])
}

enum ReplyContent: Sendable {
    case json(@Sendable () throws -> Schema)
    case bytes([String])
}
