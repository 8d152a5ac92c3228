import QuartetAPI
import QuartetContractSupport
import QuartetSessionClientOrchestration
import QuartetVocabulary

/// What an endpoint's answer is made of. The type says what the document says of it.
protocol EndpointResult: Sendable, SendableMetatype {
    static var replies: [ReplyDeclaration] { get }
    func reply() throws -> EndpointReply
}

/// 200 with a value.
struct OK<Value: Codable & Sendable>: EndpointResult {
    private let json: @Sendable () throws -> [UInt8]

    init(_ value: Value) { json = { try Encoded(value).json } }

    /// What was encoded before, by its owner for example.
    init(_ encoded: Encoded<Value>) { json = { encoded.json } }

    static var replies: [ReplyDeclaration] {
        [ReplyDeclaration(status: 200, content: .json { try Schema(of: Value.self) })]
    }
    func reply() throws -> EndpointReply { EndpointReply(json: try json()) }
}

/// 201 with a value.
struct Created<Value: Codable & Sendable>: EndpointResult {
    private let value: Value

    init(_ value: Value) { self.value = value }

    static var replies: [ReplyDeclaration] {
        [ReplyDeclaration(status: 201, content: .json { try Schema(of: Value.self) })]
    }
    func reply() throws -> EndpointReply { EndpointReply(meaning: .created, json: try Encoded(value).json) }
}

/// 200 with a value whose state has a name.
struct Tagged<Value: Codable & Sendable>: EndpointResult {
    private let value: Value
    private let tag: EntityTag

    init(_ value: Value, tag: EntityTag) { (self.value, self.tag) = (value, tag) }

    static var replies: [ReplyDeclaration] {
        [
            ReplyDeclaration(status: 200, content: .json { try Schema(of: Value.self) }, headers: ["ETag"]),
            .notModified,
        ]
    }
    func reply() throws -> EndpointReply { EndpointReply(json: try Encoded(value).json, entityTag: tag) }
}

/// 200 with one of two values.
enum Either<First: Codable & Sendable, Second: Codable & Sendable>: EndpointResult {
    case first(OK<First>)
    case second(OK<Second>)

    static var replies: [ReplyDeclaration] {
        [
            ReplyDeclaration(
                status: 200,
                content: .json { .anyOf([try Schema(of: First.self), try Schema(of: Second.self)]) })
        ]
    }
    func reply() throws -> EndpointReply {
        switch self {
        case .first(let value): try value.reply()
        case .second(let value): try value.reply()
        }
    }
}

/// 204.
struct NoContent: EndpointResult {
    static var replies: [ReplyDeclaration] { [ReplyDeclaration(status: 204, content: nil)] }
    func reply() -> EndpointReply { EndpointReply() }
}

/// 202 without more: whether it arrives isn't known.
struct Accepted: EndpointResult {
    static var replies: [ReplyDeclaration] { [ReplyDeclaration(status: 202, content: nil)] }
    func reply() -> EndpointReply { EndpointReply(meaning: .accepted) }
}

/// 204, or 202 when an operation still ends it.
struct SignedOut: EndpointResult {
    let operation: ID<OperationSubject>?

    static var replies: [ReplyDeclaration] {
        [
            ReplyDeclaration(status: 204, content: nil),
            ReplyDeclaration(
                status: 202, content: nil, summary: "Signed out; pushes end in a moment.", headers: ["Location"]),
        ]
    }
    func reply() -> EndpointReply {
        guard let operation else { return EndpointReply() }
        return EndpointReply(meaning: .accepted, location: "/v1/operations/\(operation)")
    }
}

extension CommandReply: EndpointResult {
    static var replies: [ReplyDeclaration] {
        [
            ReplyDeclaration(
                status: 200,
                content: .json {
                    .object(
                        Schema.Object(
                            name: "CommandReply",
                            [
                                Schema.Property("outcome", .words(["accepted"])),
                                Schema.Property("command", CommandID.schema),
                                Schema.Property("event", .string(), isRequired: false),
                                Schema.Property("result", .map(of: .any), isRequired: false),
                            ]))
                })
        ]
    }

    func reply() -> EndpointReply {
        // What commands are answered with is JSON already.
        var json = Array(#"{"outcome":"accepted","command":"\#(command)""#.utf8)
        if let event, let result { json += Array(#","event":"\#(event)","result":"#.utf8) + result }
        return EndpointReply(json: json + [UInt8(ascii: "}")])
    }
}

extension OperationReply: EndpointResult {
    static var replies: [ReplyDeclaration] { replies("AnyOperationReply") { .any } }

    /// - Parameters:
    ///   - name: What the document calls the reply.
    ///   - result: The schema of what an operation that is done says.
    static func replies(
        _ name: String, _ result: @escaping @Sendable () throws -> Schema
    ) -> [ReplyDeclaration] {
        let content = ReplyContent.json { try schema(name, result: result()) }
        return [
            ReplyDeclaration(status: 200, content: content, summary: "It has ended."),
            ReplyDeclaration(
                status: 202, content: content, summary: "It goes on.", headers: ["Location", "Retry-After"]),
        ]
    }

    private static func schema(_ name: String, result: Schema) throws -> Schema {
        guard case .object(let reply) = try Schema(of: OperationReply.self) else { return .any }
        let result = Schema.Property("result", result, isRequired: false)
        return .object(Schema.Object(name: name, reply.properties + [result]))
    }

    func reply() throws -> EndpointReply {
        let json = try Encoded(self).json(adding: "result", result)
        guard state == .running else { return EndpointReply(json: json) }
        return EndpointReply(meaning: .accepted, json: json, location: "/v1/operations/\(id)", retryAfter: 1)
    }
}

extension Encoded {
    /// The document with one more field, which is JSON already.
    func json(adding name: String, _ field: [UInt8]?) -> [UInt8] {
        guard let field else { return json }
        return json.dropLast() + Array(",\"\(name)\":".utf8) + field + [UInt8(ascii: "}")]
    }
}
