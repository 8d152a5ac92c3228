import EdgeClient
import RPCClient
import TestKit
import Testing

extension Quartet {
    /// Runs `body` over HTTP, and then over gRPC.
    /// - Parameter replica: Another replica of the edge.
    func overEach(
        at replica: ChildProcess? = nil, _ body: (any AddressedCarrier) async throws -> Void
    ) async throws {
        let replica = try replica ?? process(of: .sessionClient)
        try await body(HTTPCarrier(try await edge(of: replica)))
        try await RPCClient.with(port: try await rpcPort(of: replica)) { rpc in try await body(RPCCarrier(rpc)) }
    }
}

extension Carrier {
    /// Signs somebody up whom no other carrier knows.
    func signUp(_ name: String, at quartet: Quartet) async throws -> Device {
        try await quartet.signUp("\(name)-\(self.name.lowercased())")
    }

    /// Expects a refusal within a number of requests.
    /// - Returns: The field that the refusal names, and what programs need besides.
    @discardableResult
    func expect(
        _ code: String, of call: String, _ body: JSON = [:], token: String? = nil, tries: Int = 1,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (field: String?, details: JSON) {
        var last = ""
        for _ in 0..<tries {
            let answer = try await insist(call, body, token: token, orUntil: code)
            if case .refused(code, let field, let details) = answer { return (field, details) }
            last = "\(answer)"
        }
        Issue.record("\(call) over \(name) isn't refused as \(code): \(last)", sourceLocation: sourceLocation)
        return (nil, .null)
    }

    /// Expects success.
    func act(_ call: String, _ body: JSON = [:], token: String? = nil) async throws -> JSON {
        let answer = try await insist(call, body, token: token)
        guard case .done(let reply) = answer else { throw Unexpected("\(call) over \(name): \(answer)") }
        return reply
    }
}
