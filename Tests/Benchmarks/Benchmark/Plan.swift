import Foundation

/// What is measured, where, and where the figures go.
struct Plan: Sendable {
    static let usage = """
        usage: benchmark SERVER_URL EXECUTABLES JSON_FILE [SECTION...]
               benchmark compare FOLDER

        Measures the executables in the folder EXECUTABLES on the PostgreSQL at SERVER_URL, as a superuser that creates
        databases there. Sections: limits commands latency held fanout sagas calls streams memory starts attachments checkins
        rejoin groups signals client urgent console; by default all of these. console needs Chromium and its driver. Only by
        request, attacks, which takes ten minutes, and growth and resuming: they may take half an hour and check the free disk
        space first (GROWTH_ROWS, default 10000000).
        CHECKIN_PEOPLE (default 50000) is how many people miss a check-in within one minute.
        REJOIN_CLIENTS (default 5000) is how many apps reconnect at once.
        GROUP_SESSIONS (default 1000) is how many group sessions there are at most.
        SECONDS (default 8) is how long each figure is measured.
        BENCH_RESULTS is a file with the figures of earlier runs, to which those of a run with the defaults above are added, as
        those of BENCH_COMMIT.
        compare shows the medians of two builds that were measured in turn: FOLDER has base-1.json, this-1.json, base-2.json …

        """

    let server: Server
    let file: URL
    let sections: [String]
    let seconds: Int
    let growthRows: Int
    let checkInPeople: Int
    let rejoinClients: Int
    let groups: Int
    private let results: Results?
    /// Whether the figures may be compared with those of other runs.
    private let hasDefaults: Bool

    init?(_ arguments: [String], _ environment: [String: String]) {
        let words = Array(arguments.dropFirst())
        guard words.count >= 3, !words.contains("--help"), let server = Server(url: words[0], executables: words[1])
        else { return nil }
        let known = [
            "limits", "commands", "latency", "held", "fanout", "sagas", "calls", "streams", "memory", "starts",
            "attachments", "checkins", "rejoin", "groups", "signals", "client", "urgent", "console",
        ]
        let asked = Array(words.dropFirst(3))
        guard Set(asked).isSubset(of: known + ["attacks", "growth", "resuming"]) else { return nil }
        self.server = server
        file = URL(filePath: words[2])
        sections = asked.isEmpty ? known : asked
        seconds = environment["SECONDS"].flatMap(Int.init) ?? 8
        growthRows = environment["GROWTH_ROWS"].flatMap(Int.init) ?? 10_000_000
        checkInPeople = environment["CHECKIN_PEOPLE"].flatMap(Int.init) ?? 50_000
        rejoinClients = environment["REJOIN_CLIENTS"].flatMap(Int.init) ?? 5000
        groups = environment["GROUP_SESSIONS"].flatMap(Int.init) ?? 1000
        results = environment["BENCH_RESULTS"].map {
            Results(file: URL(filePath: $0), commit: environment["BENCH_COMMIT"] ?? "unknown")
        }
        hasDefaults = ["SECONDS", "GROWTH_ROWS", "CHECKIN_PEOPLE", "REJOIN_CLIENTS", "GROUP_SESSIONS", "FORCE"]
            .allSatisfy { (environment[$0] ?? "").isEmpty }
    }

    func run() async throws {
        var report = Report()
        let last = try results?.last() ?? [:]
        if sections.contains("client") { try await ClientBenchmark().measure(&report) }
        if sections.contains("limits") { try await Limits(server: server, seconds: min(4, seconds)).measure(&report) }
        if sections.contains("resuming") {
            try await ProductBenchmark.with(server, settings: ProductBenchmark.forOperators(server)) {
                try await $0.resuming(growthRows, &report)
            }
        }
        if !Set(sections).isDisjoint(with: ["commands", "latency", "held", "fanout", "growth"]) {
            try await LedgerBenchmark.with(server) { ledger in
                if sections.contains("commands") { try await ledger.commands(seconds, &report) }
                if sections.contains("latency") { try await ledger.latency(seconds, &report) }
                if sections.contains("held") { try await ledger.held(seconds, &report) }
                if sections.contains("fanout") { try await ledger.fanOut(min(5, seconds), &report) }
                if sections.contains("growth") { try await ledger.growth(growthRows, seconds, server, &report) }
            }
        }
        if !Set(sections).isDisjoint(with: ["sagas", "calls", "streams", "memory", "growth"]) {
            try await ProductBenchmark.with(server) { product in
                if sections.contains("memory") { try await product.atRest(&report) }
                if sections.contains("sagas") { try await product.sagas(&report) }
                if sections.contains("calls") { try await product.calls(&report) }
                if sections.contains("streams") { try await product.streams(min(5, seconds), &report) }
                if sections.contains("memory") { try await product.underLoad(&report) }
                if sections.contains("growth") { try await product.timers(growthRows / 10, &report) }
            }
        }
        if sections.contains("starts") {
            try await ProductBenchmark.with(server) { try await $0.starts(&report) }
        }
        if sections.contains("attachments") {
            try await ProductBenchmark.with(server) { try await $0.attachments(seconds, &report) }
        }
        // In a database of its own: the others are measured without sixty thousand accounts.
        if sections.contains("checkins") {
            try await ProductBenchmark.with(server) { try await $0.checkIns(checkInPeople, &report) }
        }
        if sections.contains("rejoin") {
            try await ProductBenchmark.with(server) { try await $0.rejoin(rejoinClients, &report) }
        }
        if sections.contains("groups") {
            try await ProductBenchmark.with(server) { try await $0.groups(groups, min(5, seconds), &report) }
        }
        if sections.contains("signals") {
            try await ProductBenchmark.with(server) { try await $0.signals(min(5, seconds), &report) }
        }
        if sections.contains("urgent") {
            try await ProductBenchmark.with(server, isLimited: true) { try await $0.urgent(&report) }
        }
        if sections.contains("attacks") {
            try await ProductBenchmark.withLimits(server) { try await $0.attacks(&report) }
        }
        if sections.contains("console") {
            try await ProductBenchmark.withConsole(server) { try await $0.console(&report) }
        }
        try report.write(to: file)
        print(report.table(beside: last))
        guard let results else { return }
        if hasDefaults {
            try results.add(report)
        } else {
            say("not kept: only runs with the default settings, and without FORCE, are compared")
        }
    }
}

/// Says what is being done; long work shows progress.
func say(_ text: String) { FileHandle.standardError.write(Data("benchmark: \(text)\n".utf8)) }

/// The database server and the executables.
struct Server: Sendable {
    let executables: URL
    private let components: URLComponents

    init?(url: String, executables: String) {
        guard let components = URLComponents(string: url) else { return nil }
        self.components = components
        self.executables = URL(filePath: executables)
    }

    /// A database's URL; as the superuser unless said.
    func url(_ database: String, as role: String? = nil) -> String {
        var components = components
        components.path = "/\(database)"
        if let role {
            components.queryItems =
                (components.queryItems ?? []).filter { $0.name != "user" } + [
                    URLQueryItem(name: "user", value: role)
                ]
        }
        return components.string ?? ""
    }

    /// Runs a program and returns what it printed.
    @discardableResult
    func run(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure("\(program) \(arguments.joined(separator: " ")) ended with \(process.terminationStatus)")
        }
        return String(decoding: data, as: UTF8.self)
    }

    @discardableResult
    func psql(_ database: String, _ arguments: [String]) throws -> String {
        try run("psql", ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url(database)] + arguments)
    }

    /// - Throws: When so many bytes aren't free where the database is.
    func requireDisk(_ bytes: Int64) throws {
        let folder = try psql("postgres", ["-c", "SHOW data_directory"]).trimmingCharacters(in: .whitespacesAndNewlines)
        let free = try FileManager.default.attributesOfFileSystem(forPath: folder)[.systemFreeSize] as? Int64 ?? 0
        guard free > bytes else {
            throw Failure("this needs \(bytes >> 30) GB in \(folder), which has \(free >> 30) GB free; set GROWTH_ROWS")
        }
    }

    /// Starts one of the executables; its log goes into a file.
    func start(_ name: String, _ arguments: [String], environment: [String: String], log: URL) throws -> Process {
        let process = Process()
        process.executableURL = executables.appending(path: name)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        let handle = try FileHandle(forWritingTo: log)
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        return process
    }
}

/// It can't be measured.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension [Double] {
    /// The value that a part of all is at or below; the values are sorted.
    func percentile(_ part: Double) -> Double { isEmpty ? .nan : self[Swift.min(count - 1, Int(Double(count) * part))] }
}

extension Duration {
    var milliseconds: Double { self / .milliseconds(1) }
}
