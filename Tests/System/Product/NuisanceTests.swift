import EdgeClient
import RawClient
import ServiceKit
import TestKit
import Testing

/// Clients that make work and want no answers: they are held to a share of the process by their address.
@Suite("End to end: nuisances", .timeLimit(.minutes(60)))
struct NuisanceTests {
    private static func hits(_ limit: String, at quartet: Quartet) async throws -> Int {
        let series = "quartet_limits_hit_total{limit=\"\(limit)\"} "
        let line = try await quartet.metrics(of: .sessionClient).first { $0.hasPrefix(series) }
        return try #require(line?.split(separator: " ").last.flatMap { Int($0) }, "\(series) isn't shown")
    }

    private static let get = Array("GET /.well-known/jwks.json HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8)

    @Test(
        """
        an address whose clients give up one request of HTTP/2 after the other, on ever new connections, gets no more of \
        these for a while, and others are served (T21)
        """)
    func resets() async throws {
        let certificate = try await Certificate.make()
        defer { certificate.remove() }
        try await Quartet.with(services: []) { quartet in
            try await quartet.start(.sessionClient, environment: certificate.environment)
            let port = try await quartet.edgePort()
            // On one connection no more than NIO lets pass.
            let requests = (0..<150).flatMap { number -> [UInt8] in
                let stream = UInt32(1 + 2 * number)
                return RawHTTP2.get("/docs/style.css", on: stream) + RawHTTP2.reset(stream)
            }
            var connections = 0
            while try await Self.hits("tooManyConnections", at: quartet) == 0 {
                connections += 1
                try #require(connections < 60, "the address is never refused")
                guard let stranger = try? await SecureConnection.open(port: port, from: "127.0.0.2") else { continue }
                // The server may close it meanwhile.
                try? await stranger.send(RawHTTP2.preface() + requests)
                await stranger.close()
            }
            let ended = try await Self.hits("resets", at: quartet)
            #expect(connections >= 6 && ended > 0, "\(connections) connections, \(ended) too many")
            try await certificate.trusted { http in
                let edge = EdgeClient(http: http) { [url = try quartet.url] in url }
                let answer = try await edge.send("GET", "/.well-known/jwks.json")
                #expect(answer.status == 200)
            }
        }
    }

    @Test("the same for calls of gRPC, and the request too many ends its connection (T21)")
    func resetsOfCalls() async throws {
        try await Quartet.with(services: []) { quartet in
            try await quartet.start(.sessionClient)
            let port = try await quartet.rpcPort()
            let process = try quartet.process(of: .sessionClient)
            func stranger(from address: String) async throws -> (connection: RawConnection, heard: String) {
                let connection = try RawConnection(port: port, from: address)
                try connection.send(RawHTTP2.preface() + RawHTTP2.get("/", on: 1))
                return (connection, try await connection.beginning())
            }
            // What is still to be admitted once the first of them have gone too far would be refused.
            var open: [RawConnection] = []
            for _ in 0..<20 { open.append(try await stranger(from: "127.0.0.2").connection) }
            let before = try Holdings(of: process)
            for connection in open {
                let calls = (1..<150).flatMap { number -> [UInt8] in
                    let stream = UInt32(1 + 2 * number)
                    return RawHTTP2.head(of: "quartet.v1.Quartet/GetAccount", on: stream, "x") + RawHTTP2.reset(stream)
                }
                try? connection.send(calls)
            }
            // A test can't observe when the server comes to them.
            for _ in 0..<2400 where try Holdings(of: process).descriptors > before.descriptors - 5 {
                try await Task.sleep(for: .milliseconds(50))
            }
            let after = try Holdings(of: process)
            #expect(after.descriptors <= before.descriptors - 5, "\(before) before, \(after) after")
            let ended = try await Self.hits("resets", at: quartet)
            #expect(ended >= 5, "\(ended) too many")
            #expect(try await Self.hits("tooManyConnections", at: quartet) == 0)
            // Somebody else of the address may need one, so some come in.
            var admitted = 0
            while try await !stranger(from: "127.0.0.2").heard.contains("tooManyConnections") {
                admitted += 1
                try #require(admitted < 60, "the address is never refused")
            }
            #expect(admitted >= 1)
            let other = try await stranger(from: "127.0.0.3")
            #expect(!other.heard.isEmpty && !other.heard.contains("tooManyConnections"), "\(other.heard)")
            #expect(try await Self.hits("tooManyConnections", at: quartet) == 1, "the other one was admitted")
        }
    }

    @Test("an address is told sixty times a minute why it gets no connection, and then no more (T21)")
    func refusedConnections() async throws {
        try await Quartet.with(services: []) { quartet in
            try await quartet.start(.sessionClient, environment: ["HTTP_CONNECTIONS_PER_ADDRESS": "5"])
            let port = try await quartet.edgePort()
            let held = try (0..<5).map { _ in try RawConnection(port: port, from: "127.0.0.2") }
            for connection in held {
                try connection.send(Self.get)
                #expect(try await connection.status() == 200)
            }
            // Together, since the limit is one of a time, and those that are held may be idle only so long.
            let strangers = try (0..<200).map { _ in try RawConnection(port: port, from: "127.0.0.2") }
            var told = 0
            for stranger in strangers {
                let said = try await stranger.rest()
                if said.isEmpty { continue }
                #expect(said.hasPrefix("HTTP/1.1 429 ") && said.contains("tooManyConnections"), "\(said)")
                told += 1
            }
            #expect((60..<200).contains(told), "\(told)")
            #expect(try await Self.hits("connectionRefusals", at: quartet) >= 1)
            let other = try RawConnection(port: port, from: "127.0.0.3")
            try other.send(Self.get)
            #expect(try await other.status() == 200)
            for connection in held { connection.breakOff() }
        }
    }

    @Test(
        """
        a connection that is one too many gets its whole answer, and the end of it, although it sent much before it read, \
        through either door (T21)
        """, arguments: [false, true])
    func wholeAnswers(isEncrypted: Bool) async throws {
        let certificate = try await Certificate.make()
        defer { certificate.remove() }
        let limit = ["HTTP_CONNECTIONS_PER_ADDRESS": "1"]
        try await Quartet.with(services: []) { quartet in
            try await quartet.start(
                .sessionClient, environment: isEncrypted ? limit.merging(certificate.environment) { $1 } : limit)
            let (port, rpcPort) = (try await quartet.edgePort(), try await quartet.rpcPort())
            let head = "POST /v1/sign-in HTTP/1.1\r\nhost: localhost\r\ncontent-length: 20000\r\n\r\n"
            let much = Array(head.utf8) + [UInt8](repeating: 0, count: 20_000)
            if isEncrypted {
                let held = try await SecureConnection.open(port: port)
                for (door, version) in [(port, "http/1.1"), (rpcPort, "h2")] {
                    let refused = try await SecureConnection.open(port: door, speaking: [version])
                    // The server may have closed it meanwhile.
                    try? await refused.send(much)
                    let said = try await refused.rest()
                    #expect(said.contains("tooManyConnections") && (door == rpcPort || said.hasSuffix("}")), "\(said)")
                }
                await held.close()
            } else {
                let held = try RawConnection(port: port)
                try held.send(Self.get)
                #expect(try await held.status() == 200)
                for door in [port, rpcPort] {
                    let refused = try RawConnection(port: door)
                    try? refused.send(much)
                    let said = try await refused.rest()
                    #expect(said.contains("tooManyConnections") && (door == rpcPort || said.hasSuffix("}")), "\(said)")
                }
                held.breakOff()
            }
        }
    }

    @Test("an address that goes on asking although it is refused waits for its refusals, and others don't (T21)")
    func refusedRequests() async throws {
        OpenFiles.raiseLimit()
        try await Quartet.with(services: []) { quartet in
            try await quartet.start(
                .sessionClient, environment: ["READS_PER_MINUTE": "10", "ADDRESS_FACTOR": "1"])
            let port = try await quartet.edgePort()
            let strangers = try (0..<400).map { _ in try RawConnection(port: port, from: "127.0.0.2") }
            for stranger in strangers { try stranger.send(Self.get) }
            var refused = 0
            for stranger in strangers where try await stranger.status() == 429 { refused += 1 }
            #expect(refused >= 390)
            #expect(try await Self.hits("refusals", at: quartet) > 0)
            let other = try RawConnection(port: port, from: "127.0.0.3")
            try other.send(Self.get)
            #expect(try await other.status() == 200)
        }
    }

    @Test("memory that a crowd of strangers took is given back to the system once they have left (T21)")
    func memory() async throws {
        OpenFiles.raiseLimit()
        try await Quartet.with(services: []) { quartet in
            try await quartet.start(.sessionClient)
            let port = try await quartet.edgePort()
            let process = try quartet.process(of: .sessionClient)
            let stranger = try RawConnection(port: port)
            try stranger.send(Self.get)
            #expect(try await stranger.status() == 200)
            let before = try Holdings(of: process)
            let head = "POST /v1/sign-in HTTP/1.1\r\nhost: localhost\r\ncontent-length: 65000\r\n\r\n"
            let request = Array(head.utf8) + [UInt8](repeating: UInt8(ascii: " "), count: 64_900)
            // Each leaves while its body is still awaited.
            let crowd = try (0..<1600).map { try RawConnection(port: port, from: "127.0.0.\(2 + $0 % 4)") }
            for connection in crowd { try connection.send(request) }
            // A test can't observe when a process reads what was sent, nor when it looks at its memory.
            func wait(until isSo: (Holdings) -> Bool) async throws -> Holdings {
                var now = try Holdings(of: process)
                for _ in 0..<3000 where !isSo(now) {
                    try await Task.sleep(for: .milliseconds(100))
                    now = try Holdings(of: process)
                }
                return now
            }
            let during = try await wait { $0.megabytes >= before.megabytes + 96 }
            #expect(during.megabytes >= before.megabytes + 96, "\(before) before, \(during) in the crowd")
            for connection in crowd { connection.breakOff() }
            let after = try await wait { $0.megabytes <= before.megabytes + 48 }
            #expect(
                after.megabytes <= before.megabytes + 48, "\(before) before, \(during) in the crowd, \(after) after")
        }
    }

    @Test(
        """
        what strangers ask for and give up at any moment is no error of the server: none is in its log, over HTTP/2 and gRPC \
        (T21)
        """)
    func givenUp() async throws {
        let certificate = try await Certificate.make()
        defer { certificate.remove() }
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: certificate.environment)
            let (port, rpcPort) = (try await quartet.edgePort(), try await quartet.rpcPort())
            let body = #"{"handle":"nobody","password":"a long enough password","deviceName":"x"}"#
            let paths = ["/v1/sign-in", "/v1/sign-up", "/v1/refresh", "/v1/request-sign-in-code", "/v1/handles"]
            for round in 0..<60 {
                let secure = try await SecureConnection.open(port: port)
                let plain = try await SecureConnection.open(port: rpcPort)
                var (requests, calls) = (RawHTTP2.preface(), RawHTTP2.preface())
                for (number, path) in paths.enumerated() {
                    let stream = UInt32(1 + 2 * number)
                    requests += RawHTTP2.post(path, on: stream)
                    // Each round gives up at another moment: before, in and after the body.
                    if round % 3 > 0 { requests += RawHTTP2.body(body, isEnd: round % 3 == 2, on: stream) }
                    calls += RawHTTP2.head(
                        of: "quartet.v1.Quartet/\(number % 2 == 0 ? "SignIn" : "Watch")", on: stream, "")
                    if round % 3 > 0 { calls += RawHTTP2.emptyMessage(on: stream) }
                }
                try? await secure.send(requests)
                try? await plain.send(calls)
                if round % 2 == 0 {
                    let resets = (0..<paths.count).flatMap { RawHTTP2.reset(UInt32(1 + 2 * $0)) }
                    try? await secure.send(resets)
                    try? await plain.send(resets)
                }
                await secure.close()
                await plain.close()
            }
            try await certificate.trusted { http in
                let edge = EdgeClient(http: http) { [url = try quartet.url] in url }
                let answer = try await edge.send("GET", "/.well-known/jwks.json")
                #expect(answer.status == 200)
            }
            let errors = quartet.lines(of: .sessionClient).filter { $0.contains("Z error ") }
            #expect(errors.isEmpty, "\(errors.count) \(errors.prefix(3))")
        }
    }
}
