import EdgeClient
import RPCClient

/// What carries requests to the server.
protocol Carrier: Sendable {
    var name: String { get }
    /// - Parameters:
    ///   - call: The operation's id in the OpenAPI document, which is the rpc's name.
    ///   - body: The parameters of the path and the query and the members of the body.
    func call(_ call: String, _ body: JSON, token: String?, key: String?) async throws -> Answer
    func watch(
        token: String, following groups: [String], only filter: [StreamFilter], after position: String?
    ) async throws -> any AsyncSequence<ServerSentEvent, any Error> & Sendable
}

enum Answer: Sendable {
    case done(JSON)
    /// The code, the field, and what programs need besides.
    case refused(code: String, field: String?, details: JSON)
}

struct RPCCarrier: Carrier {
    let name = "gRPC"
    let rpc: RPCClient

    func call(_ call: String, _ body: JSON, token: String?, key: String?) async throws -> Answer {
        do {
            return .done(try await rpc.call(call, body, token: token, key: key).body)
        } catch let refused as RPCClient.Refused {
            guard let code = refused.code else { throw refused }
            let details = try refused.details["details"].map { try JSON(parsing: $0) } ?? .null
            return .refused(code: code, field: refused.details["field"], details: details)
        }
    }

    func watch(
        token: String, following groups: [String], only filter: [StreamFilter], after position: String?
    ) -> any AsyncSequence<ServerSentEvent, any Error> & Sendable {
        rpc.watch(token: token, following: groups, only: filter, after: position)
    }
}

/// HTTP as the server's OpenAPI document describes it.
struct HTTPCarrier: Carrier {
    let name = "HTTP"
    let edge: EdgeClient
    private let description: Description

    init(_ edge: EdgeClient) async throws {
        self.edge = edge
        description = Description(try await edge.send("GET", "/openapi.json").body)
    }

    func call(_ call: String, _ body: JSON, token: String?, key: String?) async throws -> Answer {
        guard let operation = description[call] else {
            throw Failure(description: "/openapi.json has no operation \(call)")
        }
        let (path, members) = operation.request(body.members)
        let reply = try await edge.send(
            operation.method, path, body: operation.method == "GET" ? nil : members, token: token, key: key)
        guard let code = reply.body["code"].string, !(200..<300).contains(reply.status) || reply.status == 202 else {
            // Where HTTP has no content, gRPC has an empty message.
            return .done(reply.body == .null ? [:] : reply.body)
        }
        return .refused(code: code, field: reply.body["field"].string, details: reply.body["details"])
    }

    func watch(
        token: String, following groups: [String], only filter: [StreamFilter], after position: String?
    ) async throws -> any AsyncSequence<ServerSentEvent, any Error> & Sendable {
        try await edge.stream(
            token: token, following: groups, filter: filter.map { "\($0.name)=\($0.value)" }, after: position)
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
}
