import Bus
import Foundation
import LedgerContract
import LedgerEdge
import Logging
import Postgres
import QuartetVocabulary
import ServiceKit
import Synchronization

/// The whole cycle of a command: appended by an edge (this process), handled by a service of its own process with one row
/// changed, its event published and its outcome back.
struct LedgerBenchmark: Sendable {
    let client: LedgerClient
    private let accounts: [AccountID]
    /// Makes a body of 200 bytes.
    private static let filler = String(repeating: "x", count: 140)

    static func with(_ server: Server, _ body: (LedgerBenchmark) async throws -> Void) async throws {
        try await prepare(server)
        var logger = Logger(label: "benchmark", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = .error
        let log = FileManager.default.temporaryDirectory.appending(path: "quartet-benchmark-ledger.log")
        let service = try server.start(
            "faulty-ledger", [server.url("ledger")],
            environment: ["LEDGER_ENTRIES": "off", "LEDGER_LEASE_MS": "5000"], log: log)
        defer { service.terminate() }
        let client = try await LedgerClient(
            configuration: Configuration(server.url("ledger")), unansweredLimit: 100_000, logger: logger)
        let running = Task { try await client.run() }
        defer { running.cancel() }
        await client.ready()
        let benchmark = LedgerBenchmark(client: client, accounts: (0..<10_000).map { _ in AccountID.new() })
        _ = try await benchmark.closedLoop(inFlight: 512, seconds: 4)
        try await body(benchmark)
    }

    private static func prepare(_ server: Server) async throws {
        say("a database for the ledger")
        try server.psql("postgres", ["-c", "DROP DATABASE IF EXISTS ledger WITH (FORCE)"])
        try server.psql("postgres", ["-c", "CREATE DATABASE ledger TEMPLATE template0 ENCODING 'UTF8'"])
        try server.psql("ledger", ["-f", "deploy/database.sql"])
        for service in ["ledger", "ledger_client"] {
            try server.psql("ledger", ["-v", "service=\(service)", "-f", "deploy/service.sql"])
        }
        try server.psql(
            "ledger",
            [
                "-c", "GRANT USAGE ON SCHEMA ledger TO ledger_client, ledger_client_owner",
                "-c", "GRANT USAGE ON SCHEMA ledger_client TO ledger, ledger_owner",
            ])
        var quiet = Logger(label: "migrations")
        quiet.logLevel = .warning
        for (schema, target) in [("ledger_client", "LedgerEdge"), ("ledger", "LedgerService")] {
            let set = try MigrationSet(schema: schema, target: target)
            let migrator = Migrator(
                set, configuration: Configuration(server.url("ledger", as: "quartet_migrator")), logger: quiet)
            try await migrator.apply()
        }
    }

    // MARK: Commands

    /// Callers that each send one command at a time. Returns their rate and, sorted, how long each waited.
    func closedLoop(inFlight: Int, seconds: Int) async throws -> (rate: Double, milliseconds: [Double]) {
        let end = ContinuousClock.now + .seconds(seconds)
        let waits = try await withThrowingTaskGroup(of: [Double].self) { group in
            for _ in 0..<inFlight {
                group.addTask {
                    var waits: [Double] = []
                    while ContinuousClock.now < end { waits.append(try await post()) }
                    return waits
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        return (Double(waits.count) / Double(seconds), waits.sorted())
    }

    /// Sends a command of somebody, and returns how long that took.
    private func post(since begun: ContinuousClock.Instant = .now) async throws -> Double {
        let entry = PostEntry(client: "benchmark", n: 1, amount: 1, note: Self.filler)
        let outcome = try await client.post(entry, for: accounts[Int.random(in: 0..<accounts.count)])
        guard outcome.kind == .accepted else { throw Failure("a command ended as \(outcome)") }
        return (ContinuousClock.now - begun).milliseconds
    }

    func commands(_ seconds: Int, _ report: inout Report) async throws {
        say("commands, callers that send one at a time")
        let aims = [(1, ""), (64, ">= 15000 required, 20000 wanted"), (512, ">= 30000 required, 40000 wanted")]
        for (inFlight, aim) in aims {
            let (rate, waits) = try await closedLoop(inFlight: inFlight, seconds: seconds)
            let key = inFlight == 512 ? "" : "_\(inFlight)_in_flight"
            report.add(
                "commands_per_second\(key)", rate, aim: aim,
                of: inFlight == 1 ? Limits.insertsOfOne : Limits.insertsOfEight)
            if inFlight == 1 {
                report.add("command_p50_ms", waits.percentile(0.5), aim: "<= 1.0")
                report.add("command_p99_ms", waits.percentile(0.99), aim: "<= 2.0")
                report.add("command_p999_ms", waits.percentile(0.999))
            } else {
                report.add("command_p50_ms_\(inFlight)_in_flight", waits.percentile(0.5))
                report.add("command_p99_ms_\(inFlight)_in_flight", waits.percentile(0.99))
            }
        }
    }

    /// The most that callers get who send one command at a time.
    private func fullRate(_ seconds: Int, _ report: Report) async throws -> Double {
        if let measured = report["commands_per_second"] { return measured }
        return try await closedLoop(inFlight: 512, seconds: seconds).rate
    }

    func latency(_ seconds: Int, _ report: inout Report) async throws {
        let full = try await fullRate(seconds, report)
        for (percent, aim) in [(10, ""), (50, "<= 10"), (80, "")] {
            say("latency at \(percent)% of full load")
            let waits = try await openLoop(rate: full * Double(percent) / 100, seconds: seconds)
            report.add("command_p50_ms_at_\(percent)_percent_load", waits.percentile(0.5))
            report.add("command_p99_ms_at_\(percent)_percent_load", waits.percentile(0.99), aim: aim)
            report.add("command_p999_ms_at_\(percent)_percent_load", waits.percentile(0.999))
        }
    }

    /// The highest rate at which evenly spaced commands have a p99 of at most 20 ms: looked for in short trials, then kept up
    /// for a minute, which has whatever a short trial may miss, such as checkpoints.
    func held(_ seconds: Int, _ report: inout Report) async throws {
        say("the rate that is held")
        let limit = 20.0
        let full = try await fullRate(seconds, report)
        func trial(_ rate: Double, _ seconds: Int) async throws -> [Double]? {
            let waits = try await openLoop(rate: rate, seconds: seconds, givingUpBeyond: limit)
            let isHeld = waits.percentile(0.99) <= limit
            say("\(Int(rate)) commands a second for \(seconds) s: \(isHeld ? "held" : "not held")")
            return isHeld ? waits : nil
        }
        // Seven trials tell the rate to a hundredth of the full one.
        var (held, refused) = (0.0, full * 1.25)
        for _ in 0..<7 {
            let rate = (held + refused) / 2
            if try await trial(rate, seconds) == nil { refused = rate } else { held = rate }
        }
        var waits = try await trial(held, seconds * 15 / 2)
        while waits == nil, held > full / 100 {
            held *= 0.95
            waits = try await trial(held, seconds * 15 / 2)
        }
        report.add(
            "commands_held_per_second", waits == nil ? 0 : held, aim: ">= 25000", of: Limits.insertsOfEight)
        report.add("command_p50_ms_at_held_rate", waits?.percentile(0.5) ?? .nan)
        report.add("command_p999_ms_at_held_rate", waits?.percentile(0.999) ?? .nan)
    }

    /// Commands that come evenly at a rate, whatever became of the ones before: each waits from when it was due.
    /// - Parameter limit: Milliseconds that a hundredth of the commands may take longer than. Once more of them have, no more are
    ///   sent; those count as never answered.
    /// - Returns: How long each waited, sorted.
    private func openLoop(
        rate: Double, seconds: Int, givingUpBeyond limit: Double = .infinity
    ) async throws -> [Double] {
        let count = Int(rate * Double(seconds))
        let waits = Waits(limit: limit)
        let sent = try await withThrowingDiscardingTaskGroup { group in
            let begun = ContinuousClock.now
            var sent = 0
            while sent < count {
                let due = min(count, Int((ContinuousClock.now - begun) / .seconds(1) * rate) + 1)
                while sent < due {
                    let at = begun + .seconds(Double(sent) / rate)
                    group.addTask {
                        waits.add(try await post(since: at))
                    }
                    sent += 1
                }
                if limit.isFinite {
                    let overdue = sent - waits.count - Int(rate * limit / 1000)
                    if waits.late + max(0, overdue) > count / 100 { break }
                }
                try await Task.sleep(for: .milliseconds(1))
            }
            return sent
        }
        return (waits.all + Array(repeating: Double.infinity, count: count - sent)).sorted()
    }

    // MARK: Fan-out

    func fanOut(_ seconds: Int, _ report: inout Report) async throws {
        for subscribers in [1, 100, 1000, 10_000] {
            say("events to \(subscribers) subscribers in this process")
            let rate = try await deliver(to: subscribers, seconds: seconds, perSecond: nil).rate
            let key = subscribers == 1000 ? "" : "_\(subscribers)_subscribers"
            report.add("in_process_deliveries_per_second\(key)", rate, aim: subscribers == 1000 ? ">= 3000000" : "")
        }
        let waits = try await deliver(to: 1000, seconds: seconds, perSecond: 50).milliseconds
        report.add("in_process_delivery_p50_ms", waits.percentile(0.5))
        report.add("in_process_delivery_p99_ms", waits.percentile(0.99), aim: "<= 15")
    }

    /// One account's events to many subscribers: as fast as all of them get them, or so many events a second.
    private func deliver(
        to subscribers: Int, seconds: Int, perSecond: Int?
    ) async throws -> (rate: Double, milliseconds: [Double]) {
        let account = AccountID.new()
        let state: Query = "SELECT '{}'::json"
        var subscriptions: [Subscription] = []
        for _ in 0..<subscribers {
            subscriptions.append(try await client.streams.subscribe(to: .account(account), from: nil, state: state))
        }
        let delivered = DeliveryCount()
        let measures = perSecond != nil
        let begun = ContinuousClock.now
        let end = begun + .seconds(seconds)
        let (count, waits) = try await withThrowingTaskGroup(of: [Double].self) { group in
            for subscription in subscriptions {
                group.addTask {
                    var waits: [Double] = []
                    while let element = await subscription.next() {
                        guard case .event(let row, _) = element else { throw Failure("a subscriber fell behind") }
                        delivered.add()
                        guard measures else { continue }
                        let posted = try EntryPosted.decoded(from: row.message.body)
                        waits.append(Double(Self.clock() - posted.n) / 1e6)
                    }
                    return waits
                }
            }
            var sent = 0
            while ContinuousClock.now < end {
                // As many as one account may send, which keeps everybody busy, and nobody so far behind that it is told so.
                let count = perSecond == nil ? min(64, 512 - (sent - delivered.value / subscribers)) : 1
                if count > 0 { try await publish(count, for: account) }
                sent += max(0, count)
                if let perSecond {
                    try await Task.sleep(for: .seconds(1.0 / Double(perSecond)))
                } else if count <= 0 {
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            while delivered.value < sent * subscribers { try await Task.sleep(for: .milliseconds(1)) }
            let took = ContinuousClock.now - begun
            for subscription in subscriptions { subscription.end() }
            let waits = try await group.reduce(into: []) { $0 += $1 }
            return (Double(delivered.value) / (took / .seconds(1)), waits)
        }
        return (count, waits.sorted())
    }

    private func publish(_ count: Int, for account: AccountID) async throws {
        try await withThrowingTaskGroup(of: Void.self) { senders in
            for _ in 0..<count {
                senders.addTask {
                    let entry = PostEntry(client: "publisher", n: Self.clock(), amount: 1)
                    _ = try await client.post(entry, for: account)
                }
            }
            try await senders.waitForAll()
        }
    }

    private static func clock() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// How long commands waited, noted by many at once.
private final class Waits: Sendable {
    private let limit: Double
    private let noted = Mutex<(all: [Double], late: Int)>(([], 0))

    init(limit: Double) { self.limit = limit }

    func add(_ wait: Double) {
        noted.withLock { noted in
            noted.all.append(wait)
            if wait > limit { noted.late += 1 }
        }
    }

    var all: [Double] { noted.withLock { $0.all } }
    var count: Int { noted.withLock { $0.all.count } }
    /// How many waited longer than the limit.
    var late: Int { noted.withLock { $0.late } }
}

/// How many events were delivered, counted by many at once.
final class DeliveryCount: Sendable {
    private let count = Atomic(0)
    func add() { count.add(1, ordering: .relaxed) }
    var value: Int { count.load(ordering: .relaxed) }
}
