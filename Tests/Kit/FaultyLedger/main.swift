import Bus
import Foundation
import LedgerContract
import LedgerEdge
import Logging
import Postgres
import QuartetVocabulary
import ServiceLifecycle
import Synchronization
import UnixSignals

// The ledger with faults built in: the process that tests kill, pause and cut off.
//
//   faulty-ledger DATABASE_URL
//
// Environment:
//   LEDGER_LEASE_MS, LEDGER_BACKOFF_MS, LEDGER_GIVE_UP_MS, LEDGER_PARKED_KEYS, LEDGER_BATCH, LEDGER_WORKERS
//                          as in ConsumerSettings; GIVE_UP is how long a message that fails by its own fault is retried
//   LEDGER_ENTRIES=off     keep balances only, so that a benchmark's command changes one row
//   LEDGER_DOORBELLS=off   don't listen
//   LEDGER_RELEASE=old     be the release before refunds: don't know that command
//   LEDGER_FAULT=POINT:N   kill the process the Nth time that a worker reaches the FaultPoint. stop:N and stopWithLock:N
//                          pause it (SIGSTOP) at its Nth commit, the latter once the server has done all but the COMMIT
//   LEDGER_POSTS=ACCOUNT   be an edge instead: post one entry of 1 for the account, wait for the outcome, and end. With
//                          LEDGER_FAULT=stopWithLock:1 it pauses after the server appended the command, before the commit

let environment = ProcessInfo.processInfo.environment
guard CommandLine.arguments.count == 2 else {
    FileHandle.standardError.write(Data("usage: faulty-ledger DATABASE_URL\n".utf8))
    exit(64)
}

var logger = Logger(label: "ledger", factory: { StreamLogHandler.standardError(label: $0) })
logger.logLevel = .info
var configuration = Configuration(CommandLine.arguments[1])
configuration.parameters["user"] = "ledger"

if let account = environment["LEDGER_POSTS"].flatMap(AccountID.init) {
    try await post(for: account, configuration: configuration, logger: logger)
    exit(0)
}

var settings = ConsumerSettings()
settings.workers = environment["LEDGER_WORKERS"].flatMap(Int.init) ?? settings.workers
settings.leaseDuration = .milliseconds(environment["LEDGER_LEASE_MS"].flatMap(Int.init) ?? 2000)
settings.limits.batch = environment["LEDGER_BATCH"].flatMap(Int.init) ?? 64
if let pause = environment["LEDGER_BACKOFF_MS"].flatMap(Int.init) {
    settings.backoff = Backoff(
        initial: .milliseconds(pause), maximum: .milliseconds(max(5000, pause)), multiplier: 2)
    settings.troubleBackoff = settings.backoff
}
settings.limits.leastTime = .milliseconds(environment["LEDGER_GIVE_UP_MS"].flatMap(Int.init) ?? 1000)
settings.limits.parkedKeys = environment["LEDGER_PARKED_KEYS"].flatMap(Int.init) ?? settings.limits.parkedKeys
if let fault = environment["LEDGER_FAULT"]?.split(separator: ":").map(String.init), fault.count == 2,
    let count = Int(fault[1])
{
    let left = Atomic(count)
    let point = FaultPoint(rawValue: fault[0])
    settings.flushesBeforeCommit = fault[0] == "stopWithLock"
    let logger = logger
    settings.faultPoint = { reached in
        guard reached == point ?? .beforeCommit, left.subtract(1, ordering: .relaxed).newValue == 0 else { return }
        if point == nil { logger.notice("stops itself") }
        raise(point == nil ? SIGSTOP : SIGKILL)
    }
}

let connection = try await Connection.connect(configuration, logger: logger)
let (commands, log) = try await connection.run { database in
    (
        try Log.open(LogName(schema: "ledger_client", table: "ledger_commands"), database),
        try Log.open(LogName(schema: "ledger", table: "log"), database)
    )
}
await connection.close()
let doorbells = Doorbells(configuration: configuration, logger: logger)
let consumer = Consumer(
    source: commands, schema: "ledger", settings: settings, configuration: configuration, doorbells: doorbells,
    logger: logger,
    handler: CommandHandler(FaultyStore(keepsEntries: environment["LEDGER_ENTRIES"] != "off"), log: log))
let services: [any Service] = environment["LEDGER_DOORBELLS"] == "off" ? [consumer] : [doorbells, consumer]
logger.info("ready")
try await ServiceGroup(
    services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
).run()

/// Posts one entry, as an edge does.
func post(for account: AccountID, configuration: Configuration, logger: Logger) async throws {
    let left = Atomic(ProcessInfo.processInfo.environment["LEDGER_FAULT"] == "stopWithLock:1" ? 1 : 0)
    let client = try await LedgerClient(
        configuration: configuration,
        faultPoint: {
            guard left.exchange(0, ordering: .relaxed) == 1 else { return }
            logger.notice("stops itself")
            raise(SIGSTOP)
        }, logger: logger)
    let outcome = try await client.run { client in
        try await client.post(PostEntry(client: "edge", n: 1, amount: 1), for: account, patience: .seconds(60))
    }
    logger.info("posted: \(outcome)")
}
