import EdgeClient
import RPCClient
import RawClient
import TestKit
import Testing

/// A refusal reaches clients that send all of a request before they read anything (RFC 9112, section 9.6).
@Suite("End to end: refusals of what is still being sent", .timeLimit(.minutes(60)))
struct RefusedBodyTests {
    /// More than the buffers of both sides take.
    private static let size = 16 << 20
    private static let get = Array("GET /.well-known/jwks.json HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8)

    /// A request that is refused although its body is whole.
    private struct Refused {
        let method: String
        let path: String
        let headers: [String]
        let body: [UInt8]
        let token: String
        let status: Int
    }

    private static func chunked() -> [UInt8] {
        let chunk = Array("100000\r\n".utf8) + [UInt8](repeating: 0x20, count: 0x100000) + Array("\r\n".utf8)
        return [[UInt8]](repeating: chunk, count: size / 0x100000).flatMap { $0 } + Array("0\r\n\r\n".utf8)
    }

    private static func requests(_ token: String) -> [Refused] {
        let (whole, length) = ([UInt8](repeating: 0x20, count: size), "content-length: \(size)")
        let (json, picture) = ("content-type: application/json", "content-type: image/png")
        return [
            Refused(
                method: "POST", path: "/v1/commands/CheckIn", headers: [json, length], body: whole, token: token,
                status: 413),
            Refused(
                method: "POST", path: "/v1/commands/CheckIn", headers: [json, "transfer-encoding: chunked"],
                body: chunked(), token: token, status: 413),
            Refused(
                method: "PUT", path: "/v1/account/avatar", headers: [picture, length], body: whole, token: "nonsense",
                status: 401),
            Refused(
                method: "POST", path: "/v1/nothing", headers: [json, length], body: whole, token: token, status: 404),
            Refused(
                method: "POST", path: "/v1/operations/RespondToAllPings", headers: [json, length], body: whole,
                token: token, status: 429),
        ]
    }

    @Test(
        """
        a refused request leaves its connection open, however much of it is still to come; one that was to be the last is \
        answered before its connection ends (T21)
        """)
    func http() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["OPERATIONS_PER_MINUTE": "1"])
            let anna = try await quartet.signUp("anna")
            let port = try await quartet.edgePort()
            /// For the next minute.
            func useUpOperations() async throws {
                for _ in 0..<10 {
                    let path = "/v1/operations/RespondToAllPings"
                    if try await quartet.edge.send("POST", path, token: anna.token).status == 429 { return }
                }
                Issue.record("ten operations in a minute were not too many")
            }
            for request in Self.requests(anna.token) {
                for isLast in [false, true] {
                    if request.status == 429 { try await useUpOperations() }
                    let connection = try RawConnection(port: port)
                    let head = RawConnection.request(
                        request.method, request.path, token: request.token,
                        request.headers + (isLast ? ["connection: close"] : []))
                    try connection.send(head + request.body)
                    if isLast {
                        let said = try await connection.rest()
                        #expect(said.hasPrefix("HTTP/1.1 \(request.status) "), "\(said)")
                    } else {
                        let refused = try await connection.reply()
                        #expect(refused.status == request.status, "\(request.path): \(refused.status)")
                        try connection.send(Self.get)
                        #expect(try await connection.reply().status == 200)
                    }
                }
            }
            // What can't be understood ends the connection, with a word.
            let malformed = try RawConnection(port: port)
            let head = RawConnection.request(
                "POST", "/v1/commands/CheckIn", anna, ["content-type: application/json", "transfer-encoding: chunked"])
            try malformed.send(head + Array("zz\r\n".utf8) + [UInt8](repeating: 0x20, count: Self.size))
            let said = try await malformed.rest()
            #expect(said.hasPrefix("HTTP/1.1 400 "), "\(said)")
        }
    }

    @Test("a connection that is one too many hears why although it goes on sending (T21)")
    func door() async throws {
        try await Quartet.with(services: []) { quartet in
            try await quartet.start(.sessionClient, environment: ["HTTP_CONNECTIONS_PER_ADDRESS": "2"])
            let port = try await quartet.edgePort()
            let held = try (0..<2).map { _ in try RawConnection(port: port, from: "127.0.0.2") }
            for connection in held {
                try connection.send(Self.get)
                #expect(try await connection.status() == 200)
            }
            let refused = try RawConnection(port: port, from: "127.0.0.2")
            let head = RawConnection.request(
                "PUT", "/v1/account/avatar", token: "nonsense", ["content-length: \(Self.size)"])
            try refused.send(head + [UInt8](repeating: 0, count: Self.size))
            let said = try await refused.rest()
            #expect(said.hasPrefix("HTTP/1.1 429 ") && said.contains("tooManyConnections"), "\(said)")
            for connection in held { connection.breakOff() }
        }
    }

    @Test(
        "over HTTP/2 and gRPC, a refusal comes before the end of what it refuses, and the connection serves others (T21)"
    )
    func multiplexed() async throws {
        let certificate = try await Certificate.make()
        defer { certificate.remove() }
        try await Quartet.with(services: []) { quartet in
            try await quartet.start(.sessionClient, environment: certificate.environment)
            try await certificate.trusted { http in
                let edge = EdgeClient(http: http) { [url = try quartet.url] in url }
                let body = [UInt8](repeating: 0x20, count: Self.size)
                for _ in 0..<4 {
                    let picture = try await edge.send(
                        "PUT", "/v1/account/avatar", raw: body, token: "nonsense",
                        headers: ["content-type": "image/png"])
                    #expect(picture.status == 401, "\(picture)")
                    let json = try await edge.send("POST", "/v1/sign-in", raw: body)
                    #expect(json.status == 413 && json.body["code"] == "bodyTooLarge", "\(json)")
                }
                #expect(try await edge.send("GET", "/.well-known/jwks.json").status == 200)
            }
            // As curl does when it is refused: it ends the request before all that was promised.
            let short = try await SecureConnection.open(port: try await quartet.edgePort())
            try await short.send(RawHTTP2.preface() + RawHTTP2.post("/v1/sign-in", length: Self.size, on: 1))
            try await short.hear("bodyTooLarge")
            try await short.send(RawHTTP2.body("", on: 1) + RawHTTP2.get("/.well-known/jwks.json", on: 3))
            try await short.hear(#""keys":"#)
            await short.close()
            try await RPCClient.with(port: try await quartet.rpcPort(), trusting: certificate.certificate) { rpc in
                // Nearly as much as a message may have; the transport cuts longer ones off without a word.
                let message = [UInt8](repeating: 0, count: (1 << 20) - 64)
                for _ in 0..<4 {
                    let refused = await #expect(throws: RPCClient.Refused.self) {
                        try await rpc.call("UpdateProfile", bytes: message, token: "nonsense")
                    }
                    #expect(refused?.code == "invalidToken", "\(String(describing: refused))")
                }
                let refused = await #expect(throws: RPCClient.Refused.self) { try await rpc.call("GetAccount") }
                #expect(refused?.code == "missingToken", "\(String(describing: refused))")
            }
        }
    }
}
