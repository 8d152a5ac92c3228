import Foundation
import GRDB
import QuartetClient
import QuartetVocabulary

/// How a store opens its file, and begins another one where that is damaged.
struct StoreOpening: Sendable {
    /// A file, and a connection to it.
    struct Opened: Sendable {
        let file: StoreFile
        let identity: StoreFile.Identity
        let database: DatabaseQueue
        var isMigrated = false
        /// Counts those that a store has gone on with.
        var count = 0

        /// Whether the file is there as it was opened, and no process has found it damaged.
        var isNewest: Bool { file.isNewest && file.isStill(identity) }

        /// - Parameter data: What SQLite says of the file's.
        func version(_ data: UInt32) -> Int64 { Int64(count) << 32 + Int64(data) }
    }

    /// SQL that a connection begins with.
    var statements: String?
    /// Keeps a file out of the device's backups.
    var exclude: @Sendable (URL) -> Void = { DeviceBackup.exclude($0) }
    /// What SQLite has to say of each page; nothing else than `ok` for a file without damage. What is damaged shows else only once it is
    /// read, which may be when somebody calls for help.
    var complaints: @Sendable (Database) throws -> [String] = {
        try String.fetchAll($0, sql: "PRAGMA quick_check(10)")
    }
    /// Reads all of a file.
    var read: @Sendable (StoreFile) throws -> StoreFile.Content = { try $0.read() }

    /// By this time, decisions are remembered.
    var now: @Sendable () -> Instant = { .now }
    /// This process alone has it, and nobody can set it.
    var uptime: @Sendable () -> Duration = Timekeeper.live.now

    /// Gives the next file its name.
    var name: @Sendable (_ new: URL, StoreFile) throws -> Void = { try $1.take($0) }

    func open(_ base: URL) throws -> Opened {
        let file = try StoreFile.newest(of: base)
        if let opened = try Self.unlessDamaged({ try open(file, isChecked: true) }) { return opened }
        // A device that fails to read something for a moment looks the same to SQLite: it has to read all of it, and SQLite to find the
        // same again. Of what can't be read now, the rest is used meanwhile.
        let content: StoreFile.Content
        do { content = try read(file) } catch { return try open(file, isChecked: false) }
        guard !content.isLater else { throw StoreUnreadable("only a later release of SQLite can read it") }
        guard content.isDatabase || content.isWhole || file.number > 0 else {
            throw StoreUnreadable("it isn't a file of SQLite's")
        }
        if let opened = try Self.unlessDamaged({ try open(file, isChecked: true) }) { return opened }
        do { try renew(file) } catch {
            // On a full disk, what can be read is sent all the same.
            guard let opened = try? open(file, isChecked: false) else { throw error }
            return opened
        }
        return try open(try StoreFile.newest(of: base), isChecked: true)
    }

    private func open(_ file: StoreFile, isChecked: Bool) throws -> Opened {
        try file.create()
        let identity = try file.identity()
        // To SQLite, it would be a new one.
        if isChecked, file.isEmptied { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "it was emptied") }
        // One of 0.1.0 is in them until now.
        excludeAll(of: file)
        let database = try DatabaseQueue(path: file.url.path, configuration: configuration)
        if isChecked { try check(database) }
        var isMigrated = true
        do { try Self.migrate(database) } catch {
            // What 0.1.0 kept can be read also on a full disk. Whatever is written first tries again.
            guard (try? database.read { try $0.tableExists("item") }) == true else { throw error }
            isMigrated = false
        }
        excludeAll(of: file)
        return Opened(file: file, identity: identity, database: database, isMigrated: isMigrated)
    }

    private var configuration: Configuration {
        var configuration = Self.plain
        configuration.prepareDatabase { [statements] database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.execute(sql: "PRAGMA secure_delete = ON")
            if let statements { try database.execute(sql: statements) }
        }
        return configuration
    }

    private static var plain: Configuration {
        var configuration = Configuration()
        // Another process of the app may have it: a widget.
        configuration.busyMode = .timeout(5)
        return configuration
    }

    private func excludeAll(of file: StoreFile) {
        for file in file.all where FileManager.default.fileExists(atPath: file.path) { exclude(file) }
    }

    // MARK: Damage

    private func check(_ database: DatabaseQueue) throws {
        let complaints: [String]
        do { complaints = try database.read { try self.complaints($0) } } catch let error as DatabaseError
            where !Self.meansDamage(error)
        { return }
        // Of a page that couldn't be read, for want of memory for instance, it says what that failed with.
        let codes = complaints.joined(separator: "\n").matches(of: /error code[= ](\d+)/).compactMap { Int32($0.1) }
        guard complaints != ["ok"], codes.allSatisfy(Self.meansDamage) else { return }
        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: complaints.first)
    }

    /// Whether an error of SQLite's says that the file itself is damaged.
    static func meansDamage(_ code: Int32) -> Bool {
        [ResultCode.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(ResultCode(rawValue: code).primaryResultCode)
    }

    static func meansDamage(_ error: DatabaseError) -> Bool {
        guard meansDamage(error.extendedResultCode.rawValue) else { return false }
        // A later release has made a table that this one's SQLite can't make.
        let message = error.message ?? ""
        return !(message.hasPrefix("malformed database schema") && message.contains("syntax error"))
    }

    /// - Returns: Nil for a file that is damaged.
    static func unlessDamaged<Value>(_ body: () throws -> Value) throws -> Value? {
        do { return try body() } catch let error as DatabaseError where meansDamage(error) { return nil }
    }

    // MARK: The next file

    /// Begins another file with what can be read of one. Until the other one has its name, nobody else writes, so what was written is
    /// either in there, or is written again by whoever finds it beside this one.
    private func renew(
        _ file: StoreFile, leavingOut change: (inout StoreRemains) -> Void = { _ in }
    ) throws {
        guard let old = try Self.unlessDamaged({ try DatabaseQueue(path: file.url.path, configuration: Self.plain) })
        else {
            var remains = StoreRemains()
            change(&remains)
            return try begin(file, with: remains)
        }
        try old.writeWithoutTransaction { database in
            _ = try Self.unlessDamaged { try database.beginTransaction(.immediate) }
            defer { if database.isInsideTransaction { try? database.rollback() } }
            // Nobody else is at it.
            if database.isInsideTransaction { try file.removeNew() }
            var remains = try StoreRemains(of: database)
            change(&remains)
            try begin(file, with: remains)
        }
    }

    /// Begins another file without what can't be erased in this one. Where that can't be done, on a full disk for instance, this one is
    /// removed, unless others may have changes in it.
    /// - Parameter forget: Leaves out what is to be erased.
    func erase(_ file: StoreFile, _ forget: (inout StoreRemains) -> Void) throws {
        var hasOthers = false
        do {
            try renew(file) { remains in
                forget(&remains)
                hasOthers = remains.hasChanges
            }
        } catch {
            guard !hasOthers, !Self.isBusy(error) else { throw error }
            try file.remove()
        }
    }

    private static func isBusy(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return [ResultCode.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode)
    }

    /// Whether a file can't be written because a part of it can't be read.
    static func isUnreadable(_ error: DatabaseError) -> Bool {
        meansDamage(error) || error.resultCode == .SQLITE_IOERR
    }

    private func begin(_ file: StoreFile, with remains: StoreRemains) throws {
        guard file.isNewest else { return }
        let new = try file.makeNew()
        exclude(new)
        defer { try? FileManager.default.removeItem(at: new) }
        let database = try DatabaseQueue(path: new.path, configuration: Self.plain)
        try Self.migrate(database)
        try database.write { try remains.write(into: $0) }
        try database.close()
        try name(new, file.next)
        // The oldest has the most of what can't be read, and this one what was done since.
        for former in try file.former().dropFirst() { try? former.empty() }
    }

    // MARK: Tables

    static func migrate(_ database: DatabaseQueue) throws {
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
}

/// Why a store's file, which may be in order, can't be opened.
struct StoreUnreadable: LocalizedError, CustomStringConvertible {
    let description: String
    var errorDescription: String? { Texts.current["problem.storeUnreadable"] }

    init(_ description: String) { self.description = description }
}
