import AsyncHTTPClient
import EdgeClient
import Foundation
import Glibc
import Synchronization

/// The four services as they are started by `make run`, and what their processes take.
final class ProductBenchmark: Sendable {
    static let services = ["session", "contacts", "notifications", "session-client"]
    private let processes: [String: Int32]
    let environment: [String: String]
    let port: Int
    /// The edge that was started instead of the first one.
    private let laterEdge = Mutex<Int32?>(nil)
    let edge: EdgeClient
    let http: HTTPClient
    let url: String
    let server: Server

    private init(
        processes: [String: Int32], environment: [String: String], port: Int, http: HTTPClient, server: Server
    ) {
        let url = "\(environment["TLS_CERTIFICATE"] == nil ? "http" : "https")://127.0.0.1:\(port)"
        self.processes = processes
        self.environment = environment
        self.port = port
        self.http = http
        self.url = url
        self.server = server
        edge = EdgeClient(http: http) { url }
    }

    /// What lets a few addresses and accounts do as much as many.
    private static let unlimited = [
        "SIGN_UPS_PER_MINUTE": "1000000", "HTTP_CONNECTIONS_PER_ADDRESS": "100000",
        "READS_PER_MINUTE": "1000000", "COMMANDS_PER_MINUTE": "1000000", "URGENT_PER_MINUTE": "1000000",
        "OPERATIONS_PER_MINUTE": "1000000",
        "STREAMS_PER_MINUTE": "1000000", "SIGNALS_PER_SECOND": "100000", "TOLD_AT_ONCE": "0",
    ]

    /// - Parameters:
    ///   - settings: More of the services' environment.
    ///   - isLimited: Whether the services have their default limits.
    static func with(
        _ server: Server, settings: [String: String] = [:], isLimited: Bool = false,
        _ body: (ProductBenchmark) async throws -> Void
    ) async throws {
        say("the four services")
        try server.psql("postgres", ["-c", "DROP DATABASE IF EXISTS quartet WITH (FORCE)"])
        try server.psql("postgres", ["-v", "database=quartet", "-f", "deploy/bootstrap.sql"])
        let port = Int.random(in: 20_000..<30_000)
        let signing = try server.run("openssl", ["ecparam", "-genkey", "-name", "prime256v1", "-noout"])
        let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
        let environment = [
            "DATABASE_URL": server.url("quartet"), "SERVER_KEY": key, "SIGNING_KEY": signing, "CANARY_INTERVAL": "0s",
        ].merging(isLimited ? [:] : unlimited) { $1 }.merging(settings) { $1 }
        var started: [String: Process] = [:]
        defer { end(started) }
        for service in services {
            try server.run(
                server.executables.appending(path: service).path, ["migrate"],
                environment: environment.merging(["LOG_LEVEL": "error"]) { $1 })
        }
        let http = EdgeClient.connections(trusting: settings["TLS_CERTIFICATE"])
        do {
            try await start(1, port: port, environment: environment, server: server, http: http, into: &started)
            let product = ProductBenchmark(
                processes: started.mapValues(\.processIdentifier), environment: environment, port: port, http: http,
                server: server)
            defer { if let later = product.laterEdge.withLock({ $0 }) { kill(later, SIGKILL) } }
            try await body(product)
        } catch {
            try? await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }

    /// Runs `body` beside a second replica of every service; it is given their processes and may kill them.
    func withSecondReplicas(_ body: ([String: Process]) async throws -> Void) async throws {
        say("a second replica of each service")
        var started: [String: Process] = [:]
        defer { Self.end(started) }
        try await Self.start(
            2, port: port + 1 + Self.services.count, environment: environment, server: server, http: http,
            into: &started)
        try await body(started)
    }

    /// The edge's signing key, as PEM.
    var signingKey: String { environment["SIGNING_KEY"] ?? "" }

    /// Where the edge says how it is.
    var adminURL: String { "http://127.0.0.1:\(port + 1 + Self.edgeNumber)" }

    /// kill -9 of the edge. Starts it again, after `body`, and returns when that was, without waiting until it is ready.
    func restartEdge(after body: () throws -> Void = {}) async throws -> ContinuousClock.Instant {
        guard let process = laterEdge.withLock({ $0 }) ?? processes["session-client"], kill(process, SIGKILL) == 0
        else { throw Failure("the edge was not to be killed") }
        // Its ports are free when the system has closed its thousands of connections.
        while kill(process, 0) == 0 { try await Task.sleep(for: .milliseconds(10)) }
        try body()
        let log = FileManager.default.temporaryDirectory.appending(path: "quartet-benchmark-session-client-later.log")
        let begun = ContinuousClock.now
        let started = try server.start(
            "session-client", ["run"] + Self.ports(of: Self.edgeNumber, from: port), environment: environment, log: log)
        laterEdge.withLock { $0 = started.processIdentifier }
        return begun
    }

    /// The port of gRPC, beyond those of two replicas.
    private static func rpcPort(from port: Int) -> Int { port + 20 }
    var rpcPort: UInt16 { UInt16(Self.rpcPort(from: port)) }

    // MARK: Operators

    /// The settings with which operators may ask.
    static func forOperators(_ server: Server) -> [String: String] {
        ["OPERATORS_DATABASE_URL": server.url("quartet", as: "quartet_operator")]
    }

    /// A new API key that reads.
    func makeOperatorKey() throws -> String {
        let printed = try server.run(
            server.executables.appending(path: "session-client").path,
            ["keys", "make", "--key-name", "benchmark", "--key-role", "read", "--reason", "to measure"],
            environment: environment)
        guard let key = printed.split(separator: "\n").first(where: { $0.hasPrefix("quartet-operator-") }) else {
            throw Failure("session-client keys make printed no key")
        }
        return String(key)
    }

    private static var edgeNumber: Int { services.count - 1 }

    /// A replica's ports begin at `port`: the API's, then an admin port for each service.
    static func ports(of service: Int, from port: Int) -> [String] {
        ["--admin-port", "\(port + 1 + service)"]
            + (service == edgeNumber ? ["--port", "\(port)", "--grpc-port", "\(rpcPort(from: port))"] : [])
    }

    /// Starts a replica of every service and waits until all are ready. What was started is in `started`, also when
    /// something fails.
    private static func start(
        _ replica: Int, port: Int, environment: [String: String], server: Server, http: HTTPClient,
        into started: inout [String: Process]
    ) async throws {
        for (number, service) in services.enumerated() {
            let name = replica == 1 ? service : "\(service)-\(replica)"
            let log = FileManager.default.temporaryDirectory.appending(path: "quartet-benchmark-\(name).log")
            started[service] = try server.start(
                service, ["run"] + ports(of: number, from: port), environment: environment, log: log)
        }
        for number in services.indices {
            try await waitUntilReady(EdgeClient(http: http) { "http://127.0.0.1:\(port + 1 + number)" })
        }
    }

    /// Waits until every service has handled all that was appended, so that making people and groups is no part of what is
    /// measured.
    func waitUntilHandled() async throws {
        for _ in 0..<600 {
            let behind = try server.psql("quartet", ["-c", "SELECT coalesce(sum(behind), 0) FROM session_client.lag"])
            if behind.trimmingCharacters(in: .whitespacesAndNewlines) == "0" { return }
            try await Task.sleep(for: .milliseconds(200))
        }
        throw Failure("the services are still behind after two minutes")
    }

    /// Waits until they are gone, so that none of them finds the database of the next section.
    static func end(_ processes: [String: Process]) {
        for process in processes.values where process.isRunning { process.terminate() }
        for process in processes.values { process.waitUntilExit() }
    }

    private static func waitUntilReady(_ admin: EdgeClient) async throws {
        for _ in 0..<600 {
            if let answer = try? await admin.send("GET", "/health/ready"), answer.status == 200 { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Failure("a service is not ready after 30 seconds")
    }

    // MARK: Processes

    func atRest(_ report: inout Report) async throws {
        say("the services at rest")
        try await Task.sleep(for: .seconds(3))
        let before = try cpuSeconds()
        let (begun, pause) = (ContinuousClock.now, 5)
        try await Task.sleep(for: .seconds(pause))
        let took = (ContinuousClock.now - begun) / .seconds(1)
        let after = try cpuSeconds()
        for service in Self.services {
            let name = service.replacingOccurrences(of: "-", with: "_")
            report.add(
                "memory_at_rest_\(name)_mb", try memory(of: service), aim: "<= 40")
            report.add(
                "cpu_at_rest_\(name)_percent",
                100 * ((after[service] ?? 0) - (before[service] ?? 0)) / took, aim: "< 1")
        }
    }

    func underLoad(_ report: inout Report) async throws {
        for service in Self.services {
            report.add(
                "memory_under_load_\(service.replacingOccurrences(of: "-", with: "_"))_mb", try memory(of: service))
        }
    }

    private func process(of service: String) -> Int32 {
        let later = service == "session-client" ? laterEdge.withLock { $0 } : nil
        return later ?? processes[service] ?? 0
    }

    /// kill -9 of the edge, and a new one that is ready. What `body` does nobody reads as it is done.
    func renewEdge(after body: () throws -> Void = {}) async throws {
        _ = try await restartEdge(after: body)
        try await Self.waitUntilReady(EdgeClient(http: http) { self.adminURL })
    }

    /// What is resident now.
    func memory(of service: String) throws -> Double {
        let status = try String(contentsOfFile: "/proc/\(process(of: service))/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let kilobytes = Double(line.split(whereSeparator: \.isWhitespace)[1])
        else { throw Failure("no memory in /proc of \(service)") }
        return kilobytes / 1024
    }

    private func cpuSeconds() throws -> [String: Double] { try processes.mapValues(Self.cpuSeconds(of:)) }

    /// What a process has taken of cores until now.
    private static func cpuSeconds(of process: Int32) throws -> Double {
        let stat = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        // After the name in parentheses: fields 14 and 15 of the whole, in ticks of 1/100 s.
        let fields = stat.drop { $0 != ")" }.split(separator: " ")
        return ((Double(fields[12]) ?? 0) + (Double(fields[13]) ?? 0)) / 100
    }

    /// The share of a core, in percent, that the edge and the server processes of its database connections take for so long.
    func edgeShare(for time: Duration) async throws -> Double {
        let (before, begun) = (try edgeSeconds(), ContinuousClock.now)
        try await Task.sleep(for: time)
        let after = try edgeSeconds()
        let taken = after.reduce(0.0) { $0 + $1.value - (before[$1.key] ?? 0) }
        return 100 * taken / ((ContinuousClock.now - begun) / .seconds(1))
    }

    private func edgeSeconds() throws -> [Int32: Double] {
        let roles = "'session_client', 'quartet_operator'"
        let sessions = try server.psql(
            "quartet", ["-c", "SELECT pid FROM pg_stat_activity WHERE usename IN (\(roles))"]
        ).split(separator: "\n").compactMap { Int32($0) }
        var seconds = [process(of: "session-client"): try Self.cpuSeconds(of: process(of: "session-client"))]
        // One that ended in between has little to say.
        for session in sessions { seconds[session] = try? Self.cpuSeconds(of: session) }
        return seconds
    }

    // MARK: Sagas

    /// "Clear all received pings" of somebody whom one other pinged: answer the ping, tell the other, clear the
    /// notification, write a summary.
    func sagas(_ report: inout Report) async throws {
        let (alone, together, inFlight) = (128, 2048, 128)
        say("\(alone + together) pairs of people for the sagas")
        let people = try crowd(2 * (alone + together), contacts: 2)
        let pairs = stride(from: 0, to: people.count, by: 2).map { (people[$0], people[$0 + 1]) }
        try await eachOf(pairs, inFlight: 32) { anna, bob in
            try await anna.act("SendPing", ["contact": .string(bob.account)])
            return 0
        }
        // What the pings led to is done, too.
        try await Task.sleep(for: .seconds(2))
        say("sagas, one at a time")
        let waits = try await eachOf(pairs.prefix(alone), inFlight: 1) { try await self.clear($1) }
        report.add("saga_p50_ms", waits.percentile(0.5), aim: "<= 4")
        report.add("saga_p99_ms", waits.percentile(0.99))
        say("sagas, \(inFlight) at a time")
        let (before, begun) = (try steps(), ContinuousClock.now)
        let busy = try await eachOf(pairs.dropFirst(alone), inFlight: inFlight) { try await self.clear($1) }
        let took = (ContinuousClock.now - begun) / .seconds(1)
        report.add("sagas_per_second", Double(together) / took)
        report.add("saga_steps_per_second", (try steps() - before) / took, aim: ">= 3000 required, 6000 wanted")
        report.add("saga_p50_ms_\(inFlight)_in_flight", busy.percentile(0.5))
    }

    /// Does something for each pair, at most `inFlight` at a time.
    /// - Returns: What it returned, sorted.
    @discardableResult
    private func eachOf(
        _ pairs: some Collection<(Device, Device)>, inFlight: Int,
        _ body: @escaping @Sendable (Device, Device) async throws -> Double
    ) async throws -> [Double] {
        try await withThrowingTaskGroup(of: Double.self) { group in
            var results: [Double] = []
            for (index, (anna, bob)) in pairs.enumerated() {
                if index >= inFlight, let result = try await group.next() { results.append(result) }
                group.addTask { try await body(anna, bob) }
            }
            return try await group.reduce(into: results) { $0.append($1) }.sorted()
        }
    }

    private func clear(_ bob: Device) async throws -> Double {
        let begun = ContinuousClock.now
        try await bob.operate("ClearAllReceivedPings")
        return (ContinuousClock.now - begun).milliseconds
    }

    private func steps() throws -> Double {
        let count = try server.psql("quartet", ["-c", "SELECT count(*) FROM session_client.saga_step"])
        return Double(count.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }
}
