public import Foundation
import GRDB
public import QuartetClient
public import QuartetVocabulary
import Synchronization

/// Keeps changes and copies in a file of SQLite's, so that they outlive the app, however it ends.
///
/// A transaction is on the disk when its function returns. What is forgotten is overwritten, the file can be read by the user who runs
/// the app alone, and the device's backups don't have it.
///
/// Any number of processes may have the file, such as an app and its widget, if they have the same tokens as well; each connection
/// opens a store of its own. Nothing that one keeps is lost or doubled by another: an item's number is nobody else's, all processes
/// send an item under the same key, what one has removed no other writes back, and each learns what became of its changes. After a
/// sign-out in one, the others can write nothing.
public final class DatabaseStore: MultiprocessStore {
    /// A file, and a connection to it.
    private struct Opened: Sendable {
        let file: StoreFile
        let database: DatabaseQueue
        var isMigrated = false
    }

    private let opened: Mutex<Opened>
    /// The mark under which each account was opened. The file has another one once somebody has forgotten the account.
    let marks = Mutex<[AccountID: String]>([:])
    /// Which copies this process has read or written last.
    private let copyVersions = Mutex<[AccountID: [String: Int64]]>([:])
    private let statements: String?
    private let exclude: @Sendable (URL) -> Void
    /// How far apart processes may be about the server's time.
    private static let clockError: Interval = .seconds(10)

    /// Opens a file, or makes it. One that is broken stays where it is (``setAside``), and the store begins another one beside it.
    /// - Parameter file: Where to keep them. Its folder must exist.
    /// - Throws: If it can't be opened now: the disk is full, the device is locked, another process keeps it busy, or a right is missing.
    public convenience init(_ file: URL) throws { try self.init(file, running: nil) }

    /// - Parameters:
    ///   - statements: SQL that the connection begins with.
    ///   - exclude: Keeps a file out of the device's backups.
    init(
        _ file: URL, running statements: String?,
        excluding exclude: @escaping @Sendable (URL) -> Void = DeviceBackup.exclude
    ) throws {
        self.statements = statements
        self.exclude = exclude
        opened = Mutex(try Self.open(file, running: statements, excluding: exclude))
    }

    var database: DatabaseQueue { opened.withLock { $0.database } }
    /// Counts the files that the store has had.
    var number: Int { opened.withLock { $0.file.number } }

    /// The file that was found broken, as it was, by this process or another one; nil if there is none. It is there until
    /// ``removeSetAside()``, until somebody signs out, since it may be about them, or until another one is set aside.
    public var setAside: URL? {
        let file = opened.withLock { $0.file }
        return (try? file.former())?.last?.url
    }

    /// Removes what was set aside, once its person knows and nobody needs it.
    public func removeSetAside() throws {
        for file in try opened.withLock({ $0.file }).former() { try file.remove() }
    }

    // MARK: Opening

    private static func open(
        _ base: URL, running statements: String?, excluding exclude: (URL) -> Void
    ) throws -> Opened {
        let file = try StoreFile.newest(of: base)
        do { return try open(file, running: statements, excluding: exclude) } catch let error as DatabaseError
            where meansBroken(error.resultCode.rawValue)
        {
            try file.next.create()
            for former in try file.former() { try? former.remove() }
        }
        return try open(try StoreFile.newest(of: base), running: statements, excluding: exclude)
    }

    private static func open(
        _ file: StoreFile, running statements: String?, excluding exclude: (URL) -> Void
    ) throws -> Opened {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.execute(sql: "PRAGMA secure_delete = ON")
            if let statements { try database.execute(sql: statements) }
        }
        // Another process of the app may have it: a widget.
        configuration.busyMode = .timeout(5)
        try file.create()
        let database = try DatabaseQueue(path: file.url.path, configuration: configuration)
        try check(database)
        var isMigrated = true
        do { try migrate(database) } catch {
            // What 0.1.0 kept can be read also on a full disk. Whatever is written first tries again.
            guard (try? database.read { try $0.tableExists("item") }) == true else { throw error }
            isMigrated = false
        }
        for file in file.all where FileManager.default.fileExists(atPath: file.path) { exclude(file) }
        return Opened(file: file, database: database, isMigrated: isMigrated)
    }

    /// Whether an error of SQLite's says that the file itself is damaged, which no later try mends.
    static func meansBroken(_ code: Int32) -> Bool {
        [ResultCode.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(ResultCode(rawValue: code).primaryResultCode)
    }

    /// Looks at each page: what is damaged shows else only once it is read, which may be when somebody calls for help.
    private static func check(_ database: DatabaseQueue) throws {
        try database.read { database in
            guard try String.fetchOne(database, sql: "PRAGMA quick_check(1)") != "ok" else { return }
            // That complains of pages which the device can't read now, too. To read them says why.
            for table in try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'") {
                let rows = try Row.fetchCursor(database, sql: "SELECT * FROM \"\(table)\"")
                while try rows.next() != nil {}
            }
            throw DatabaseError(resultCode: .SQLITE_CORRUPT)
        }
    }

    /// Goes on with the file that another process has begun since it found this one broken. What is known here of the accounts isn't in
    /// there, so it is as after a sign-out and a sign-in in that process.
    /// - Returns: Whether there is one.
    @discardableResult
    func takeUp() throws -> Bool {
        let file = opened.withLock { $0.file }
        guard !file.isNewest else { return false }
        let next = try Self.open(file.base, running: statements, excluding: exclude)
        opened.withLock { $0 = next }
        return true
    }

    private func migrate() throws {
        let opened = opened.withLock { $0 }
        guard !opened.isMigrated else { return }
        try Self.migrate(opened.database)
        self.opened.withLock { if $0.file == opened.file { $0.isMigrated = true } }
    }

    private static func migrate(_ database: DatabaseQueue) throws {
        // Another process may be doing the same, and be done by the second time.
        do { try migrator.migrate(database) } catch { try migrator.migrate(database) }
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
        try takeUp()
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

    static func mark(of account: AccountID, in database: Database) throws -> String? {
        try String.fetchOne(database, sql: "SELECT mark FROM opened WHERE account = ?", arguments: ["\(account)"])
    }

    /// Writes for an account that nobody has forgotten since it was opened.
    func write<Value: Sendable>(
        _ account: AccountID, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try takeUp()
        while true {
            let value = try await writeOnce(account, body)
            // Whoever set the file aside meanwhile doesn't have this.
            if try !takeUp() { return value }
        }
    }

    private func writeOnce<Value: Sendable>(
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
        try takeUp()
        return try await database.read { database in
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
        // Whose data is in what can't be read isn't known.
        try removeSetAside()
    }

    public func forgetOthers(than account: AccountID?) async throws {
        try await eraseOthers(than: account, openedAs: nil)
    }

    public func forgetOthers(than account: AccountID?, openedAs openings: Set<String>) async throws {
        try await eraseOthers(than: account, openedAs: openings)
    }

    private func eraseOthers(than account: AccountID?, openedAs openings: Set<String>?) async throws {
        try await delete(where: "account IS NOT ?", account, openedAs: openings)
        if account == nil { try removeSetAside() }
    }

    /// - Parameter openings: Nil for all.
    private func delete(
        where condition: String, _ account: AccountID?, openedAs openings: Set<String>?
    ) async throws {
        let account = account.map { "\($0)" }
        try takeUp()
        repeat { try await deleteOnce(where: condition, account, openedAs: openings) } while try takeUp()
    }

    private func deleteOnce(
        where condition: String, _ account: String?, openedAs openings: Set<String>?
    ) async throws {
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
