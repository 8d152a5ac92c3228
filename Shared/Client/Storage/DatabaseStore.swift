public import Foundation
import GRDB
public import QuartetClient
public import QuartetVocabulary

/// Keeps changes and copies in a file of SQLite's, so that they outlive the app, however it ends.
///
/// A transaction is on the disk when its function returns. What is forgotten is overwritten, and the file can be read by the user who
/// runs the app alone.
public final class DatabaseStore: LocalStore {
    private let database: DatabaseQueue

    /// - Parameter file: Where to keep them. Its folder must exist. Each connection needs a file of its own.
    /// - Throws: If it can't be opened or isn't such a file.
    public init(_ file: URL) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.execute(sql: "PRAGMA secure_delete = ON")
        }
        // Another process of the app may have it: a widget.
        configuration.busyMode = .timeout(5)
        if !FileManager.default.fileExists(atPath: file.path) {
            _ = FileManager.default.createFile(
                atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        database = try DatabaseQueue(path: file.path, configuration: configuration)
        try Self.migrator.migrate(database)
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE item (
                      account text NOT NULL, id integer NOT NULL, item blob NOT NULL, PRIMARY KEY (account, id)
                    ) WITHOUT ROWID;
                    CREATE TABLE copy (
                      account text NOT NULL, sequence text NOT NULL, place text NOT NULL, asOf integer NOT NULL,
                      state blob NOT NULL, PRIMARY KEY (account, sequence)
                    );
                    """)
        }
        return migrator
    }

    public func load(_ account: AccountID) async throws -> LocalAccount {
        let (items, copies) = try await database.read { database in
            let items = try Data.fetchAll(
                database, sql: "SELECT item FROM item WHERE account = ? ORDER BY id", arguments: ["\(account)"])
            let copies = try Row.fetchAll(
                database, sql: "SELECT sequence, place, asOf, state FROM copy WHERE account = ?",
                arguments: ["\(account)"])
            return (
                items,
                copies.map { row in
                    LocalCopy(
                        sequence: row[0], place: row[1], state: row[3], asOf: Instant(microseconds: row[2]))
                }
            )
        }
        // A newer version of the app may have kept items that this one can't read.
        return LocalAccount(
            items: items.compactMap { try? JSONDecoder().decode(OutboxItem.self, from: $0) }, copies: copies)
    }

    public func save(_ item: OutboxItem, of account: AccountID) async throws {
        try await save(item, replacing: [], of: account)
    }

    public func save(_ item: OutboxItem, replacing others: [OutboxItem.ID], of account: AccountID) async throws {
        let encoded = try JSONEncoder().encode(item)
        try await database.write { database in
            for other in others {
                try database.execute(
                    sql: "DELETE FROM item WHERE account = ? AND id = ?", arguments: ["\(account)", other])
            }
            try database.execute(
                sql: "INSERT OR REPLACE INTO item (account, id, item) VALUES (?, ?, ?)",
                arguments: ["\(account)", item.id, encoded])
        }
    }

    public func remove(_ item: OutboxItem.ID, of account: AccountID) async throws {
        try await database.write { database in
            try database.execute(
                sql: "DELETE FROM item WHERE account = ? AND id = ?", arguments: ["\(account)", item])
        }
    }

    public func save(
        _ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID
    ) async throws {
        try await database.write { database in
            for item in items {
                try database.execute(
                    sql: "DELETE FROM item WHERE account = ? AND id = ?", arguments: ["\(account)", item])
            }
            for copy in copies {
                try database.execute(
                    sql: """
                        INSERT OR REPLACE INTO copy (account, sequence, place, asOf, state) VALUES (?, ?, ?, ?, ?)
                        """,
                    arguments: ["\(account)", copy.sequence, copy.place, copy.asOf.microseconds, copy.state])
            }
        }
    }

    public func forget(_ account: AccountID) async throws {
        try await delete(where: "account IS ?", account)
    }

    public func forgetOthers(than account: AccountID?) async throws {
        try await delete(where: "account IS NOT ?", account)
    }

    private func delete(where condition: String, _ account: AccountID?) async throws {
        let account = account.map { "\($0)" }
        try await database.write { database in
            for table in ["item", "copy"] {
                try database.execute(sql: "DELETE FROM \(table) WHERE \(condition)", arguments: [account])
            }
        }
        // The log before the checkpoint has it, too. While another process reads, this fails, and has to be repeated.
        try await database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }
}
