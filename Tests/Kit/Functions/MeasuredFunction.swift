import Bus
import LedgerContract
import LedgerRules
import Postgres
import QuartetContactsContract
import QuartetVocabulary

/// What a command goes through in a process besides the database: encoded, routed, hashed, decoded, decided. A package of its
/// own measures it, Tests/Benchmarks/Functions, which can't see what only this package uses.
public struct MeasuredFunction: Sendable {
    public let name: String
    /// Whether one call is long enough to be measured by itself.
    public let isLong: Bool
    /// Calls it that many times.
    public let run: @Sendable (_ times: Int) throws -> Void

    private init<Value>(
        _ name: String, isLong: Bool = false, _ call: @escaping @Sendable () throws -> Value
    ) {
        self.name = name
        self.isLong = isLong
        run = { times in for _ in 0..<times { keep(try call()) } }
    }

    public static var all: [Self] {
        let account = AccountID.new()
        let entry = PostEntry(client: "benchmark", n: 1, amount: 1, note: String(repeating: "x", count: 140))
        let body = (try? entry.encoded()) ?? []
        let key = Key.account(account)
        let log = Log(name: LogName(schema: "ledger", table: "log"), partitionCount: 8)
        let ping = SendPing(contact: account)
        let pingBody = (try? ping.encoded()) ?? []
        let pingCommand = ContactsCommand.ping(.sendPing(ping))
        let command = LedgerCommand.postEntry(entry)
        let context = CommandContext(commandID: .new(), account: account, key: key, time: .now)
        return [
            Self("encode a body of 200 bytes") { try entry.encoded() },
            Self("decode a body of 200 bytes") { try LedgerCommand(type: PostEntry.type, version: 1, body: body) },
            Self("decode one of contacts' commands") {
                try ContactsCommand(type: "SendPing", version: 1, body: pingBody)
            },
            Self("find a command's type, and refuse its version") {
                try? ContactsCommand(type: "SendPing", version: 99, body: pingBody)
            },
            Self("take a command out of its sets") { pingCommand.body },
            Self("make an id") { CommandID.new() },
            Self("route a key to its partition") { log.partition(of: key) },
            Self("hash a command's body") {
                BodyHash(type: PostEntry.type, version: 1, key: key, account: account, body: body)
            },
            Self("decide a command") {
                var rows = LedgerRows()
                rows.balances.load(BalanceRow(amount: 1), at: account)
                return try LedgerReducer.reduce(&rows, command, context)
            },
            Self("bind an append of 64 rows", isLong: true) {
                let messages = (0..<64).map { _ in
                    Message(
                        kind: .command, type: PostEntry.type, key: .account(.new()), account: account, body: body,
                        commandID: .new())
                }
                return log.append(messages)
            },
        ]
    }
}

/// Uses a value as far as the optimiser can tell.
@_optimize(none)
private func keep(_ value: some Any) {}
