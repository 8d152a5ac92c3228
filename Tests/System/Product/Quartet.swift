import AsyncHTTPClient
import EdgeClient
import Foundation
import NIOCore
import Postgres
import RPCClient
import ServiceKit
import Synchronization
import TestKit
import Testing

/// The whole product as real processes on a database of its own: the four services, killed, paused and started again at
/// will, and the public API in front of them.
final class Quartet: Sendable {
    /// The four executables.
    enum Service: String, CaseIterable, Sendable {
        case session, contacts, notifications
        case sessionClient = "session-client"
    }

    static let template = DatabaseTemplate("quartet", services: DatabaseTemplate.productServices) { database in
        // Tests do in a second what people do in a day. The one about floods sets its own limit.
        try await migrate(try database.url, environment: ["TOLD_AT_ONCE": "0"])
    }

    /// Applies all services' migrations.
    /// - Parameter release: Whose migrations; this build's unless given.
    static func migrate(
        _ databaseURL: String, environment: [String: String] = [:], from release: ReleasedBuild? = nil
    ) async throws {
        for service in Service.allCases {
            try await ChildProcess.with(
                try path(of: service, from: release), ["migrate"],
                environment: environment.merging(["DATABASE_URL": databaseURL, "ZONES_DIR": Products.zones.path]) { $1 }
            ) { try await $0.waitForExit(.exited(0)) }
        }
    }

    private static func path(of service: Service, from release: ReleasedBuild?) throws -> String {
        try release?.executable(service.rawValue) ?? Products.executable(service.rawValue).path
    }

    let databaseURL: String
    let keys: Keys
    let edge: EdgeClient
    private let database: TestDatabase?
    private let http: HTTPClient
    private let processes = Mutex<[Service: ChildProcess]>([:])
    private let address = Observed<String?>(nil)
    /// The ports at which the edge listened. They stay its own while it is away.
    private let ports = Mutex<[ReservedPort]>([])

    /// The services' secrets.
    struct Keys: Sendable {
        let server = Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
        let signing: String

        init() async throws {
            signing = try await openssl("ecparam", "-genkey", "-name", "prime256v1", "-noout")
        }
    }

    /// Runs `body` while all four services run, and asks at its end whether the laws hold.
    /// - Parameters:
    ///   - cluster: The server; that of the run unless given.
    ///   - services: What runs from the beginning.
    ///   - template: What the database begins as.
    static func with<Result: Sendable>(
        on cluster: TestCluster? = nil, services: [Service] = Service.allCases,
        template: DatabaseTemplate = Quartet.template, _ body: (Quartet) async throws -> Result
    ) async throws -> Result {
        try await room.use {
            try await TestDatabase.with(template, on: cluster) { database in
                try await with(databaseURL: try database.url, database: database, services: services, body)
            }
        }
    }

    /// Four processes and thirty database connections each: not too many at a time for the machine that tests run on.
    private static let room = Room(for: 3)

    /// The same on a database that the caller provides.
    static func with<Result: Sendable>(
        databaseURL: String, database: TestDatabase? = nil, services: [Service] = Service.allCases,
        _ body: (Quartet) async throws -> Result
    ) async throws -> Result {
        let quartet = Quartet(databaseURL: databaseURL, database: database, keys: try await Keys())
        do {
            for service in services { try await quartet.start(service) }
            let result = try await body(quartet)
            if database != nil { try await Laws.check(quartet) }
            await quartet.end()
            return result
        } catch {
            print("\(error)\n\(quartet.logs)")
            await quartet.end()
            throw error
        }
    }

    private init(databaseURL: String, database: TestDatabase?, keys: Keys) {
        self.databaseURL = databaseURL
        self.database = database
        self.keys = keys
        http = EdgeClient.connections()
        let address = address
        edge = EdgeClient(http: http) { address.value ?? "http://127.0.0.1:9" }
    }

    // MARK: Processes

    /// Starts a service; the edge also listens then, unless a port is given on one at which it can come back.
    func start(
        _ service: Service, port: UInt16? = nil, environment: [String: String] = [:], from release: ReleasedBuild? = nil
    ) async throws {
        let port = try port ?? (service == .sessionClient ? reservePort() : 0)
        try await adopt(
            try await startAnother(service, port: port, environment: environment, from: release), as: service)
    }

    /// Goes on with a replica that ``startAnother(_:port:environment:openFiles:from:)`` started.
    func adopt(_ process: ChildProcess, as service: Service) async throws {
        processes.withLock { $0[service] = process }
        guard service == .sessionClient else { return }
        let url = try await process.announcedURL("serving the HTTP API")
        address.update { $0 = url }
    }

    private func reservePort() throws -> UInt16 {
        let port = try ReservedPort()
        ports.withLock { $0.append(port) }
        return port.number
    }

    /// Starts one more replica, which is the caller's to end.
    /// - Parameters:
    ///   - openFiles: How many files it may have open at first, and at most; as many as these tests unless given.
    ///   - release: Whose executable; this build's unless given.
    func startAnother(
        _ service: Service, port: UInt16 = 0, environment: [String: String] = [:],
        openFiles: (first: Int, most: Int)? = nil, from release: ReleasedBuild? = nil
    ) async throws -> ChildProcess {
        var command = [try Self.path(of: service, from: release), "run"]
        if service == .sessionClient { command += ["--port", "\(port)"] }
        if let openFiles {
            let limits = "ulimit -Sn \(openFiles.first) && ulimit -Hn \(openFiles.most)"
            command = ["/bin/sh", "-c", "\(limits) && exec \"$@\"", "sh"] + command
        }
        return try await ChildProcess.start(
            command[0], Array(command.dropFirst()),
            environment: [
                "DATABASE_URL": databaseURL, "SERVER_KEY": keys.server, "SIGNING_KEY": keys.signing,
                "CONSUMER_LEASE": "3s", "GRPC_PORT": "0", "GRPC_REFLECTION": "true",
                // Tests look at rows that retention would delete; those that are about it say otherwise.
                "RETENTION_INTERVAL": "1h",
                // Tests count rows. The one about canaries says otherwise.
                "CANARY_INTERVAL": "0s",
                // They all come from one address.
                "SIGN_UPS_PER_MINUTE": "100000", "HTTP_CONNECTIONS_PER_ADDRESS": "20000",
                "READS_PER_MINUTE": "1000000", "COMMANDS_PER_MINUTE": "1000000", "URGENT_PER_MINUTE": "1000000",
                "OPERATIONS_PER_MINUTE": "1000000",
                "STREAMS_PER_MINUTE": "1000000", "DRAIN_TIME": "0s",
            ].merging(release == nil ? Self.journal : [:]) { $1 }.merging(environment) { $1 },
            name: service.rawValue)
    }

    /// Where the edges of a whole run write down which answers they give, for Tests/answers.py.
    static let answerJournal = ProcessInfo.processInfo.environment["ANSWER_JOURNAL"]
    private static let journal = answerJournal.map { ["ANSWER_JOURNAL": $0] } ?? [:]

    /// Runs `body` with a connection of gRPC to the edge.
    func rpc<Value: Sendable>(
        trusting root: String? = nil, isCompressed: Bool = false, _ body: (RPCClient) async throws -> Value
    ) async throws -> Value {
        try await RPCClient.with(port: try await rpcPort(), trusting: root, isCompressed: isCompressed, body)
    }

    /// The port on which the edge speaks gRPC.
    func rpcPort() async throws -> UInt16 { try await rpcPort(of: process(of: .sessionClient)) }

    /// The port on which a replica of the edge speaks gRPC.
    func rpcPort(of replica: ChildProcess) async throws -> UInt16 {
        let url = try await replica.announcedURL("serving the gRPC API")
        return try #require(url.split(separator: ":").last.flatMap { UInt16($0) })
    }

    /// Where the API is now.
    var url: String {
        get throws {
            guard let url = address.value else { throw NotRunning(service: .sessionClient) }
            return url
        }
    }

    /// The port on which the edge listens.
    func edgePort() async throws -> UInt16 {
        let url = try await process(of: .sessionClient).announcedURL("serving the HTTP API")
        return try #require(url.split(separator: ":").last.flatMap { UInt16($0.prefix { $0.isNumber }) })
    }

    /// The API of another replica of the edge.
    func edge(of replica: ChildProcess) async throws -> EdgeClient {
        let url = try await url(of: replica)
        return EdgeClient(http: http) { url }
    }

    /// Where another replica of the edge serves the API.
    func url(of replica: ChildProcess) async throws -> String {
        try await replica.announcedURL("serving the HTTP API")
    }

    /// kill -9, and waits until it is gone.
    func kill(_ service: Service) async throws {
        guard let process = processes.withLock({ $0[service] }) else { return }
        if service == .sessionClient { address.update { $0 = nil } }
        process.send(.kill)
        try await process.waitForExit(.killed(.kill))
        await process.end()
    }

    /// kill -9, and starts it again.
    func restart(_ service: Service) async throws {
        try await kill(service)
        try await start(service)
    }

    /// Sends a signal.
    func send(_ signal: Signal, to service: Service) {
        processes.withLock { $0[service] }?.send(signal)
    }

    /// The process of a service.
    func process(of service: Service) throws -> ChildProcess {
        guard let process = processes.withLock({ $0[service] }) else { throw NotRunning(service: service) }
        return process
    }

    struct NotRunning: Error {
        let service: Service
    }

    /// A service's answer at `/health/ready`.
    func readiness(of service: Service) async throws -> EdgeClient.Reply {
        let admin = EdgeClient(http: http) { [url = try await administration(of: service)] in url }
        return try await admin.send("GET", "/health/ready")
    }

    /// A service's metrics, a line each.
    func metrics(of service: Service) async throws -> [String] {
        let answer = try await http.execute(
            HTTPClientRequest(url: try await administration(of: service) + "/metrics"), timeout: .seconds(120))
        let text = try await answer.body.collect(upTo: 1 << 20)
        return String(buffer: text).split(separator: "\n").map(String.init)
    }

    private func administration(of service: Service) async throws -> String {
        try await process(of: service).announcedURL("serving health and metrics").replacing("/health/ready", with: "")
    }

    private func end() async {
        for process in processes.withLock({ Array($0.values) }) { await process.end() }
        try? await http.shutdown()
    }

    /// The lines that a service has logged.
    func lines(of service: Service) -> [String] { processes.withLock { $0[service] }?.lines() ?? [] }

    private var logs: String {
        processes.withLock { $0 }.map { "== \($0.key.rawValue)\n\($0.value.logTail(30))" }.joined(separator: "\n")
    }

    // MARK: The database

    /// Asks as a superuser.
    func psql(_ sql: String) async throws -> String {
        guard let database else { throw NotRunning(service: .sessionClient) }
        return try await database.psql(sql)
    }

    /// Runs a file as `make psql` would: as a role that only reads.
    func psql(file: URL) async throws -> String {
        guard let database else { throw NotRunning(service: .sessionClient) }
        return try await database.psql(file: file, variables: ["reader": "quartet_reader"])
    }

    /// A role's connection string.
    func databaseURL(as role: String) throws -> String {
        guard let database else { throw NotRunning(service: .sessionClient) }
        return try database.url(as: role)
    }

    /// Takes an advisory lock, as a superuser; returns how to let it go.
    func holdAdvisoryLock(_ number: Int32) async throws -> @Sendable () async -> Void {
        try await hold("SELECT pg_advisory_lock(\(number))::text")
    }

    /// Holds the locks of a statement in an open transaction, as a superuser; returns how to let them go.
    func hold(_ sql: String) async throws -> @Sendable () async -> Void {
        let holder = try await Connection.connect(Configuration(databaseURL))
        try await holder.run { database in
            _ = try database.query("BEGIN")
            _ = try database.query("\(unescaped: sql)")
        }
        return { await holder.close() }
    }

    /// Has the database refuse to write down a step of sagas; returns how to allow it again.
    func refuse(step: String) async throws -> @Sendable () async throws -> Void {
        _ = try await psql(
            """
            CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION 'not this step';
            END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON session_client.saga_step
               FOR EACH ROW WHEN (NEW.name = '\(step)') EXECUTE FUNCTION public.refuse();
            """)
        return { _ = try await self.psql("DROP TRIGGER refuse ON session_client.saga_step") }
    }

    /// Asks until the answer is as wanted.
    /// - Throws: `TimedOut`, with the last answer.
    @discardableResult
    func wait(for what: String, _ sql: String, until isWanted: (String) -> Bool) async throws -> String {
        var last = ""
        for _ in 0..<6000 {
            last = try await psql(sql)
            if isWanted(last) { return last }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw TimedOut("waited two minutes for \(what), which did not happen; last: \(last)")
    }

    /// Waits until every command has its outcome and every policy has come to the end of its log.
    func waitUntilQuiet() async throws {
        try await wait(
            for: "all commands and policies to be done",
            """
            SELECT (SELECT count(*) FROM session_client.session_commands AS c
                     WHERE NOT EXISTS (SELECT FROM session.outcome AS o WHERE o.command_id = c.command_id))
                 + (SELECT count(*) FROM session_client.contacts_commands AS c
                     WHERE NOT EXISTS (SELECT FROM contacts.outcome AS o WHERE o.command_id = c.command_id))
                 + (SELECT count(*) FROM session_client.notifications_commands AS c
                     WHERE NOT EXISTS (SELECT FROM notifications.outcome AS o WHERE o.command_id = c.command_id))
                 + (SELECT count(*) FROM session.log AS l WHERE position > coalesce(
                        (SELECT max(position) FROM session_client.batch AS b
                          WHERE b.source = 'session.log' AND b.partition = l.partition), 0))
                 + (SELECT count(*) FROM contacts.log AS l WHERE position > coalesce(
                        (SELECT max(position) FROM session_client.batch AS b
                          WHERE b.source = 'contacts.log' AND b.partition = l.partition), 0))
                 + (SELECT count(*) FROM notifications.log AS l WHERE l.type = 'PushTaken' AND position > coalesce(
                        (SELECT max(position) FROM session_client.batch AS b
                          WHERE b.source = 'notifications.log' AND b.partition = l.partition), 0)
                       -- A session-client of 0.1.0 doesn't read it.
                       AND EXISTS (SELECT FROM session_client.lease AS s
                                    WHERE s.source = 'notifications.log' AND s.owner IS NOT NULL))
                 + (SELECT count(*) FROM session_client.saga WHERE state = 'running')
            """
        ) { $0 == "0" }
    }
}

extension ChildProcess {
    /// The URL in the line that says so.
    fileprivate func announcedURL(_ text: String) async throws -> String {
        let line = try await waitForLine(containing: text).text
        guard let start = line.firstRange(of: "url=")?.upperBound else { throw Unexpected(line) }
        return String(line[start...].prefix { $0 != " " })
    }
}
