public import EdgeClient

/// What carries requests to the server, so that the same can be asked over each transport.
public protocol Carrier: Sendable {
    var name: String { get }
    /// - Parameters:
    ///   - call: The operation's id in the OpenAPI document, which is the rpc's name.
    ///   - body: The parameters of the path and the query and the members of the body.
    func call(_ call: String, _ body: JSON, token: String?, key: String?) async throws -> Answer
    func watch(
        token: String, following groups: [String], only filter: [StreamFilter], after position: String?
    ) async throws -> any AsyncSequence<ServerSentEvent, any Error> & Sendable
}

/// A carrier whose requests may say where they come from, to a server behind a proxy.
public protocol AddressedCarrier: Carrier {
    /// Nil: they don't say.
    var address: String? { get set }
}

public enum Answer: Sendable {
    case done(JSON)
    /// The code, the field, and what programs need besides.
    case refused(code: String, field: String?, details: JSON)

    /// Whether it isn't decided yet, or wasn't taken for want of room, or the account isn't known everywhere yet.
    fileprivate var isPassing: Bool {
        switch self {
        case .refused("noOutcomeYet", _, _), .refused("overloaded", _, _), .refused("databaseUnavailable", _, _),
            .refused("accountNotFound", nil, _):
            true
        case .refused, .done: false
        }
    }
}

extension AddressedCarrier {
    /// The same from an address.
    public func from(_ address: String) -> Self {
        var carrier = self
        carrier.address = address
        return carrier
    }

    fileprivate var headers: [String: String] { address.map { ["x-forwarded-for": $0] } ?? [:] }
}

extension Carrier {
    /// Asks again and again, always under the same key, until there is an answer that won't pass.
    /// - Parameter wanted: A code that is such an answer in any case.
    public func insist(
        _ call: String, _ body: JSON = [:], token: String? = nil, key: String? = nil, orUntil wanted: String? = nil
    ) async throws -> Answer {
        let key = key ?? EdgeClient.newKey()
        let end = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < end {
            let answer = try await self.call(call, body, token: token, key: key)
            if case .refused(let code, _, _) = answer, answer.isPassing, code != wanted {
                try await Task.sleep(for: .milliseconds(50))
            } else {
                return answer
            }
        }
        throw CarrierFailure(description: "\(call) over \(name) was never decided")
    }
}

public struct RPCCarrier: AddressedCarrier {
    public let name = "gRPC"
    public var address: String?
    private let rpc: RPCClient

    public init(_ rpc: RPCClient) {
        self.rpc = rpc
    }

    public func call(_ call: String, _ body: JSON, token: String?, key: String?) async throws -> Answer {
        do {
            return .done(try await rpc.call(call, body, token: token, key: key, metadata: headers).body)
        } catch let refused as RPCClient.Refused {
            guard let code = refused.code else { throw refused }
            let details = try refused.details["details"].map { try JSON(parsing: $0) } ?? .null
            return .refused(code: code, field: refused.details["field"], details: details)
        }
    }

    public func watch(
        token: String, following groups: [String], only filter: [StreamFilter], after position: String?
    ) -> any AsyncSequence<ServerSentEvent, any Error> & Sendable {
        rpc.watch(token: token, following: groups, only: filter, after: position)
    }
}

/// HTTP as the server's OpenAPI document describes it.
public struct HTTPCarrier: AddressedCarrier {
    public let name = "HTTP"
    public var address: String?
    private let edge: EdgeClient
    public let description: Description

    public init(_ edge: EdgeClient) async throws {
        self.edge = edge
        description = Description(try await edge.send("GET", "/openapi.json").body)
    }

    /// - Throws: ``CarrierFailure`` for a refusal that the document doesn't have.
    public func call(_ call: String, _ body: JSON, token: String?, key: String?) async throws -> Answer {
        guard let operation = description[call] else {
            throw CarrierFailure(description: "/openapi.json has no operation \(call)")
        }
        let (path, members) = operation.request(body.members)
        let reply = try await edge.send(
            operation.method, path, body: operation.method == "GET" ? nil : members, token: token, key: key,
            headers: headers)
        guard let code = reply.body["code"].string, !(200..<300).contains(reply.status) || reply.status == 202 else {
            // Where HTTP has no content, gRPC has an empty message.
            return .done(reply.body == .null ? [:] : reply.body)
        }
        guard operation.refusals[code] == reply.status else {
            throw CarrierFailure(description: "/openapi.json doesn't say that \(call) may be refused so: \(reply)")
        }
        return .refused(code: code, field: reply.body["field"].string, details: reply.body["details"])
    }

    public func watch(
        token: String, following groups: [String], only filter: [StreamFilter], after position: String?
    ) async throws -> any AsyncSequence<ServerSentEvent, any Error> & Sendable {
        try await edge.stream(
            token: token, following: groups, filter: filter.map { "\($0.name)=\($0.value)" }, after: position)
    }
}

public struct CarrierFailure: Error, CustomStringConvertible {
    public let description: String
}
