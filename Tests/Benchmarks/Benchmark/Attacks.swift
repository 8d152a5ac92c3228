import EdgeClient
import Foundation
import RawClient
import ServiceKit
import TestKit

/// What strangers' attacks leave of session-client's memory, and how others are served meanwhile. The server has its default limits.
extension ProductBenchmark {
    private static var rounds: Int { 3 }
    private static var attackTime: Duration { .seconds(10) }
    /// From the end of an attack until memory is looked at.
    private static var rest: Duration { .seconds(60) }
    /// How many people send commands meanwhile; the other accounts are the strangers'.
    private static var others: Int { 10 }
    /// More than anybody has contacts.
    private static var everybody: Int { 120 }

    /// Runs the services with their default limits, for clients that speak TLS.
    static func withLimits(_ server: Server, _ body: (ProductBenchmark) async throws -> Void) async throws {
        let certificate = try await Certificate.make()
        defer { certificate.remove() }
        try await with(server, settings: certificate.environment, isLimited: true, body)
    }

    func attacks(_ report: inout Report) async throws {
        OpenFiles.raiseLimit()
        let people = try crowd(Self.everybody, contacts: 100)
        say("commands without attacks")
        let quiet = try await commandTimes(
            of: people.prefix(Self.others), until: ContinuousClock.now + Self.attackTime)
        try await Task.sleep(for: Self.rest)
        let before = try memory(of: "session-client")
        report.add("attacks_memory_before_mb", before)

        var (after, peak) = ([Double](), before)
        var (attacks, times) = ([Attack](), [String: [Double]]())
        for round in 1...Self.rounds {
            // Access tokens end sooner than all rounds.
            let people = try Crowd(Self.everybody).devices(signedBy: signingKey, at: edge)
            attacks = Attack.all(by: people.dropFirst(Self.others).map(\.token))
            for attack in attacks {
                say("round \(round), \(attack.name)")
                let seen = try await play(attack, beside: people.prefix(Self.others))
                times[attack.name, default: []] += seen.times
                peak = max(peak, seen.peak)
            }
            try await Task.sleep(for: Self.rest)
            after.append(try memory(of: "session-client"))
            report.add("attacks_memory_after_round_\(round)_mb", after[round - 1])
        }
        let (first, last) = (after[0], after[Self.rounds - 1])
        report.add("attacks_memory_last_round_above_first_mb", last - first, aim: "<= 20")
        report.add("attacks_memory_last_round_above_before_mb", last - before, aim: "<= 100")
        report.add("attacks_memory_peak_mb", peak)
        report.add("attacks_others_p50_ms_without", quiet.sorted().percentile(0.5))
        for attack in attacks {
            report.add("attacks_others_p50_ms_\(attack.name)", (times[attack.name] ?? []).sorted().percentile(0.5))
        }
    }

    /// - Returns: How long others' commands took meanwhile, in milliseconds, and the most memory that was resident.
    private func play(
        _ attack: Attack, beside people: ArraySlice<Device>
    ) async throws -> (times: [Double], peak: Double) {
        let end = ContinuousClock.now + Self.attackTime
        async let connections = attack.play(on: attack.transport == .rpc ? rpcPort : UInt16(port), until: end)
        async let peak = peakMemory(until: end)
        let times = try await commandTimes(of: people, until: end)
        let count = await connections
        guard count > 0 else { throw Failure("no stranger of \(attack.name) got a connection") }
        say("\(count) connections")
        return (times, try await peak)
    }

    /// Each person sends a command, waits for its outcome, and soon sends the next.
    /// - Returns: How long each took, in milliseconds.
    private func commandTimes(
        of people: ArraySlice<Device>, until end: ContinuousClock.Instant
    ) async throws -> [Double] {
        try await withThrowingTaskGroup(of: [Double].self) { group in
            for person in people {
                group.addTask {
                    var (times, isRequired): ([Double], Bool) = ([], false)
                    while ContinuousClock.now < end {
                        let begun = ContinuousClock.now
                        try await person.act("SetContactApproval", ["isRequired": .bool(isRequired)])
                        times.append((ContinuousClock.now - begun).milliseconds)
                        isRequired.toggle()
                        // Half of what an account may send.
                        try await Task.sleep(for: .milliseconds(200))
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func peakMemory(until end: ContinuousClock.Instant) async throws -> Double {
        var peak = 0.0
        while ContinuousClock.now < end {
            peak = max(peak, try memory(of: "session-client"))
            try await Task.sleep(for: .milliseconds(100))
        }
        return peak
    }
}

/// Something that strangers do at once and again and again, each time on a new connection.
private struct Attack: Sendable {
    enum Transport: Sendable { case http1, http2, rpc }

    let name: String
    let transport: Transport
    let strangers: Int
    let addresses: Int
    /// How long a connection is kept, unless the server ends it before; nil: as long as the attack lasts.
    var stay: Duration?
    var readsAnswers = true
    let bytes: @Sendable (_ stranger: Int) -> [UInt8]

    /// Goes on until `end`.
    /// - Returns: How many connections there were.
    func play(on port: UInt16, until end: ContinuousClock.Instant) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for stranger in 0..<strangers {
                group.addTask {
                    var connections = 0
                    while ContinuousClock.now < end, !Task.isCancelled {
                        if await visit(stranger, on: port, until: end) {
                            connections += 1
                        } else {
                            try? await Task.sleep(for: .milliseconds(10))
                        }
                    }
                    return connections
                }
            }
            return await group.reduce(0, +)
        }
    }

    /// - Returns: Whether there was a connection.
    private func visit(_ stranger: Int, on port: UInt16, until end: ContinuousClock.Instant) async -> Bool {
        let source = "127.0.0.\(2 + stranger % addresses)"
        let version = transport == .http1 ? "http/1.1" : "h2"
        let left = end - ContinuousClock.now
        let opened = try? await SecureConnection.open(port: port, from: source, speaking: [version], within: left)
        guard let connection = opened else { return false }
        let ending = Task {
            try? await Task.sleep(until: end, clock: .continuous)
            await connection.breakOff()
        }
        defer { ending.cancel() }
        if !readsAnswers { try? await connection.stopReading() }
        // The server may end it meanwhile.
        try? await connection.send(bytes(stranger))
        if let stay {
            try? await Task.sleep(until: min(end, ContinuousClock.now + stay), clock: .continuous)
            await connection.breakOff()
        }
        try? await connection.waitForEnd()
        return true
    }

    // MARK: The attacks

    /// - Parameter tokens: The strangers' access tokens.
    static func all(by tokens: [String]) -> [Attack] { unread(by: tokens) + left(by: tokens) + refused(by: tokens) }

    /// Large answers that nobody reads.
    private static func unread(by tokens: [String]) -> [Attack] {
        [
            Attack(name: "unread_http1", transport: .http1, strangers: 200, addresses: 20, readsAnswers: false) { _ in
                repeated(100, RawConnection.request("GET", "/openapi.json", token: nil))
            },
            Attack(name: "unread_http2", transport: .http2, strangers: 10, addresses: 10) { _ in
                RawHTTP2.preface(window: 0) + onStreams(100) { RawHTTP2.get("/openapi.json", on: $0) }
            },
            Attack(name: "unread_grpc", transport: .rpc, strangers: 10, addresses: 10) { stranger in
                RawHTTP2.preface(window: 0) + onStreams(100) { call("ListContacts", on: $0, tokens[stranger]) }
            },
        ]
    }

    /// What is begun and given up.
    private static func left(by tokens: [String]) -> [Attack] {
        [
            Attack(name: "streams_http2", transport: .http2, strangers: 20, addresses: 20, stay: .seconds(1)) {
                stranger in
                RawHTTP2.preface() + onStreams(4) { RawHTTP2.get("/v1/stream", on: $0, tokens[stranger]) }
            },
            Attack(name: "streams_grpc", transport: .rpc, strangers: 20, addresses: 20, stay: .seconds(1)) { stranger in
                RawHTTP2.preface() + onStreams(4) { call("Watch", on: $0, tokens[stranger]) }
            },
            Attack(name: "half_requests", transport: .http1, strangers: 1000, addresses: 20) { _ in
                Array(post("/v1/sign-in", spaces(65_000)).dropLast(100))
            },
            Attack(name: "resets", transport: .http2, strangers: 4, addresses: 2, stay: .zero) { _ in
                // On one connection no more than the server's HTTP/2 lets pass.
                RawHTTP2.preface()
                    + onStreams(150) { RawHTTP2.get("/docs/style.css", on: $0) + RawHTTP2.reset($0) }
            },
        ]
    }

    /// What the server refuses.
    private static func refused(by tokens: [String]) -> [Attack] {
        [
            Attack(name: "sign_ins", transport: .http2, strangers: 50, addresses: 50, stay: .seconds(1)) { _ in
                let body = #"{"handle":"nobody","password":"a long enough password","deviceName":"x"}"#
                return RawHTTP2.preface()
                    + onStreams(100) { RawHTTP2.post("/v1/sign-in", on: $0) + RawHTTP2.body(body, on: $0) }
            },
            Attack(name: "refused_bodies", transport: .http2, strangers: 50, addresses: 50, stay: .seconds(1)) { _ in
                RawHTTP2.preface()
                    + onStreams(100) { RawHTTP2.post("/v1/sign-up", on: $0) + RawHTTP2.body(#"{"handle":"#, on: $0) }
            },
            Attack(name: "large_bodies", transport: .http1, strangers: 20, addresses: 20) { stranger in
                let body = spaces(4 << 20)
                return stranger.isMultiple(of: 2)
                    ? post("/v1/sign-in", body)
                    : RawConnection.request(
                        "PUT", "/v1/account/avatar", token: tokens[stranger],
                        ["content-type: image/png", "content-length: \(body.count)", "connection: close"]) + body
            },
            Attack(name: "deep_json", transport: .http1, strangers: 50, addresses: 50) { _ in
                post("/v1/sign-in", Array((#"{"handle":"# + String(repeating: "[", count: 60_000)).utf8))
            },
            Attack(name: "refusals", transport: .http1, strangers: 300, addresses: 1) { _ in
                repeated(99, RawConnection.request("GET", "/.well-known/jwks.json", token: nil))
                    + RawConnection.request("GET", "/.well-known/jwks.json", token: nil, ["connection: close"])
            },
        ]
    }

    // MARK: What strangers send

    private static func repeated(_ count: Int, _ bytes: [UInt8]) -> [UInt8] {
        Array(repeatElement(bytes, count: count).joined())
    }

    private static func spaces(_ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: " "), count: count) }

    /// A request to HTTP/1.1 after which the server ends the connection.
    private static func post(_ path: String, _ body: [UInt8]) -> [UInt8] {
        let headers = ["content-type: application/json", "content-length: \(body.count)", "connection: close"]
        return RawConnection.request("POST", path, token: nil, headers) + body
    }

    private static func onStreams(_ count: Int, _ frames: (_ stream: UInt32) -> [UInt8]) -> [UInt8] {
        (0..<count).flatMap { frames(UInt32(1 + 2 * $0)) }
    }

    /// A call of gRPC with an empty message.
    private static func call(_ name: String, on stream: UInt32, _ token: String) -> [UInt8] {
        RawHTTP2.head(of: "quartet.v1.Quartet/\(name)", on: stream, token) + RawHTTP2.emptyMessage(on: stream)
    }
}
