import QuartetAPI
import QuartetVocabulary

/// The OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.1) of everything that is declared.
struct OpenAPI: Sendable {
    /// Two types of one name say different things.
    struct NamesCollide: Error {
        let name: String
    }

    let document: JSONValue
    /// Objects by their names.
    let objects: [String: Schema.Object]

    init(_ declarations: [Endpoint.Declaration]) throws {
        let sent = try declarations.flatMap { try $0.sentSchema?.objects ?? [] }
        let answered = try declarations.flatMap { try $0.replies.flatMap { try $0.schema?.objects ?? [] } }
        let streamed = try StreamSchemas.all.flatMap(\.value.objects)
        var objects: [String: Schema.Object] = [:]
        for object in sent + answered + streamed + [Problem.object] {
            guard objects[object.name].map({ $0 == object }) ?? true else { throw NamesCollide(name: object.name) }
            objects[object.name] = object
        }
        self.objects = objects
        let closed = Set(sent.map(\.name))
        var paths: [String: [String: JSONValue]] = [:]
        for declaration in declarations {
            paths[declaration.path, default: [:]][declaration.method.rawValue.lowercased()] =
                try declaration.operation()
        }
        let info: JSONValue = [
            "title": "Quartet", "version": "1",
            "description": .string(
                """
                Times are microseconds since 1970-01-01T00:00Z, durations microseconds, ids UUIDs. The server refuses fields \
                that it doesn't know; clients should ignore them. deploy/API.md explains what belongs together.
                """),
            "license": ["name": "Apache 2.0", "identifier": "Apache-2.0"],
        ]
        let schemas = objects.mapValues { $0.document(isClosed: closed.contains($0.name)) }
        let token: JSONValue = ["type": "http", "scheme": "bearer", "bearerFormat": "JWT"]
        let key: JSONValue = ["type": "http", "scheme": "bearer", "description": "An operator's API key."]
        document = .object([
            "openapi": "3.1.0", "info": info, "servers": [["url": "/"]],
            "tags": .array(Set(declarations.map(\.tag)).sorted().map { ["name": .string($0)] }),
            "paths": .object(paths.mapValues(JSONValue.object)),
            "components": [
                "schemas": .object(schemas), "securitySchemes": ["accessToken": token, "operatorKey": key],
            ],
            "x-stream-events": .object(try StreamSchemas.references),
        ])
    }
}

/// An error's document (RFC 9457), as it is described.
enum Problem {
    static let object = Schema.Object(
        name: "Problem",
        [
            Schema.Property("type", .string(format: "uri-reference")), Schema.Property("title", .string()),
            Schema.Property("status", .integer(200...599)),
            Schema.Property("code", .words(APIError.Code.allCases.map(\.rawValue))),
            Schema.Property("detail", .string()), Schema.Property("field", .string(), isRequired: false),
            Schema.Property("reason", .string(), isRequired: false),
            Schema.Property("retry", .words(APIError.Retry.allCases.map(\.rawValue)), isRequired: false),
            Schema.Property("retryAfter", .integer(0...Int.max), isRequired: false),
            Schema.Property("current", .any, isRequired: false),
            Schema.Property("details", .map(of: .any), isRequired: false),
        ])

    static func document(of codes: [APIError.Code]) -> JSONValue {
        [
            "allOf": [
                Schema.object(object).document,
                ["properties": ["code": ["enum": .array(codes.map { .string($0.rawValue) })]]],
            ]
        ]
    }
}

extension Endpoint.Declaration {
    /// What it belongs to: `contacts`, `commands`.
    var tag: String {
        let parts = path.split(separator: "/")
        return parts.first == "v1" && parts.count > 1 ? String(parts[1]) : "documents"
    }

    var sentSchema: Schema? {
        get throws {
            guard case .json(let body)? = body else { return nil }
            return try Schema(of: body)
        }
    }

    fileprivate func operation() throws -> JSONValue {
        var operation: [String: JSONValue] = [
            "operationId": .string(name), "summary": .string(summary), "tags": [.string(tag)],
            "security": security, "responses": .object(try responses()),
        ]
        if deprecation != nil { operation["deprecated"] = true }
        if tag == "commands", let sending = appCommands[name]?.sending {
            operation["x-precedence"] = .string(sending.precedence.rawValue)
            // Seconds, within which an app may send it for the first time.
            operation["x-valid-for"] = .integer(sending.lifetime.microseconds / 1_000_000)
        }
        let parameters = parameters.map(described) + headers
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        switch body {
        case .json?:
            guard let schema = try sentSchema else { break }
            let isOptional =
                if case .object(let object) = schema { !object.properties.contains(where: \.isRequired) } else { false }
            operation["requestBody"] = [
                "required": .bool(!isOptional),
                "content": ["application/json": ["schema": marked(schema.document), "example": try schema.example]],
            ]
        case .bytes(let types)?:
            operation["requestBody"] = [
                "required": true,
                "content": .object(Dictionary(types.map { ($0, JSONValue.object([:])) }) { first, _ in first }),
            ]
        case nil: break
        }
        return .object(operation)
    }

    /// A body's schema with the fields that will go away.
    private func marked(_ schema: JSONValue) -> JSONValue {
        let names = deprecatedFields.keys.filter { name in !parameters.contains { $0.name == name } }
        guard !names.isEmpty else { return schema }
        let fields = JSONValue.object(Dictionary(names.map { ($0, ["deprecated": true]) }) { first, _ in first })
        return ["allOf": [schema, ["properties": fields]]]
    }

    private var security: JSONValue {
        switch access {
        case .open: []
        case .signedIn: [["accessToken": []]]
        case .operators: [["operatorKey": []]]
        }
    }

    private func described(_ parameter: ParameterDeclaration) -> JSONValue {
        guard deprecatedFields[parameter.name] != nil, case .object(var members) = parameter.document else {
            return parameter.document
        }
        members["deprecated"] = true
        return .object(members)
    }

    private var headers: [JSONValue] {
        var headers: [ParameterDeclaration] = []
        if takesKey, !impossible.contains(.invalidIdempotencyKey) {
            headers.append(
                ParameterDeclaration(
                    place: .header, name: "Idempotency-Key",
                    summary: "A UUID of version 7. Sent again with the same key, the request is done once.",
                    schema: .string(format: "uuid")))
        }
        if replies.contains(where: { $0.status == 304 }) {
            headers.append(
                ParameterDeclaration(
                    place: .header, name: "If-None-Match", summary: "The `ETag` of what is known already.",
                    schema: .string()))
        }
        return headers.map(\.document)
    }

    private func responses() throws -> [String: JSONValue] {
        var responses: [Int: (summaries: [String], content: [String: JSONValue], headers: Set<String>)] = [:]
        for reply in replies {
            var content: [String: JSONValue] = [:]
            switch reply.content {
            case .json?: content["application/json"] = ["schema": try reply.schema?.document ?? [:]]
            case .bytes(let types)?: for type in types { content[type] = JSONValue.object([:]) }
            case nil: break
            }
            responses[reply.status] = (reply.summary.map { [$0] } ?? [], content, Set(reply.headers))
        }
        for (status, codes) in Dictionary(grouping: codes, by: \.httpStatus) {
            var response = responses[status] ?? ([], [:], [])
            response.summaries += codes.map { "`\($0.rawValue)`: \($0.sentence)" }
            response.content["application/problem+json"] = ["schema": Problem.document(of: codes)]
            if codes.contains(where: \.mayWait) { response.headers.insert("Retry-After") }
            if status == 401 { response.headers.insert("WWW-Authenticate") }
            responses[status] = response
        }
        return Dictionary(
            responses.map { status, response in
                var members: [String: JSONValue] = [
                    "description": .string(
                        response.summaries.isEmpty ? "Done." : response.summaries.joined(separator: "\n\n"))
                ]
                if !response.content.isEmpty { members["content"] = .object(response.content) }
                if !response.headers.isEmpty {
                    members["headers"] = .object(
                        Dictionary(response.headers.map { ($0, ["schema": ["type": "string"]]) }) { first, _ in first })
                }
                return ("\(status)", JSONValue.object(members))
            }, uniquingKeysWith: { first, _ in first })
    }
}

extension ReplyDeclaration {
    var schema: Schema? {
        get throws {
            guard case .json(let schema)? = content else { return nil }
            return try schema()
        }
    }
}

extension ParameterDeclaration {
    fileprivate var document: JSONValue {
        [
            "name": .string(name), "in": .string(place.rawValue), "required": .bool(isRequired),
            "description": .string(summary), "schema": schema.document,
        ]
    }
}

extension APIError.Code {
    /// Whether an answer with it may say when to ask again.
    fileprivate var mayWait: Bool { retry == .sameKey || retry == .newKey || httpStatus == 429 }
}

extension Schema {
    /// A value that fits: what is required, and no more.
    var example: JSONValue {
        get throws {
            switch self {
            case .any: [:]
            case .boolean: true
            case .integer(let range): .integer(Int64(range?.lowerBound ?? 1))
            case .number(let range): .number(range?.upperBound ?? 1)
            case .string("uuid", _): "019ce697-4800-8859-ab31-40077031f2b4"
            case .string(_, .some): .string(String(repeating: "0", count: 64))
            case .string: "text"
            case .words(let words): .string(words.first ?? "")
            case .array(let element): .array([try element.example])
            case .map: [:]
            case .anyOf(let schemas): try schemas.first?.example ?? [:]
            case .object(let object):
                .object(
                    Dictionary(try object.properties.filter(\.isRequired).map { ($0.name, try $0.schema.example) }) {
                        first, _ in first
                    })
            }
        }
    }
}
