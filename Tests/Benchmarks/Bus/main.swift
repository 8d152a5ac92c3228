import Bus
import Foundation
import Ledger
import Logging
import Postgres
import ServiceKit
import ServiceLifecycle
import Synchronization
import Vocabulary

// Measures the whole cycle of a command, closed loop: append, handle (one row changed), event, outcome back. The ledger
// service runs as its own process; this is the edge.
//
//   bus-benchmark DATABASE_URL IN_FLIGHT SECONDS

let arguments = CommandLine.arguments
if arguments.count == 3, arguments[1] == "prepare" {
    let templates = MigrationTemplates(folders: ["bus": ResourceFolder.url("SQL", of: "Bus")])
    for (schema, folder) in [("ledger_client", "ClientMigrations"), ("ledger", "Migrations")] {
        let set = try MigrationSet(
            schema: schema, folder: ResourceFolder.url(folder, of: "Ledger"), templates: templates)
        var configuration = Configuration(arguments[2])
        configuration.parameters["user"] = "quartet_migrator"
        try await Migrator(set, configuration: configuration).apply()
    }
    exit(0)
}
guard arguments.count == 4, let inFlight = Int(arguments[2]), let seconds = Int(arguments[3]) else {
    FileHandle.standardError.write(Data("usage: bus-benchmark DATABASE_URL IN_FLIGHT SECONDS\n".utf8))
    exit(64)
}
var logger = Logger(label: "bench", factory: { StreamLogHandler.standardError(label: $0) })
logger.logLevel = .warning
var configuration = Configuration(arguments[1])
configuration.parameters["user"] = "ledger_client"

let client = try await LedgerClient(configuration: configuration, logger: logger)
let accounts = (0..<10_000).map { _ in AccountID.new() }
let running = Task { [client] in try await client.run() }
await client.ready()

let latencies = Mutex<[Int64]>([])
let end = ContinuousClock.now + .seconds(seconds)
let note = String(repeating: "x", count: 40)
await withTaskGroup(of: Void.self) { group in
    for caller in 0..<inFlight {
        group.addTask {
            var mine: [Int64] = []
            var n: Int64 = 0
            while ContinuousClock.now < end {
                n += 1
                let begun = ContinuousClock.now
                do {
                    let outcome = try await client.post(
                        PostEntry(client: "\(note)\(caller)", n: n, amount: 1),
                        for: accounts[Int.random(in: 0..<accounts.count)])
                    guard case .accepted = outcome else { fatalError("\(outcome)") }
                } catch { print("failed: \(error)") }
                mine.append(Int64((ContinuousClock.now - begun) / .microseconds(1)))
            }
            latencies.withLock { $0 += mine }
        }
    }
}
let sorted = latencies.withLock { $0.sorted() }
func percentile(_ p: Double) -> Double { Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * p))]) / 1000 }
print(
    "in flight \(inFlight): \(sorted.count / seconds) commands/s, p50 \(percentile(0.5)) ms, p99 \(percentile(0.99)) ms, p99.9 \(percentile(0.999)) ms"
)
running.cancel()
exit(0)
