import Benchmark
import Bus
import LedgerContract
import LedgerRules
import Postgres
import QuartetContactsContract
import QuartetVocabulary

// What each command goes through in this process besides the database: encoded, routed, hashed, decoded, decided.
let benchmarks = { @Sendable in
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .cpuUser], warmupIterations: 10, scalingFactor: .kilo, maxDuration: .seconds(2))

    let account = AccountID.new()
    let entry = PostEntry(client: "benchmark", n: 1, amount: 1, note: String(repeating: "x", count: 140))
    let body = (try? entry.encoded()) ?? []
    let key = Key.account(account)
    let log = Log(name: LogName(schema: "ledger", table: "log"), partitionCount: 8)

    Benchmark("encode a body of 200 bytes") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(try entry.encoded()) }
    }
    Benchmark("decode a body of 200 bytes") { benchmark in
        for _ in benchmark.scaledIterations {
            blackHole(try LedgerCommand(type: PostEntry.type, version: 1, body: body))
        }
    }
    let ping = SendPing(contact: account)
    let pingBody = (try? ping.encoded()) ?? []
    Benchmark("decode one of contacts' commands") { benchmark in
        for _ in benchmark.scaledIterations {
            blackHole(try ContactsCommand(type: "SendPing", version: 1, body: pingBody))
        }
    }
    Benchmark("find a command's type, and refuse its version") { benchmark in
        for _ in benchmark.scaledIterations {
            blackHole(try? ContactsCommand(type: "SendPing", version: 99, body: pingBody))
        }
    }
    Benchmark("take a command out of its sets") { benchmark in
        let command = ContactsCommand.ping(.sendPing(ping))
        for _ in benchmark.scaledIterations { blackHole(command.body) }
    }
    Benchmark("make an id") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(CommandID.new()) }
    }
    Benchmark("route a key to its partition") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(log.partition(of: key)) }
    }
    Benchmark("hash a command's body") { benchmark in
        for _ in benchmark.scaledIterations {
            blackHole(BodyHash(type: PostEntry.type, version: 1, key: key, account: account, body: body))
        }
    }
    Benchmark("decide a command") { benchmark in
        let command = LedgerCommand.postEntry(entry)
        let context = CommandContext(commandID: .new(), account: account, key: key, time: .now)
        for _ in benchmark.scaledIterations {
            var rows = LedgerRows()
            rows.balances.load(BalanceRow(amount: 1), at: account)
            blackHole(try LedgerReducer.reduce(&rows, command, context))
        }
    }
    Benchmark("bind an append of 64 rows", configuration: .init(scalingFactor: .one)) { benchmark in
        let messages = (0..<64).map { _ in
            Message(
                kind: .command, type: PostEntry.type, key: .account(.new()), account: account, body: body,
                commandID: .new())
        }
        for _ in benchmark.scaledIterations { blackHole(log.append(messages)) }
    }
}
