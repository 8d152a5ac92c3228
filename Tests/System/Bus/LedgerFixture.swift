import Bus
import Foundation
import LedgerContract
import LedgerEdge
import Logging
import Postgres
import QuartetVocabulary
import ServiceKit
import TestKit
import Testing

extension DatabaseTemplate {
    /// The ledger and its client, migrated.
    static let ledger = DatabaseTemplate(
        "ledger",
        services: [
            .init("ledger", readers: ["ledger_client", "ledger_client_owner"]),
            .init("ledger_client", readers: ["ledger", "ledger_owner"]),
        ]
    ) { database in
        for (schema, target) in [("ledger_client", "LedgerEdge"), ("ledger", "LedgerService")] {
            let set = try MigrationSet(schema: schema, target: target)
            try await Migrator(set, configuration: Configuration(try database.url(as: "quartet_migrator"))).apply()
        }
    }
}

/// A database with the ledger in it, and how its processes are started.
struct LedgerFixture: Sendable {
    let database: TestDatabase
    /// Where the processes connect to; a relay's address in some tests.
    var serviceURL: String

    init(_ database: TestDatabase) throws {
        self.database = database
        serviceURL = try database.url(as: "ledger")
    }

    static func with<Result: Sendable>(_ body: (LedgerFixture) async throws -> Result) async throws -> Result {
        try await TestDatabase.with(.ledger) { try await body(LedgerFixture($0)) }
    }

    /// Starts a replica of the service and waits until it is ready.
    func startService(
        fault: String? = nil, leaseMilliseconds: Int = 2000, workers: Int = 2, batch: Int = 64, listens: Bool = true,
        backoffMilliseconds: Int = 20, isOld: Bool = false
    ) async throws -> ChildProcess {
        var environment = [
            "LEDGER_LEASE_MS": "\(leaseMilliseconds)", "LEDGER_WORKERS": "\(workers)", "LEDGER_BATCH": "\(batch)",
            "LEDGER_BACKOFF_MS": "\(backoffMilliseconds)",
            // A crash that a test asks for needs no account of the stack, which takes up to twenty seconds on a busy machine.
            "SWIFT_BACKTRACE": "enable=no",
        ]
        environment["LEDGER_FAULT"] = fault
        if isOld { environment["LEDGER_RELEASE"] = "old" }
        if !listens { environment["LEDGER_DOORBELLS"] = "off" }
        return try await ChildProcess.start("faulty-ledger", [serviceURL], environment: environment)
    }

    /// Appends entries of 1 for an account, as one transaction of an edge would.
    func append(_ count: Int, for account: AccountID, urgently isUrgent: Bool = false) async throws {
        let key = "\(Key.account(account))"
        let entry = "json_build_object('client', 'bulk', 'n', n, 'amount', 1)"
        _ = try await database.psql(
            """
            SELECT ledger_client.ledger_commands_append(
                       ARRAY[ledger_client.ledger_commands_partition_of('\(key)')], array_agg(1), array_agg(n::int),
                       array_agg('command'::text), array_agg('\(isUrgent ? "PostUrgently" : "PostEntry")'::text), array_agg(1::smallint),
                       array_agg('\(key)'::text), array_agg('\(account)'::uuid),
                       array_agg(\(isUrgent ? "json_build_object('entry', \(entry))" : entry)),
                       array_agg(ledger_client.new_id()), array_agg(ledger_client.new_id()), array_agg(NULL::text),
                       array_agg(NULL::uuid), array_agg(NULL::uuid), array_agg(NULL::uuid), array_agg(NULL::text),
                       array_agg(NULL::bigint))
              FROM generate_series(1, \(count)) AS n
            """)
    }

    /// Runs `body` with a client; the client ends with it.
    func withClient<Result: Sendable>(
        url: String? = nil, listens: Bool = true, _ body: @Sendable @escaping (LedgerClient) async throws -> Result
    ) async throws -> Result {
        let client = try await LedgerClient(
            configuration: Configuration(try url ?? database.url(as: "ledger_client")), listens: listens,
            logger: Self.logger)
        return try await client.run(during: body)
    }

    /// Runs SQL as the superuser and returns one number.
    func number(_ sql: String) async throws -> Int64 {
        let text = try await database.psql(sql).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let number = Int64(text) else { throw Unexpected("'\(sql)' gave '\(text)'") }
        return number
    }

    /// Asks, as the superuser, until the number is as wanted: what other processes change in a database rings no bell here.
    func wait(for what: String, _ sql: String, until isWanted: (Int64) -> Bool) async throws {
        var last: Int64 = -1
        for _ in 0..<6000 {
            last = try await number(sql)
            if isWanted(last) { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Unexpected("waited two minutes for \(what); last: \(last)")
    }

    static let logger: Logger = {
        var logger = Logger(label: "test", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = .error
        return logger
    }()
}

extension LedgerClient {
    /// Posts an entry, which must be accepted.
    func expectAccepted(
        _ n: Int64, as name: String = "a", amount: Int64 = 1, for account: AccountID, patience: Duration = .patience,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let outcome = try await post(PostEntry(client: name, n: n, amount: amount), for: account, patience: patience)
        #expect(outcome.kind == .accepted, "\(outcome)", sourceLocation: location)
    }

    /// Returns once each command that was sent from here has its outcome, or has expired.
    func waitForAllAnswered() async throws {
        let deadline = ContinuousClock.now + .patience
        while sender.unanswered > 0 {
            guard ContinuousClock.now < deadline else { throw TimedOut("\(sender.unanswered) have no outcome") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Posts an entry by the command of the faulty ledger that lives may depend on.
    func urgently(_ n: Int64, amount: Int64 = 1, for account: AccountID, patience: Duration = .patience) async throws
        -> Outcome
    {
        let body = #"{"entry":{"client":"urgent","n":\#(n),"amount":\#(amount)}}"#
        return try await ask("PostUrgently", Array(body.utf8), for: account, patience: patience)
    }

    /// Posts such an entry, which must be accepted.
    func expectUrgentlyAccepted(
        _ n: Int64, for account: AccountID, patience: Duration = .patience,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let outcome = try await urgently(n, for: account, patience: patience)
        #expect(outcome.kind == .accepted, "\(outcome)", sourceLocation: location)
    }
}
