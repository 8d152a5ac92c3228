package import Foundation
import QuartetAPI
import QuartetVocabulary

/// `quartet.proto`, made from the endpoints' declarations: an rpc each, with the parameters and the body's fields in one
/// message. Names are those of the JSON, so that messages and JSON are made of each other without a word about a domain.
///
/// Words of closed lists are strings: JSON's words aren't names that an enum's values can all have, and one that only a newer
/// server knows must reach the app.
struct ProtoFile {
    /// A message, or what stands for one.
    private enum Kind: Hashable {
        case scalar(String)
        case message(String)
        case list(String)
        case map(String)

        var text: String {
            switch self {
            case .scalar(let name): "optional \(name)"
            case .message(let name): name
            case .list(let name): "repeated \(name)"
            case .map(let name): "map<string, \(name)>"
            }
        }
    }

    private struct Field {
        let name: String
        let kind: Kind
        let comment: String?
        let isDeprecated: Bool
    }

    /// An rpc and its messages, as in the file.
    struct Call: Hashable {
        let name: String
        let summary: String
        /// The same over HTTP, as in `GET /v1/account`.
        let route: String
        let request: String
        let reply: String
        let isDeprecated: Bool
    }

    /// Two things have one name.
    struct Ambiguous: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var calls: [Call] = []
    private var messages: [String: [Field]] = [:]
    private var order: [String] = []
    private let earlier: Numbers

    /// - Parameter earlier: The file as it was: its fields keep their numbers.
    init(_ endpoints: [Endpoint.Declaration], keeping earlier: String) throws {
        self.earlier = Numbers(earlier)
        for endpoint in endpoints {
            let request = try add(
                "\(endpoint.name)Request", try Self.members(of: endpoint),
                deprecated: Set(endpoint.deprecatedFields.keys))
            calls.append(
                Call(
                    name: endpoint.name, summary: endpoint.summary,
                    route: "\(endpoint.method.rawValue) \(endpoint.path)", request: request,
                    reply: try reply(of: endpoint), isDeprecated: endpoint.deprecation != nil))
        }
    }

    // MARK: From schemas

    /// What a request says: parameters of the path and the query, and the body's members.
    private static func members(of endpoint: Endpoint.Declaration) throws -> [Schema.Property] {
        let parameters = endpoint.parameters.filter { $0.place != .header }.map { parameter in
            Schema.Property(parameter.name, parameter.schema, isRequired: parameter.isRequired)
        }
        let body = try endpoint.bodySchema?.members ?? []
        let names = (parameters + body).map(\.name)
        guard Set(names).count == names.count else {
            throw Ambiguous(description: "\(endpoint.name) has two parameters or fields of one name: \(names)")
        }
        return parameters + body
    }

    private mutating func reply(of endpoint: Endpoint.Declaration) throws -> String {
        let schemas: [Schema] = try endpoint.replies.compactMap {
            guard case .json(let schema)? = $0.content else { return nil }
            return try schema()
        }
        guard let schema = schemas.first else { return "google.protobuf.Empty" }
        guard case .message(let name) = try kind(of: schema) else { return "google.protobuf.Value" }
        return name
    }

    private mutating func kind(of schema: Schema) throws -> Kind {
        switch schema {
        case .any, .anyOf: return .message("google.protobuf.Value")
        case .boolean: return .scalar("bool")
        case .integer: return .scalar("int64")
        case .number: return .scalar("double")
        case .string, .words: return .scalar("string")
        case .map(.any): return .message("google.protobuf.Struct")
        case .object(let object):
            return .message(try add(object.name.replacing(".", with: ""), object.properties))
        case .array(let element): return .list(try self.element(of: element))
        case .map(let element): return .map(try self.element(of: element))
        }
    }

    private mutating func element(of schema: Schema) throws -> String {
        switch try kind(of: schema) {
        case .scalar(let name), .message(let name): name
        // Lists of lists and the like.
        case .list, .map: "google.protobuf.Value"
        }
    }

    /// Adds a message. One that comes twice has the fields of both, and one that differs may be any JSON.
    /// - Returns: The message's name.
    private mutating func add(
        _ name: String, _ properties: [Schema.Property], deprecated: Set<String> = []
    ) throws -> String {
        if messages[name] == nil {
            order.append(name)
            messages[name] = []
        }
        for property in properties {
            var comment: String?
            if case .words(let words) = property.schema { comment = words.joined(separator: ", ") }
            let field = Field(
                name: property.name, kind: try kind(of: property.schema), comment: comment,
                isDeprecated: deprecated.contains(property.name))
            if let known = messages[name]?.firstIndex(where: { $0.name == field.name }) {
                guard messages[name]?[known].kind != field.kind else { continue }
                messages[name]?[known] = Field(
                    name: field.name, kind: .message("google.protobuf.Value"), comment: nil,
                    isDeprecated: field.isDeprecated)
            } else {
                messages[name]?.append(field)
            }
        }
        return name
    }

    // MARK: To text

    var proto: String {
        var text = """
            // The gRPC API. Made from the server's endpoints by `make proto`: change those, not this.
            //
            // Fields are called as in the JSON of the HTTP API (/openapi.json describes each), and times and durations are
            // microseconds. Every field is optional on the wire; a call is refused if one that it needs is missing.
            // The access token, the idempotency key and the client's version travel as metadata: `authorization`,
            // `idempotency-key`, `quartet-client`.

            syntax = "proto3";

            package quartet.v1;

            import "google/protobuf/empty.proto";
            import "google/protobuf/struct.proto";
            import "stream.proto";

            service Quartet {
              // The caller's streams, live: first their states, then what changes.
              rpc Watch(WatchRequest) returns (stream StreamMessage);

            """
        for call in calls {
            let options = call.isDeprecated ? " {\n    option deprecated = true;\n  }" : ";"
            text +=
                "\n  // \(call.summary)\n  // \(call.route)\n  rpc \(call.name)(\(call.request)) returns (\(call.reply))\(options)\n"
        }
        text += "}\n"
        for name in order { text += "\n" + message(name) }
        return text
    }

    private func message(_ name: String) -> String {
        let fields = messages[name] ?? []
        let numbers = earlier.numbers(of: fields.map(\.name), in: name)
        guard !fields.isEmpty || !numbers.reserved.isEmpty else { return "message \(name) {}\n" }
        var text = "message \(name) {\n"
        if !numbers.reserved.isEmpty {
            text += "  reserved \(numbers.reserved.map(String.init).joined(separator: ", "));\n"
        }
        for field in fields {
            if let comment = field.comment { text += "  // \(comment)\n" }
            let options = field.isDeprecated ? " [deprecated = true]" : ""
            text += "  \(field.kind.text) \(field.name) = \(numbers.fields[field.name] ?? 0)\(options);\n"
        }
        return text + "}\n"
    }

    /// A table of the messages that SwiftProtobuf's compiler makes of the file.
    var swift: String {
        var text = """
            // swift-format-ignore-file
            // Made from the server's endpoints by `make proto`: change those, not this.

            public import SwiftProtobuf

            /// The messages of each rpc of `quartet.v1.Quartet` but Watch, by its name.
            public enum QuartetMessages {
                public typealias Pair = (request: any Message.Type, reply: any Message.Type)

                public static let names = [
                    \(calls.map { "\"\($0.name)\"" }.joined(separator: ", "))
                ]

                public static func pair(of name: String) -> Pair? {
                    switch name {

            """
        for call in calls {
            text +=
                "        case \"\(call.name)\": (\(Self.swift(call.request)).self, \(Self.swift(call.reply)).self)\n"
        }
        return text + """
                    default: nil
                    }
                }
            }

            """
    }

    private static func swift(_ message: String) -> String {
        message.hasPrefix("google.protobuf.")
            ? "Google_Protobuf_\(message.dropFirst("google.protobuf.".count))" : "Quartet_V1_\(message)"
    }
}

/// The numbers of fields in a file as it was.
private struct Numbers {
    private var fields: [String: [String: Int]] = [:]
    private var reserved: [String: [Int]] = [:]

    init(_ file: String) {
        var message = ""
        for line in file.split(separator: "\n") {
            if let match = line.prefixMatch(of: /message (\w+) \{/) {
                message = String(match.1)
            } else if let match = line.wholeMatch(of: #/  reserved ([0-9, ]+);/#) {
                reserved[message] = match.1.split(separator: ",").compactMap { Int($0.filter(\.isNumber)) }
            } else if let match = line.wholeMatch(of: #/  [^/].* (\w+) = (\d+)(?: \[deprecated = true\])?;/#),
                let number = Int(match.2)
            {
                fields[message, default: [:]][String(match.1)] = number
            }
        }
    }

    /// Fields keep the numbers that they had, new ones get new numbers, and those of fields that are gone stay reserved.
    func numbers(of names: [String], in message: String) -> (fields: [String: Int], reserved: [Int]) {
        let known = fields[message] ?? [:]
        let gone = known.filter { !names.contains($0.key) }.map(\.value)
        let reserved = ((self.reserved[message] ?? []) + gone).sorted()
        var last = (known.values + reserved).max() ?? 0
        var numbers: [String: Int] = [:]
        for name in names {
            if known[name] == nil { last += 1 }
            numbers[name] = known[name] ?? last
        }
        return (numbers, reserved)
    }
}

extension Endpoint.Declaration {
    /// The body as a schema; nil where nothing is sent.
    var bodySchema: Schema? {
        get throws {
            guard case .json(let type)? = body else { return nil }
            return try Schema(of: type)
        }
    }
}

extension Schema {
    /// An object's members.
    var members: [Property] { if case .object(let object) = self { object.properties } else { [] } }
}

/// For `make proto`.
package enum ProtoFiles {
    /// Writes `quartet.proto` and `quartet.messages.swift` into a folder.
    package static func write(to folder: URL) throws {
        for (name, text) in try texts(in: folder) {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }
    }

    /// The files as they should be, by name.
    package static func texts(in folder: URL) throws -> [String: String] {
        let earlier = try? String(contentsOf: folder.appending(path: "quartet.proto"), encoding: .utf8)
        let file = try ProtoFile(Endpoint.all.map(\.declaration), keeping: earlier ?? "")
        return ["quartet.proto": file.proto, "quartet.messages.swift": file.swift]
    }
}
