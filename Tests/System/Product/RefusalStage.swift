import EdgeClient
import Foundation
import QuartetAPI
import RPCClient
import RawClient
import Synchronization
import TestKit
import Testing

/// Sends any operation of the description, and judges how it is refused.
struct RefusalStage: Sendable {
    let description: Description
    let edge: EdgeClient
    let anna: Device
    /// The access token of a device that is signed out.
    let signedOut: String
    /// Names a sign-up and an exchange of a refresh token that are done.
    let doneKey: String
    private let quartet: Quartet
    private let exchanged: String
    /// May do everything that operators may.
    private let operatorKey: String
    private let addresses: Addresses
    private static let password: JSON = "a long enough password"
    private static let id = "019ce697-4800-8859-ab31-40077031f2b4"

    init(_ quartet: Quartet) async throws {
        self.quartet = quartet
        edge = quartet.edge
        let document = try await edge.send("GET", "/openapi.json").body
        // For the end of a whole run, when no server is there any more.
        if let journal = Quartet.answerJournal {
            try Data("\(document)".utf8).write(to: URL(filePath: journal + ".openapi.json"), options: .atomic)
        }
        description = Description(document)
        operatorKey = try await quartet.makeKey("refusals", "act")
        addresses = Addresses()
        anna = try await quartet.signUp("anna")
        let (gone, carl) = try await quartet.signUp("gone", "carl")
        _ = try await edge.insist("/v1/sign-out", [:], token: gone.token)
        (signedOut, exchanged, doneKey) = (gone.token, carl.refreshToken, EdgeClient.newKey())
        for (path, body) in [
            ("/v1/sign-up", ["handle": "dora", "password": Self.password]),
            ("/v1/token", ["refreshToken": .string(carl.refreshToken)]),
        ] as [(String, JSON)] {
            let reply = try await edge.insist(path, body, key: doneKey)
            try #require(reply.isSuccess, "\(reply)")
        }
    }

    private init(_ stage: RefusalStage, at edge: EdgeClient) {
        (description, anna, signedOut, doneKey) = (stage.description, stage.anna, stage.signedOut, stage.doneKey)
        (quartet, exchanged, self.edge) = (stage.quartet, stage.exchanged, edge)
        (operatorKey, addresses) = (stage.operatorKey, stage.addresses)
    }

    /// The same at another replica.
    func at(_ edge: EdgeClient) -> RefusalStage { RefusalStage(self, at: edge) }

    /// Where nothing came from before.
    func anotherAddress() -> String { addresses.next() }

    private final class Addresses: Sendable {
        private let last = Mutex(0)

        func next() -> String {
            let number = last.withLock { last -> Int in
                last += 1
                return last
            }
            return "10.0.\(number / 256).\(number % 256)"
        }
    }

    /// What gets as far as the database, where no token is needed to get there; elsewhere nothing.
    func message(_ operation: String) -> JSON {
        switch operation {
        case "SignUp": ["handle": "dora", "password": Self.password]
        // A refresh token says whose device it is, which is looked up before anything else.
        case "SignIn":
            ["handle": "anna", "password": Self.password, "refreshToken": .string(anna.refreshToken)]
        case "RequestSignInCode": ["phone": "+4930999999", "refreshToken": .string(anna.refreshToken)]
        case "RefreshToken": ["refreshToken": .string(exchanged)]
        case "Undo": ["refreshToken": .string(anna.refreshToken)]
        default: [:]
        }
    }

    /// - Parameters:
    ///   - parameters: What stands in the path for parameters; for others something that there could be.
    ///   - token: By default that of a device that is signed in, or an operator's key.
    func send(
        _ operation: Description.Operation, body: String? = nil, query: String? = nil,
        parameters: [String: String] = [:], token: String?? = nil, key: String? = nil, headers: [String: String] = [:]
    ) async throws -> EdgeClient.Reply? {
        let sent = operation.content.isEmpty ? nil : Array((body ?? "\(message(operation.id))").utf8)
        let bearer: String? = if let token { token } else { self.token(for: operation) }
        var headers = headers
        if let type = operation.content.first, headers["content-type"] == nil { headers["content-type"] = type }
        return try await edge.send(
            operation.method, path(of: operation, parameters) + (query.map { "?\($0)" } ?? ""), raw: sent,
            token: bearer, key: key, headers: headers)
    }

    private func token(for operation: Description.Operation) -> String {
        operation.isForOperators ? operatorKey : anna.token
    }

    private func path(of operation: Description.Operation, _ parameters: [String: String] = [:]) -> String {
        operation.path.replacing(/\{(\w+)\}/) { match in
            if let parameter = parameters[String(match.1)] { return parameter }
            return switch match.1 {
            case "upload", "attachment": String(repeating: "0", count: 64)
            case "chunk": "0"
            case "query": "story"
            case "code": operation.isOpen ? "malformed" : "ABCDEFGH"
            default: Self.id
            }
        }
    }

    // MARK: Judging

    /// Sends until the refusal comes, or often enough.
    /// - Parameter send: Nil where there is nothing to send.
    func expect(
        _ code: String, of operation: Description.Operation, tries: Int = 3,
        _ send: () async throws -> EdgeClient.Reply?
    ) async throws {
        var last: EdgeClient.Reply?
        for _ in 0..<tries {
            guard let reply = try await send() else { return }
            last = reply
            if reply.body["code"].string == code { break }
        }
        #expect(
            last?.body["code"].string == code && last?.status == operation.refusals[code],
            "\(operation.id) \(code): \(last.map(String.init(describing:)) ?? "")")
        // Clients that don't know the code go by this.
        let retry = APIError.Code(rawValue: code)?.retry.rawValue
        #expect(last?.body["retry"].string == retry, "\(operation.id) \(code)")
    }

    /// The same over gRPC.
    func expect(_ code: String, of call: String, tries: Int = 3, _ send: () async throws -> Void) async {
        var last = "it was done"
        for _ in 0..<tries {
            do { try await send() } catch let refused as RPCClient.Refused where refused.code == code {
                return
            } catch {
                last = "\(error)"
            }
        }
        Issue.record("\(call) over gRPC isn't refused as \(code): \(last)")
    }

    // MARK: Bodies that don't come

    /// To every operation a body that breaks off.
    func sendHalfBodies() async throws {
        for operation in description.operations where operation.refusals["incompleteBody"] != nil {
            let connection = try await begin(operation, "transfer-encoding: chunked")
            try connection.send(Array("ZZ\r\n".utf8))
            // What reads the protocol may have answered before the route could say why.
            let status = try await connection.status()
            #expect(status == operation.refusals["incompleteBody"], "\(operation.id): \(status)")
        }
    }

    /// To every operation that is sent JSON a body that comes too slowly, although not so slowly that its connection is cut.
    func sendSlowBodies() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var connections: [RawConnection] = []
            for operation in description.operations
            where operation.refusals["tooSlow"] != nil && operation.content == ["application/json"] {
                let connection = try await begin(operation, "content-length: 65000")
                connections.append(connection)
                group.addTask { try await expect("tooSlow", of: operation, from: connection) }
            }
            let drip = Task { [connections] in
                while !Task.isCancelled {
                    for connection in connections {
                        try? connection.send(Array(repeating: UInt8(ascii: " "), count: 2048))
                    }
                    try await Task.sleep(for: .seconds(1))
                }
            }
            defer { drip.cancel() }
            try await group.waitForAll()
        }
    }

    private func begin(_ operation: Description.Operation, _ length: String) async throws -> RawConnection {
        let connection = try RawConnection(port: try await quartet.edgePort())
        let type = "content-type: \(operation.content.first ?? "")"
        try connection.send(
            RawConnection.request(
                operation.method, path(of: operation), token: token(for: operation), [type, length]))
        return connection
    }

    private func expect(
        _ code: String, of operation: Description.Operation, from connection: RawConnection
    ) async throws {
        let reply = try await connection.reply()
        let body = String(decoding: reply.body, as: UTF8.self)
        #expect(
            reply.status == operation.refusals[code] && body.contains("\"\(code)\""),
            "\(operation.id) \(code): \(reply)")
    }
}
