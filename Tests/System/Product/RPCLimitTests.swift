import EdgeClient
import Foundation
import RPCClient
import RawClient
import TestKit
import Testing

/// What holds for HTTP (``DoorTests``, ``AbuseTests``), over gRPC.
@Suite("End to end: limits over gRPC", .timeLimit(.minutes(60)))
struct RPCLimitTests {
    /// How often a limit was hit.
    private static func hits(_ label: String, at quartet: Quartet) async throws -> Int {
        let line = try await quartet.metrics(of: .sessionClient).first {
            $0.hasPrefix("quartet_limits_hit_total{limit=\"\(label)\"}")
        }
        return try #require(line?.split(separator: " ").last.flatMap { Int($0) }, "\(label) isn't counted")
    }

    private static func expectHits(_ count: Int, of label: String, at quartet: Quartet) async throws {
        // A test can't observe when the server ends a call.
        for _ in 0..<1200 {
            guard try await hits(label, at: quartet) < count else { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(try await hits(label, at: quartet) == count, "\(label)")
    }

    @Test("each limit of the reference is at /metrics before it is hit, under the label that the reference says (T21)")
    func shown() async throws {
        let reference = try String(contentsOf: Products.package.appending(path: "deploy/API.md"), encoding: .utf8)
        let limits = try #require(reference.range(of: "### Of a server\n"))
        let labels = reference[limits.upperBound...].prefix { $0 != "#" }.split(separator: "\n").compactMap { row in
            row.split(separator: "|").dropFirst(3).first?.firstMatch(of: /^ `(\w+)`(?!, not)/).map { String($0.1) }
        }
        #expect(labels.count > 50)
        try await Quartet.with { quartet in
            for label in Set(labels) {
                let hits = try await Self.hits(label, at: quartet)
                #expect(hits == 0, "\(label)")
            }
        }
    }

    @Test(
        """
        an account that asks too much has to wait, for each kind of call by itself; metadata says what is left, as headers \
        do, hits are counted, and others go on (T21)
        """)
    func tooMuch() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            // Two at once and one more every three seconds; of streams one, and one more every ten.
            let limits = [
                "READS_PER_MINUTE": "20", "COMMANDS_PER_MINUTE": "20", "OPERATIONS_PER_MINUTE": "20",
                "STREAMS_PER_MINUTE": "6",
            ]
            try await quartet.start(.sessionClient, environment: limits)
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await quartet.rpc { rpc in
                for (name, path, kind) in [
                    ("MarkAllRead", "/v1/commands/MarkAllRead", "Commands"), ("GetAccount", "/v1/account", "Reads"),
                    ("RespondToAllPings", "/v1/operations/RespondToAllPings", "Operations"),
                ] {
                    let label = kind.lowercased()
                    let first = try await rpc.call(name, token: anna.token)
                    #expect(first.metadata["ratelimit-policy"] == "\"\(label)\";q=2;w=6", "\(first)")
                    #expect(first.metadata["ratelimit"]?.hasPrefix("\"\(label)\";r=1;") == true, "\(first)")
                    // One bucket for both.
                    let method = name.hasPrefix("Get") ? "GET" : "POST"
                    let second = try await quartet.edge.send(method, path, token: anna.token)
                    #expect(second.headers["ratelimit-policy"] == first.metadata["ratelimit-policy"])
                    // A token may have come back.
                    #expect(second.headers["ratelimit"]?.contains(/";r=[01];/) == true, "\(second.headers)")
                    let refusals = try await Self.untilTooMany { _ = try await rpc.call(name, token: anna.token) }
                    let refused = try #require(refusals.first)
                    #expect(refusals.allSatisfy { $0.code == "tooMany\(kind)" }, "\(refusals)")
                    #expect((1...3).contains(refused.retryAfter ?? 0), "\(refused)")
                    #expect(
                        refused.metadata["ratelimit"]?.hasPrefix("\"\(label)\";r=0;") == true, "\(refused.metadata)")
                    #expect(try await Self.hits("tooMany\(kind)", at: quartet) == refusals.count)
                    _ = try await rpc.call(name, token: bob.token)
                }
                let refused = try await #require(throws: RPCClient.Refused.self) {
                    for _ in 0..<16 { try await Self.open(rpc, bob.token) }
                }
                #expect(refused.code == "tooManyStreams" && refused.metadata["ratelimit"]?.contains("r=0;") == true)
                #expect(try await Self.hits("tooManyStreams", at: quartet) == 1)
            }
        }
    }

    /// Calls so many times at once that a busy machine, too, is faster than what the limit lets in again, until some are too many.
    /// - Parameter expected: The codes with which calls may be refused that aren't too many.
    /// - Returns: The refusals of those that are.
    /// - Throws: ``RPCClient/Refused`` for any other refusal.
    static func untilTooMany(
        atOnce count: Int = 8, otherwise expected: Set<String> = ["noOutcomeYet"],
        _ call: @Sendable @escaping () async throws -> Void
    ) async throws -> [RPCClient.Refused] {
        for _ in 0..<100 {
            let refused = try await withThrowingTaskGroup(of: RPCClient.Refused?.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        do { try await call() } catch let refused as RPCClient.Refused { return refused }
                        return nil
                    }
                }
                return try await group.reduce(into: [RPCClient.Refused]()) { all, one in
                    guard let one else { return }
                    if one.status == "resourceExhausted" {
                        all.append(one)
                    } else if !expected.contains(one.code ?? "") {
                        throw one
                    }
                }
            }
            if !refused.isEmpty { return refused }
        }
        throw TimedOut("\(100 * count) calls were not too many")
    }

    @Test("an address has only so many watches of health open, and may open another when it has left them (T21)")
    func health() async throws {
        try await Quartet.with { quartet in
            try await quartet.rpc { rpc in
                let (begun, begin) = AsyncStream<String>.makeStream()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<16 {
                        group.addTask {
                            // If it fails, nobody waits for its beginning.
                            defer { begin.yield("it is over") }
                            try await rpc.watchHealth { status in
                                begin.yield(status)
                                return true
                            }
                        }
                    }
                    var statuses = begun.makeAsyncIterator()
                    for _ in 0..<16 { #expect(await statuses.next() == "serving") }
                    let refused = try await #require(throws: RPCClient.Refused.self) {
                        try await rpc.watchHealth { _ in false }
                    }
                    #expect(refused.status == "resourceExhausted" && refused.code == "tooManyRequests", "\(refused)")
                    #expect(refused.retryAfter == 5)
                    #expect(try await rpc.health() == "serving")
                    group.cancelAll()
                    while await group.nextResult() != nil {}
                }
                var isRefused = true
                // A test can't observe when the server notices that they left.
                for _ in 0..<1200 where isRefused {
                    do {
                        try await rpc.watchHealth { _ in false }
                        isRefused = false
                    } catch let refused as RPCClient.Refused where refused.code == "tooManyRequests" {
                        try await Task.sleep(for: .milliseconds(100))
                    }
                }
                #expect(!isRefused)
            }
        }
    }

    /// Opens a stream, and leaves it once it has begun.
    private static func open(_ rpc: RPCClient, _ token: String) async throws {
        for try await event in rpc.watch(token: token) where event.name == "begun" { return }
    }

    @Test("an address may ask so many times as much as an account, and streams have their places (T21)")
    func tooMuchOfAnAddress() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(
                .sessionClient,
                environment: [
                    "READS_PER_MINUTE": "20", "ADDRESS_FACTOR": "2", "HTTP_PROXIES": "1", "STREAMS_PER_MINUTE": "10000",
                ])
            let anna = try await quartet.signUp("anna")
            try await quartet.rpc { rpc in
                func ask(from address: String) async throws -> RPCClient.Refused {
                    try await #require(throws: RPCClient.Refused.self) {
                        try await rpc.call("GetAccount", metadata: ["x-forwarded-for": address])
                    }
                }
                var last = try await ask(from: "192.0.2.1")
                #expect(last.code == "missingToken" && last.metadata["ratelimit-policy"] == "\"reads\";q=4;w=6")
                for _ in 0..<50 where last.code != "tooManyRequests" { last = try await ask(from: "192.0.2.1") }
                #expect(last.status == "resourceExhausted" && last.code == "tooManyRequests", "\(last)")
                let other = try await ask(from: "198.51.100.1")
                #expect(other.code == "missingToken")

                func expectFull(_ device: Device, _ reason: String) async throws {
                    let refused = try await #require(throws: RPCClient.Refused.self) {
                        try await Self.open(rpc, device.token)
                    }
                    #expect(refused.code == "tooManyStreams" && refused.retryAfter == 5, "\(refused)")
                    #expect(refused.message.hasPrefix(reason), "\(refused)")
                    // They are the same places over both.
                    await #expect(throws: EdgeClient.Refused.self) {
                        try await quartet.edge.stream(token: device.token)
                    }
                }
                var views: [LiveView] = []
                for number in 1...4 {
                    let device = number == 1 ? anna : try await Device.signIn("anna", at: quartet.edge)
                    for _ in 0..<16 { views.append(try await LiveView.open(rpc.watch(token: device.token))) }
                    try await expectFull(device, "This device has 16 streams open")
                }
                try await expectFull(Device.signIn("anna", at: quartet.edge), "This account has 64 streams open")
                for view in views { await view.close() }
            }
        }
    }

    @Test(
        """
        of several fields of one name the proxy's own says where a call comes from, and a call with two tokens or two \
        keys is refused, as over HTTP (T21)
        """)
    func repeatedFields() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(
                .sessionClient,
                environment: ["READS_PER_MINUTE": "20", "ADDRESS_FACTOR": "2", "HTTP_PROXIES": "1"])
            let anna = try await quartet.signUp("anna")
            try await quartet.rpc { rpc in
                // The first is the caller's, another one each time; the proxy adds a field of its own.
                var codes: [String?] = []
                for number in 1...50 where codes.last != "tooManyRequests" {
                    let refused = try await #require(throws: RPCClient.Refused.self) {
                        try await rpc.call(
                            "GetAccount",
                            besides: [
                                ("x-forwarded-for", "192.0.2.\(number)"), ("x-forwarded-for", "198.51.100.9"),
                            ])
                    }
                    codes.append(refused.code)
                }
                #expect(codes.last == "tooManyRequests", "\(codes)")

                for (name, value, code) in [
                    ("authorization", "Bearer \(anna.token)", "invalidToken"),
                    ("idempotency-key", EdgeClient.newKey(), "invalidIdempotencyKey"),
                ] {
                    let refused = try await #require(throws: RPCClient.Refused.self) {
                        try await rpc.call(
                            "MarkAllRead", token: anna.token, key: EdgeClient.newKey(), besides: [(name, value)])
                    }
                    #expect(refused.code == code, "\(refused)")
                }
                _ = try await rpc.call("MarkAllRead", token: anna.token, key: EdgeClient.newKey())
            }
        }
    }

    @Test(
        """
        what is too large is refused, a call whose message doesn't come is ended, a connection too many hears why, and \
        others are served (T21)
        """)
    func shapes() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["HTTP_CONNECTIONS_PER_ADDRESS": "24"])
            let anna = try await quartet.signUp("anna")
            let port = try await quartet.rpcPort()
            // Calls without a message, of which one waits for a stream.
            let slow = try RawConnection(port: port)
            try slow.send(
                RawHTTP2.preface() + RawHTTP2.head(of: "quartet.v1.Quartet/GetAccount", on: 1, anna.token)
                    + RawHTTP2.head(of: "quartet.v1.Quartet/Watch", on: 3, anna.token)
                    + RawHTTP2.head(of: "grpc.health.v1.Health/Check", on: 5, "")
                    + RawHTTP2.head(of: "grpc.health.v1.Health/Watch", on: 7, ""))
            try await quartet.rpc { rpc in
                let large = JSON.string(String(repeating: "a", count: 2 << 20))
                await #expect(throws: RPCClient.Refused.self) {
                    try await rpc.call("UpdateProfile", ["name": large], token: anna.token)
                }
                let url = "/v1/account?x=" + String(repeating: "x", count: 4096)
                let tooLong = try await quartet.edge.send("GET", url)
                #expect(tooLong.status == 414)
                await #expect(throws: RPCClient.Refused.self) {
                    try await rpc.call(
                        "GetAccount", token: anna.token, metadata: ["x-long": String(repeating: "x", count: 32_768)])
                }
            }
            try await Self.expectRoom(at: port)
            try await quartet.rpc { rpc in _ = try await rpc.call("GetAccount", token: anna.token) }
            try await Self.expectHits(4, of: "tooSlow", at: quartet)
            slow.breakOff()
        }
    }

    /// Opens connections until one is refused, and leaves them all.
    private static func expectRoom(at port: UInt16) async throws {
        var open: [RawConnection] = []
        while open.count < 40 {
            let next = try RawConnection(port: port)
            try next.send(RawHTTP2.preface())
            open.append(next)
        }
        // GOAWAY with ENHANCE_YOUR_CALM and the reason.
        let last = try #require(open.last)
        let said = try await last.rest()
        #expect(said.contains("tooManyConnections: Your address has 24 connections open"), "\(said)")
        for connection in open { connection.breakOff() }
        // A test can't observe when the server notices that they left.
        for attempt in 0... {
            let next = try RawConnection(port: port)
            try next.send(RawHTTP2.preface())
            next.halfClose()
            guard try await next.rest().contains("tooManyConnections"), attempt < 1200 else { break }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
