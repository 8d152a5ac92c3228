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
/// opens a store of its own. Nothing that one keeps is lost or doubled by another: an item's number is nobody else's, all processes
/// send an item under the same key, what one has removed no other writes back, and each learns what became of its changes. After a
/// sign-out in one, the others can write nothing.
public final class DatabaseStore: MultiprocessStore {
    private let database: DatabaseQueue
    /// The mark under which each account was opened. The file has another one once somebody has forgotten the account.
    private let marks = Mutex<[AccountID: String]>([:])
    /// Which copies this process has read or written last.
    private let copyVersions = Mutex<[AccountID: [String: Int64]]>([:])
    private let isMigrated = Mutex(false)
    /// For how long others can learn what became of an item.
    private static let memory: Interval = .minutes(10)
    /// How far apart processes may be about the server's time.
    private static let clockError: Interval = .seconds(10)

    /// - Parameter file: Where to keep them. Its folder must exist.
    /// - Throws: If it can't be opened or isn't such a file.
    public convenience init(_ file: URL) throws { try self.init(file, running: nil) }

    /// - Parameter statements: SQL that the connection begins with.
    init(_ file: URL, running statements: String?) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.execute(sql: "PRAGMA secure_delete = ON")
            if let statements { try database.execute(sql: statements) }
        }
        // Another process of the app may have it: a widget.
        configuration.busyMode = .timeout(5)
        if !FileManager.default.fileExists(atPath: file.path) {
            _ = FileManager.default.createFile(
                atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        database = try DatabaseQueue(path: file.path, configuration: configuration)
        do { try migrate() } catch {
            // What 0.1.0 kept can be read also on a full disk. Whatever is written first tries again.
            guard (try? database.read { try $0.tableExists("item") }) == true else { throw error }
        }
    }

    private func migrate() throws {
        guard !isMigrated.withLock({ $0 }) else { return }
        // Another process may be doing the same, and be done by the second time.
        do { try Self.migrator.migrate(database) } catch { try Self.migrator.migrate(database) }
        isMigrated.withLock { $0 = true }
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
                    ALTER TABLE item ADD COLUMN sender text;
                    ALTER TABLE item ADD COLUMN lane text;
                    ALTER TABLE copy ADD COLUMN version integer NOT NULL DEFAULT 0;
                    CREATE TABLE decision (
                      account text NOT NULL, id integer NOT NULL, decision blob NOT NULL, at integer NOT NULL,
                      PRIMARY KEY (account, id)
                    ) WITHOUT ROWID;
                    CREATE INDEX decisionAt ON decision (at);
                    CREATE TABLE opened (account text NOT NULL PRIMARY KEY, mark text NOT NULL) WITHOUT ROWID;
                    """)
        }
        return migrator
    }

    public func load(_ account: AccountID) async throws -> LocalAccount {
        // A device that can't write has what it had.
        if (try? migrate()) != nil { try await open(account) }
        let (items, copies) = try await database.read { database in
            let items = try Self.items(of: account, in: database)
            let rows = try Row.fetchAll(
                database, sql: "SELECT * FROM copy WHERE account = ?", arguments: ["\(account)"])
            return (
                items,
                rows.map { row in
                    (
                        copy: LocalCopy(
                            sequence: row["sequence"], place: row["place"], state: row["state"],
                            asOf: Instant(microseconds: row["asOf"])),
                        version: (row["version"] as Int64?) ?? 0
                    )
                }
            )
        }
        copyVersions.withLock { versions in
            versions[account] = Dictionary(copies.map { ($0.copy.sequence, $0.version) }) { $1 }
        }
        return LocalAccount(items: items.readable, copies: copies.map(\.copy))
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
        try migrate()
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

    /// A newer version of the app may have kept items that this one can't read.
    private static func items(
        of account: AccountID, in database: Database
    ) throws -> (readable: [OutboxItem], ids: Set<OutboxItem.ID>) {
        let rows = try Row.fetchAll(
            database, sql: "SELECT id, item FROM item WHERE account = ? ORDER BY id", arguments: ["\(account)"])
        let decoder = JSONDecoder()
        return (
            rows.compactMap { row in try? decoder.decode(OutboxItem.self, from: row["item"] as Data) },
            Set(rows.map { $0["id"] as Int64 })
        )
    }

    private static func write(
        _ item: OutboxItem, _ encoded: Data, of account: AccountID, into database: Database, sender: String? = nil
    ) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO item (account, id, item, sender, lane) VALUES (?, ?, ?, ?, ?)",
            arguments: ["\(account)", item.id, encoded, sender, item.lane])
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
            sql: "DELETE FROM decision WHERE at < ? OR at > ?",
            arguments: [(now - memory).microseconds, (now + memory).microseconds])
        try database.execute(
            sql: "INSERT OR REPLACE INTO decision (account, id, decision, at) VALUES (?, ?, ?, ?)",
            arguments: ["\(account)", item, decision, now.microseconds])
    }

    private static func decision(
        of item: OutboxItem.ID, of account: AccountID, in database: Database
    ) throws -> Data? {
        try Data.fetchOne(
            database, sql: "SELECT decision FROM decision WHERE account = ? AND id = ?",
            arguments: ["\(account)", item])
    }

    private enum Stored {
        case nothing
        /// A newer version of the app has made something of it that this one can't read.
        case unreadable
        case item(OutboxItem, sender: String?)
    }

    private static func stored(_ item: OutboxItem.ID, of account: AccountID, in database: Database) throws -> Stored {
        let row = try Row.fetchOne(
            database, sql: "SELECT item, sender FROM item WHERE account = ? AND id = ?",
            arguments: ["\(account)", item])
        guard let row else { return .nothing }
        guard let found = try? JSONDecoder().decode(OutboxItem.self, from: row["item"] as Data) else {
            return .unreadable
        }
        return .item(found, sender: row["sender"])
    }

    /// Removes one whose place another takes, if it is there and wasn't sent.
    private static func isReplaced(
        _ other: OutboxItem.ID, of account: AccountID, in database: Database
    ) throws -> Bool {
        guard case .item(let item, _) = try stored(other, of: account, in: database), !item.isSent, !item.isOver else {
            return false
        }
        try remove(other, of: account, from: database)
        return true
    }

    public func save(_ item: OutboxItem, of account: AccountID) async throws {
        try await save(item, replacing: [], of: account)
    }

    public func save(_ item: OutboxItem, replacing others: [OutboxItem.ID], of account: AccountID) async throws {
        let encoded = try JSONEncoder().encode(item)
        try await write(account) { database in
            for other in others { try Self.remove(other, of: account, from: database) }
            try Self.write(item, encoded, of: account, into: database)
        }
    }

    public func add(_ addition: StoreAddition, of account: AccountID) async throws -> Set<OutboxItem.ID> {
        let (item, joined) = (addition.item, addition.joined)
        let encoded = try JSONEncoder().encode(item)
        let encodedJoined = try joined.map { try JSONEncoder().encode($0.item) }
        return try await write(account) { database in
            var removed: Set<OutboxItem.ID> = []
            for (other, decision) in addition.others where try Self.isReplaced(other, of: account, in: database) {
                try Self.decide(other, decision, of: account, in: database)
                removed.insert(other)
            }
            if case .nothing = try Self.stored(item.id, of: account, in: database),
                try Self.decision(of: item.id, of: account, in: database) == nil
            {
                if let joined, let encodedJoined, removed.contains(joined.earlier) {
                    try Self.write(joined.item, encodedJoined, of: account, into: database)
                } else {
                    try Self.write(item, encoded, of: account, into: database)
                }
            }
            return removed
        }
    }

    public func update(
        _ item: OutboxItem, _ update: StoreUpdate, of account: AccountID
    ) async throws -> StoreUpdate.Outcome {
        let encoded = try JSONEncoder().encode(item)
        return try await write(account) { database in
            let sender: String?
            switch try Self.stored(item.id, of: account, in: database) {
            case .unreadable: return .gone(nil)
            case .nothing:
                let decision = try Self.decision(of: item.id, of: account, in: database)
                // Whoever has removed it for a later one keeps a card of it.
                guard decision == nil ? update.isNew : decision == update.decision else { return .gone(decision) }
                if update.step == .prepare, try Self.isBehind(item, update, of: account, in: database) {
                    return .behind
                }
                sender = update.step == .prepare ? update.process : nil
            case .item(let stored, let known):
                let verdict = update.verdict(for: item, on: stored, sentBy: known)
                guard verdict.written != nil else {
                    if verdict.sender != known {
                        try database.execute(
                            sql: "UPDATE item SET sender = ? WHERE account = ? AND id = ?",
                            arguments: [verdict.sender, "\(account)", item.id])
                    }
                    return verdict.outcome
                }
                if update.step == .prepare, !stored.isSent,
                    try Self.isBehind(item, update, of: account, in: database)
                {
                    return .behind
                }
                sender = verdict.sender
            }
            for other in update.replaced { _ = try Self.isReplaced(other, of: account, in: database) }
            try Self.write(item, encoded, of: account, into: database, sender: sender)
            if let decision = update.decision { try Self.decide(item.id, decision, of: account, in: database) }
            return .done
        }
    }

    private static func isBehind(
        _ item: OutboxItem, _ update: StoreUpdate, of account: AccountID, in database: Database
    ) throws -> Bool {
        let rows = try Data.fetchCursor(
            // Of what 0.1.0 kept, only the item itself says where it belongs.
            database, sql: "SELECT item FROM item WHERE account = ? AND id < ? AND (lane = ? OR lane IS NULL)",
            arguments: ["\(account)", item.id, item.lane])
        let decoder = JSONDecoder()
        while let row = try rows.next() {
            // What can't be read can't hold anything back.
            if let earlier = try? decoder.decode(OutboxItem.self, from: row), update.isBehind(earlier, item) {
                return true
            }
        }
        return false
    }

    public func remove(_ item: OutboxItem.ID, of account: AccountID) async throws {
        try await write(account) { try Self.remove(item, of: account, from: $0) }
    }

    public func end(
        _ item: OutboxItem.ID, knownAs base: OutboxItem?, deciding decision: Data, of account: AccountID
    ) async throws -> StoreUpdate.Outcome {
        try await write(account) { database in
            switch try Self.stored(item, of: account, in: database) {
            case .nothing:
                if let known = try Self.decision(of: item, of: account, in: database) { return .gone(known) }
                return .gone(nil)
            case .item(let stored, _) where !stored.canEnd(knownAs: base): return .other(stored)
            case .item, .unreadable: break
            }
            try Self.remove(item, of: account, from: database)
            try Self.decide(item, decision, of: account, in: database)
            return .done
        }
    }

    public func version() async throws -> Int64 {
        // SQLite counts the other connections' transactions, and finds that in memory that all of them share.
        try await database.read { try Int64.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
    }

    public func changes(of account: AccountID) async throws -> StoreChanges {
        let known = marks.withLock { $0[account] }
        let (items, decisions) = try await database.read { database in
            if let known, try Self.mark(of: account, in: database) != known { throw ForgottenAccount() }
            let items = try Self.items(of: account, in: database)
            let decisions = try Row.fetchAll(
                database, sql: "SELECT id, decision FROM decision WHERE account = ?", arguments: ["\(account)"])
            return (items, decisions.map { row in (row[0] as Int64, row[1] as Data) })
        }
        return StoreChanges(items: items.readable, ids: items.ids, decisions: Dictionary(decisions) { $1 })
    }

    // MARK: Copies

    public func save(
        _ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID
    ) async throws {
        let known = copyVersions.withLock { $0[account] ?? [:] }
        let written = try await write(account) { database in
            var written: [String: Int64] = [:]
            for copy in copies {
                let found = try Row.fetchOne(
                    database, sql: "SELECT version, asOf FROM copy WHERE account = ? AND sequence = ?",
                    arguments: ["\(account)", copy.sequence])
                let (version, asOf) = ((found?[0] as Int64?) ?? 0, (found?[1] as Int64?) ?? 0)
                // Two processes' copies have no order but their time, and only where that is clear.
                guard
                    version == known[copy.sequence] ?? 0
                        || Instant(microseconds: asOf) + Self.clockError < copy.asOf
                else { throw OutdatedCopy() }
                written[copy.sequence] = version + 1
                try database.execute(
                    sql: """
                        INSERT OR REPLACE INTO copy (account, sequence, place, asOf, state, version)
                        VALUES (?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        "\(account)", copy.sequence, copy.place, copy.asOf.microseconds, copy.state, version + 1,
                    ])
            }
            for item in items { try Self.remove(item, of: account, from: database) }
            return written
        }
        copyVersions.withLock { $0[account, default: [:]].merge(written) { $1 } }
    }

    // MARK: Forgetting

    public func openings() async throws -> Set<String> {
        try await database.read { database in
            // A file that couldn't be brought up to date has none.
            guard try database.tableExists("opened") else { return [] }
            return try String.fetchSet(database, sql: "SELECT mark FROM opened")
        }
    }

    public func forget(_ account: AccountID) async throws { try await erase(account, openedAs: nil) }

    public func forget(_ account: AccountID, openedAs openings: Set<String>) async throws {
        try await erase(account, openedAs: openings)
    }

    private func erase(_ account: AccountID, openedAs openings: Set<String>?) async throws {
        marks.withLock { $0[account] = nil }
        copyVersions.withLock { $0[account] = nil }
        try await delete(where: "account IS ?", account, openedAs: openings)
    }

    public func forgetOthers(than account: AccountID?) async throws {
        try await delete(where: "account IS NOT ?", account, openedAs: nil)
    }

    public func forgetOthers(than account: AccountID?, openedAs openings: Set<String>) async throws {
        try await delete(where: "account IS NOT ?", account, openedAs: openings)
    }

    /// - Parameter openings: Nil for all.
    private func delete(
        where condition: String, _ account: AccountID?, openedAs openings: Set<String>?
    ) async throws {
        let account = account.map { "\($0)" }
        try await database.write { database in
            var kept: [String] = []
            if let openings, try database.tableExists("opened") {
                // Somebody may have signed in since, in another process.
                kept = try Row.fetchAll(database, sql: "SELECT account, mark FROM opened")
                    .filter { !openings.contains($0["mark"]) }.map { $0["account"] }
            }
            let others = kept.map { _ in "?" }.joined(separator: ", ")
            for table in ["item", "copy", "decision", "opened"] {
                // A file that couldn't be brought up to date has less.
                guard try database.tableExists(table) else { continue }
                try database.execute(
                    sql: "DELETE FROM \(table) WHERE \(condition) AND account NOT IN (\(others))",
                    arguments: StatementArguments([account] + kept))
            }
        }
        // The log before the checkpoint has it, too. While another process reads, this fails, and has to be repeated.
        try await database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }
}
