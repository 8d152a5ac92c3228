package import Bus
import Foundation
package import Postgres
package import QuartetVocabulary
import ServiceKit
package import TestKit
import Testing

/// A store on a database of its own, handling batches as the bus does: load, decide in order, save, commit.
package final class StoreTrial<Kept: Store>: Sendable where Kept.Rules.Command: Sendable, Kept.Rules.Event: Sendable {
    /// A command as the bus has it.
    package struct Command: Sendable {
        package let body: any CommandBody
        package let context: CommandContext

        package init(_ body: any CommandBody, _ context: CommandContext) {
            self.body = body
            self.context = context
        }

        /// A command of an account, with its key.
        package init(_ body: any CommandBody, by account: AccountID, id: CommandID = .new(), at time: Instant) {
            self.init(body, CommandContext(commandID: id, account: account, key: .account(account), time: time))
        }
    }

    /// How a command ended.
    package typealias Ended = Result<[Emission<Kept.Rules.Event>], Rejection>

    private let store: Kept
    private let log: LogName?
    private let connection: Connection

    /// - Parameters:
    ///   - store: The store.
    ///   - log: Where events are appended, if they are.
    ///   - database: Where its tables are.
    ///   - role: The role that the service runs as.
    package init(_ store: Kept, log: LogName? = nil, in database: TestDatabase, as role: String) async throws {
        self.store = store
        self.log = log
        connection = try await Connection.connect(Configuration(try database.url(as: role)))
    }

    /// Handles commands in one transaction.
    /// - Parameter commands: The commands, in order.
    /// - Throws: What the database throws; ``isWorthAnotherTry(_:)`` says what the bus would try again.
    package func handle(_ commands: [Command]) async throws -> [Ended] {
        let store = store
        let requests = try commands.map {
            Request(try Kept.Rules.Command(sent: $0.body), key: $0.context.key, account: $0.context.account)
        }
        return try await connection.run { [log] database in
            do {
                let log = try log.map { try Log.open($0, database) }
                return try database.pipeline { pipeline in
                    pipeline.query("BEGIN ISOLATION LEVEL READ COMMITTED")
                    var state = try store.load(requests, in: pipeline)
                    let ended = zip(requests, commands).map { request, command in
                        Ended { () throws(Rejection) in
                            try Kept.Rules.reduce(&state, request.command, command.context)
                        }
                    }
                    try store.save(state, in: pipeline)
                    let events = try ended.flatMap { try (try? $0.get())?.map(Self.message) ?? [] }
                    if let log, !events.isEmpty { pipeline.query(log.append(events)) }
                    let commit = pipeline.commit()
                    try pipeline.flush()
                    try commit.check()
                    return ended
                }
            } catch {
                try? database.executeScript("ROLLBACK")
                throw error
            }
        }
    }

    private static func message(_ emission: Emission<Kept.Rules.Event>) throws -> Message {
        let event = emission.event.body
        return Message(
            kind: .event, type: type(of: event).type, version: type(of: event).version, key: emission.key,
            account: emission.key.account, body: try event.encoded())
    }

    /// Handles commands, and again while other transactions are in the way.
    package func handleAtLast(_ commands: [Command]) async throws -> [Ended] {
        while true {
            do {
                return try await handle(commands)
            } catch let error as PostgresError where Self.isWorthAnotherTry(error) {
                continue
            }
        }
    }

    /// Handles a history of commands in batches of random sizes. Each must end as it did by the rules alone.
    package func replay<Replica>(
        _ rules: RuleTrial<Kept.Rules, Replica>, batches: ClosedRange<Int> = 1...24, using random: inout SeededRandom
    ) async throws where Kept.Rules.State: Equatable {
        var rest = rules.history[...]
        while !rest.isEmpty {
            let batch = rest.prefix(Int.random(in: batches, using: &random))
            rest = rest.dropFirst(batch.count)
            let ended = try await handle(batch.map { Command($0.command, $0.context) })
            for (mine, theirs) in zip(batch, ended) { try #require(mine.ended == theirs, "\(mine.command)") }
        }
    }

    /// Whether the bus would retry at once: another transaction inserted the same row, or a deadlock was broken.
    package static func isWorthAnotherTry(_ error: PostgresError) -> Bool {
        ["23505", "40P01", "40001"].contains(error.sqlState)
    }

    /// Runs a query and decodes each row's first column from JSON.
    package func published<State: Decodable & Sendable>(_ query: Query, as type: State.Type) async throws -> [State] {
        try await connection.run { database in
            try database.query(query).map {
                try JSONDecoder().decode(State.self, from: Data(try $0.decode(0, as: JSON.self).bytes))
            }
        }
    }

    /// Reads streams' states as a view publishes them.
    package func published<State: Decodable & Sendable>(
        in view: String, of accounts: some Sequence<AccountID>, as type: State.Type
    ) async throws -> [State] {
        var states: [State] = []
        for account in accounts {
            states += try await published(
                "SELECT s.state FROM \(unescaped: view) AS s WHERE s.account = \(account)", as: type)
        }
        return states
    }

    /// Closes the connection.
    package func close() async {
        await connection.close()
    }
}

extension DatabaseTemplate {
    /// A database with a service's tables, made by its migrations.
    /// - Parameters:
    ///   - schema: The service's schema.
    ///   - folder: The service's folder below `Services`.
    ///   - others: SQL for what the service looks at in other schemas.
    package static func tables(of schema: String, in folder: String, besides others: String = "") -> DatabaseTemplate {
        DatabaseTemplate("\(schema)_tables", services: DatabaseTemplate.productServices) { database in
            try await Migrator(
                MigrationSet(schema: schema, target: "\(folder)Service"),
                configuration: Configuration(try database.url(as: "quartet_migrator"))
            ).apply()
            if !others.isEmpty { try await database.psql(others) }
        }
    }
}
