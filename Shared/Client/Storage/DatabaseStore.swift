public import Foundation
import GRDB
public import QuartetClient
public import QuartetVocabulary
import Synchronization

/// Keeps changes and copies in a file of SQLite's, so that they outlive the app, however it ends.
///
/// A transaction is on the disk when its function returns. What is forgotten is overwritten, and the file can be read by the user who
/// runs the app alone.
///
/// Any number of processes may have the file, such as an app and its widget, if they have the same tokens as well; each connection
/// opens a store of its own. Nothing that one keeps is lost or doubled by another: an item's number is nobody else's, one process at a
/// time sends an item, what one has removed no other writes back, and each learns what became of its changes. After a sign-out in
/// one, the others can write nothing.
public final class DatabaseStore: SharedLocalStore {
    private let database: DatabaseQueue
    /// The mark under which each account was opened. The file has another one once somebody has forgotten the account.
    private let marks = Mutex<[AccountID: String]>([:])
    /// For how long others can learn what became of an item.
    private static let memory: Interval = .minutes(10)

    /// - Parameter file: Where to keep them. Its folder must exist.
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
        // Another process may be doing the same, and be done by the second time.
        do { try Self.migrator.migrate(database) } catch { try Self.migrator.migrate(database) }
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
        // 0.1.0 can still write its rows.
        migrator.registerMigration("2") { database in
            try database.execute(
                sql: """
                    ALTER TABLE item ADD COLUMN lane text;
                    ALTER TABLE item ADD COLUMN isSent integer NOT NULL DEFAULT 0;
                    ALTER TABLE item ADD COLUMN isOver integer NOT NULL DEFAULT 0;
                    ALTER TABLE item ADD COLUMN holder text;
                    ALTER TABLE item ADD COLUMN until integer;
                    CREATE TABLE decision (
                      account text NOT NULL, id integer NOT NULL, decision blob NOT NULL, at integer NOT NULL,
                      PRIMARY KEY (account, id)
                    ) WITHOUT ROWID;
                    CREATE TABLE opened (account text NOT NULL PRIMARY KEY, mark text NOT NULL) WITHOUT ROWID;
                    """)
            let rows = try Row.fetchAll(database, sql: "SELECT account, item FROM item")
            for row in rows {
                guard let account: String = row[0], let encoded: Data = row[1],
                    let item = try? JSONDecoder().decode(OutboxItem.self, from: encoded)
                else { continue }
                try Self.write(item, encoded, of: account, into: database)
            }
        }
        return migrator
    }

    public func load(_ account: AccountID) async throws -> LocalAccount {
        try await open(account)
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

    // MARK: Who has opened it

    /// Opens an account anew: what others did to it before doesn't matter.
    private func open(_ account: AccountID) async throws {
        let mark = UUID().uuidString
        let found = try await database.read { try Self.mark(of: account, in: $0) }
        if let found { return marks.withLock { $0[account] = found } }
        do {
            let opened = try await database.write { database in
                try database.execute(
                    sql: "INSERT OR IGNORE INTO opened (account, mark) VALUES (?, ?)", arguments: ["\(account)", mark])
                return try Self.mark(of: account, in: database)
            }
            marks.withLock { $0[account] = opened }
        } catch {
            // What a device that can't write has kept can still be read. Whoever writes first opens it.
            marks.withLock { $0[account] = nil }
        }
    }

    private static func mark(of account: AccountID, in database: Database) throws -> String? {
        try String.fetchOne(database, sql: "SELECT mark FROM opened WHERE account = ?", arguments: ["\(account)"])
    }

    /// Writes for an account that nobody has forgotten since it was opened.
    private func write<Value: Sendable>(
        _ account: AccountID, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let known = marks.withLock { $0[account] }
        let (value, mark) = try await database.write { database in
            let mark: String
            switch (known, try Self.mark(of: account, in: database)) {
            case (let known?, let found): if found == known { mark = known } else { throw ForgottenAccount() }
            case (nil, let found?): mark = found
            case (nil, nil):
                mark = UUID().uuidString
                try database.execute(
                    sql: "INSERT INTO opened (account, mark) VALUES (?, ?)", arguments: ["\(account)", mark])
            }
            return (try body(database), mark)
        }
        if known == nil { marks.withLock { $0[account] = mark } }
        return value
    }

    // MARK: Items

    /// Writes an item with what SQL has to know of it. Whoever held it doesn't any more.
    private static func write(
        _ item: OutboxItem, _ encoded: Data, of account: String, into database: Database, holder: String? = nil,
        until: Instant? = nil
    ) throws {
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO item (account, id, item, lane, isSent, isOver, holder, until)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                account, item.id, encoded, item.lane, item.isSent, item.isOver, holder, until?.microseconds,
            ])
    }

    private static func remove(_ item: OutboxItem.ID, of account: AccountID, from database: Database) throws {
        try database.execute(
            sql: "DELETE FROM item WHERE account = ? AND id = ?", arguments: ["\(account)", item])
    }

    private static func decide(
        _ item: OutboxItem.ID, _ decision: Data, of account: AccountID, in database: Database
    ) throws {
        let now = Instant.now
        try database.execute(
            sql: "DELETE FROM decision WHERE at NOT BETWEEN ? AND ?",
            arguments: [(now - memory).microseconds, (now + memory).microseconds])
        try database.execute(
            sql: "INSERT OR REPLACE INTO decision (account, id, decision, at) VALUES (?, ?, ?, ?)",
            arguments: ["\(account)", item, decision, now.microseconds])
    }

    private static func isDecided(_ item: OutboxItem.ID, of account: AccountID, in database: Database) throws -> Bool {
        try Row.fetchOne(
            database, sql: "SELECT 1 FROM decision WHERE account = ? AND id = ?", arguments: ["\(account)", item])
            != nil
    }

    /// Removes those that weren't sent.
    /// - Returns: Those that were.
    private static func replace(
        _ others: [OutboxItem.ID], deciding decision: Data?, of account: AccountID, in database: Database
    ) throws -> Set<OutboxItem.ID> {
        var kept: Set<OutboxItem.ID> = []
        for other in others {
            let isSent = try Bool.fetchOne(
                database, sql: "SELECT isSent FROM item WHERE account = ? AND id = ?", arguments: ["\(account)", other])
            switch isSent {
            case true?: kept.insert(other)
            case false?:
                try remove(other, of: account, from: database)
                if let decision { try decide(other, decision, of: account, in: database) }
            case nil: break
            }
        }
        return kept
    }

    public func save(_ item: OutboxItem, of account: AccountID) async throws {
        try await save(item, replacing: [], of: account)
    }

    public func save(_ item: OutboxItem, replacing others: [OutboxItem.ID], of account: AccountID) async throws {
        let encoded = try JSONEncoder().encode(item)
        try await write(account) { database in
            for other in others { try Self.remove(other, of: account, from: database) }
            try Self.write(item, encoded, of: "\(account)", into: database)
        }
    }

    public func add(
        _ item: OutboxItem, replacing others: [OutboxItem.ID], deciding decision: Data, of account: AccountID
    ) async throws -> Set<OutboxItem.ID> {
        let encoded = try JSONEncoder().encode(item)
        return try await write(account) { database in
            let kept = try Self.replace(others, deciding: decision, of: account, in: database)
            let isThere = try Row.fetchOne(
                database, sql: "SELECT 1 FROM item WHERE account = ? AND id = ?",
                arguments: ["\(account)", item.id])
            if try isThere == nil && !Self.isDecided(item.id, of: account, in: database) {
                try Self.write(item, encoded, of: "\(account)", into: database)
            }
            return kept
        }
    }

    public func update(
        _ item: OutboxItem, _ update: SharedUpdate, of account: AccountID
    ) async throws -> SharedUpdate.Outcome {
        let encoded = try JSONEncoder().encode(item)
        return try await write(account) { database in
            let row = try Row.fetchOne(
                database, sql: "SELECT item, isSent, holder, until FROM item WHERE account = ? AND id = ?",
                arguments: ["\(account)", item.id])
            if let row {
                let (content, isSent, holder): (Data, Bool, String?) = (row[0], row[1], row[2])
                let until = (row[3] as Int64?).map { Instant(microseconds: $0) }
                if update.isHeld(by: holder, until: until) { return .held }
                // Sent by somebody else under a key that this process doesn't know.
                if isSent, holder != update.holder,
                    let known = try? JSONDecoder().decode(OutboxItem.self, from: content), !known.isSame(as: item)
                {
                    return .held
                }
            } else {
                // A card says what became of it, so it comes after that.
                guard try update.isNew && (item.isOver || !Self.isDecided(item.id, of: account, in: database))
                else { return .gone }
            }
            if update.until != nil {
                let earlier = try Int64.fetchAll(
                    database,
                    sql: "SELECT id FROM item WHERE account = ? AND id < ? AND lane = ? AND NOT isOver",
                    arguments: ["\(account)", item.id, item.lane])
                let over = update.over.union(update.replaced)
                if earlier.contains(where: { !over.contains($0) }) { return .held }
            }
            _ = try Self.replace(update.replaced, deciding: nil, of: account, in: database)
            try Self.write(
                item, encoded, of: "\(account)", into: database, holder: update.until.map { _ in update.holder },
                until: update.until)
            if let decision = update.decision { try Self.decide(item.id, decision, of: account, in: database) }
            return .done
        }
    }

    public func remove(_ item: OutboxItem.ID, of account: AccountID) async throws {
        try await write(account) { try Self.remove(item, of: account, from: $0) }
    }

    public func end(_ item: OutboxItem.ID, deciding decision: Data, of account: AccountID) async throws {
        try await write(account) { database in
            try Self.remove(item, of: account, from: database)
            try Self.decide(item, decision, of: account, in: database)
        }
    }

    public func version() async throws -> Int64 {
        // SQLite counts the other connections' transactions, and finds that in memory that all of them share.
        try await database.read { try Int64.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
    }

    public func changes(of account: AccountID) async throws -> SharedChanges {
        let known = marks.withLock { $0[account] }
        let (items, decisions) = try await database.read { database in
            if let known, try Self.mark(of: account, in: database) != known { throw ForgottenAccount() }
            let items = try Data.fetchAll(
                database, sql: "SELECT item FROM item WHERE account = ? ORDER BY id", arguments: ["\(account)"])
            let decisions = try Row.fetchAll(
                database, sql: "SELECT id, decision FROM decision WHERE account = ?", arguments: ["\(account)"])
            return (items, decisions.map { row in (row[0] as Int64, row[1] as Data) })
        }
        return SharedChanges(
            items: items.compactMap { try? JSONDecoder().decode(OutboxItem.self, from: $0) },
            decisions: Dictionary(decisions) { $1 })
    }

    // MARK: Copies

    public func save(
        _ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID
    ) async throws {
        try await write(account) { database in
            for item in items { try Self.remove(item, of: account, from: database) }
            for copy in copies {
                try database.execute(
                    sql: """
                        INSERT OR REPLACE INTO copy (account, sequence, place, asOf, state) VALUES (?, ?, ?, ?, ?)
                        """,
                    arguments: ["\(account)", copy.sequence, copy.place, copy.asOf.microseconds, copy.state])
            }
        }
    }

    // MARK: Forgetting

    public func forget(_ account: AccountID) async throws {
        marks.withLock { $0[account] = nil }
        try await delete(where: "account IS ?", account)
    }

    public func forgetOthers(than account: AccountID?) async throws {
        try await delete(where: "account IS NOT ?", account)
    }

    private func delete(where condition: String, _ account: AccountID?) async throws {
        let account = account.map { "\($0)" }
        try await database.write { database in
            for table in ["item", "copy", "decision", "opened"] {
                try database.execute(sql: "DELETE FROM \(table) WHERE \(condition)", arguments: [account])
            }
        }
        // The log before the checkpoint has it, too. While another process reads, this fails, and has to be repeated.
        try await database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }
}
