import EdgeClient
import RawClient
import TestKit
import Testing

/// Answers that are asked for and not read.
@Suite("End to end: unread answers", .timeLimit(.minutes(60)))
struct UnreadAnswerTests {
    /// The value of a series at `/metrics`.
    private static func value(_ series: String, at quartet: Quartet) async throws -> Double {
        let line = try await quartet.metrics(of: .sessionClient).first { $0.hasPrefix("\(series) ") }
        return try #require(line?.split(separator: " ").last.flatMap { Double($0) }, "\(series) isn't shown")
    }

    /// Waits until a series is as wanted.
    private static func wait(
        for series: String, at quartet: Quartet, until isWanted: (Double) -> Bool
    ) async throws {
        var last = 0.0
        for _ in 0..<1200 {
            last = try await value(series, at: quartet)
            if isWanted(last) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw TimedOut("waited a minute for \(series), which is \(last)")
    }

    /// How many of `/openapi.json` a connection may leave unread: more than the system keeps for both sides.
    private static func fitting(_ edge: EdgeClient) async throws -> UInt32 {
        let size = try await edge.send("GET", "/openapi.json").headers["content-length"].flatMap { UInt32($0) }
        return (12 << 20) / (try #require(size))
    }

    private static let kept = "quartet_unread_answers_bytes"

    private static func hits(_ limit: String) -> String { "quartet_limits_hit_total{limit=\"\(limit)\"}" }

    @Test(
        """
        a connection of HTTP/2 whose client never opens its window is ended, by time or by how much it leaves unread, and \
        nothing of its answers is kept; others are served (T21)
        """)
    func http2() async throws {
        let certificate = try await Certificate.make()
        defer { certificate.remove() }
        try await Quartet.with(services: []) { quartet in
            try await quartet.start(
                .sessionClient, environment: certificate.environment.merging(["STREAM_WRITE_DEADLINE": "1s"]) { $1 })
            let port = try await quartet.edgePort()
            try await certificate.trusted { http in
                let edge = EdgeClient(http: http) { [url = try quartet.url] in url }
                let few = try await SecureConnection.open(port: port)
                try await few.send(
                    RawHTTP2.preface(window: 0) + RawHTTP2.get("/openapi.json", on: 1)
                        + RawHTTP2.get("/docs/style.css", on: 3))
                let answer = try await edge.send("GET", "/.well-known/jwks.json")
                #expect(answer.status == 200)
                try await few.waitForEnd()
                #expect(try await Self.value(Self.hits("unread"), at: quartet) == 1)

                let many = try await SecureConnection.open(port: port)
                try await many.send(
                    RawHTTP2.preface(window: 0)
                        + (0..<100).flatMap { RawHTTP2.get("/openapi.json", on: 1 + 2 * $0) })
                try await many.waitForEnd()
                let ended = try await Self.value(Self.hits("unreadOfConnection"), at: quartet)
                #expect(ended >= 1)
                try await Self.wait(for: Self.kept, at: quartet) { $0 == 0 }
                let other = try await edge.send("GET", "/openapi.json")
                #expect(other.status == 200)
            }
        }
    }

    @Test("unread answers share the documents' bytes: a hundred of them cost little memory (T21)")
    func shared() async throws {
        let certificate = try await Certificate.make()
        defer { certificate.remove() }
        try await Quartet.with(services: []) { quartet in
            try await quartet.start(
                .sessionClient,
                environment: certificate.environment.merging(["STREAM_WRITE_DEADLINE": "1h", "ANSWERS_UNREAD": "2048"])
                { $1 })
            let port = try await quartet.edgePort()
            try await certificate.trusted { http in
                let edge = EdgeClient(http: http) { [url = try quartet.url] in url }
                let each = try await Self.fitting(edge)
                let process = try quartet.process(of: .sessionClient)
                let before = try Holdings(of: process)
                var open: [SecureConnection] = []
                for _ in 0..<10 {
                    let connection = try await SecureConnection.open(port: port)
                    try await connection.send(
                        RawHTTP2.preface(window: 0)
                            + (0..<each).flatMap { RawHTTP2.get("/openapi.json", on: 1 + 2 * $0) })
                    open.append(connection)
                }
                try await Self.wait(for: Self.kept, at: quartet) { $0 > 100_000_000 }
                let during = try Holdings(of: process)
                #expect(during.megabytes < before.megabytes + 70, "\(before) before, \(during)")
                for connection in open { await connection.close() }
                try await Self.wait(for: Self.kept, at: quartet) { $0 == 0 }
            }
        }
    }

    @Test("a connection of HTTP/1.1 or gRPC that reads nothing of its answers is ended, and nothing is kept (T21)")
    func others() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["STREAM_WRITE_DEADLINE": "1s"])
            let anna = try await quartet.signUp("anna")
            let count = Int(try await Self.fitting(quartet.edge))
            let rpc = try RawConnection(port: try await quartet.rpcPort())
            try rpc.send(
                RawHTTP2.preface(window: 0)
                    + [UInt32](arrayLiteral: 1, 3, 5).flatMap {
                        RawHTTP2.head(of: "quartet.v1.Quartet/GetAccount", on: $0, anna.token)
                            + RawHTTP2.emptyMessage(on: $0)
                    })
            _ = try await rpc.rest()
            #expect(try await Self.value(Self.hits("unread"), at: quartet) == 1)

            let http = try RawConnection(port: try await quartet.edgePort(), receiveBuffer: 4096)
            let request = Array("GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8)
            // By time, before it is by how much.
            try http.send([[UInt8]](repeating: request, count: count).flatMap(\.self))
            try await Self.wait(for: Self.hits("unread"), at: quartet) { $0 == 2 }
            try await Self.wait(for: Self.kept, at: quartet) { $0 == 0 }
            _ = try await anna.read("/v1/account")
            http.breakOff()
        }
    }
}
