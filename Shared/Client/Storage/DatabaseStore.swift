public import Foundation
import GRDB
public import QuartetClient
public import QuartetVocabulary
import Synchronization

/// Keeps changes and copies in a file of SQLite's, so that they outlive the app, however it ends.
///
/// A transaction is on the disk when its function returns. What is forgotten is overwritten (what was set aside is only removed), the file
/// can be read by the user who runs the app alone, and the device's backups don't have it.
///
/// Any number of processes may have the file, such as an app and its widget, if they have the same tokens as well; each connection
/// opens a store of its own. Nothing that one keeps is lost or doubled by another: an item's number is nobody else's, all processes
/// send an item under the same key, what one has removed no other writes back, and each learns what became of its changes. After a
/// sign-out in one, the others can write nothing.
public final class DatabaseStore: MultiprocessStore {
    /// What is known of an account since it was opened.
    struct Opening: Sendable {
        /// The file has another one once somebody has forgotten the account; nil if this process couldn't write it.
        let mark: String?
        /// The file of which it is known what it has for the account.
        let number: Int
    }

    private let opened: Mutex<StoreOpening.Opened>
    let accounts = Mutex<[AccountID: Opening]>([:])
    /// Which copies this process has read or written last.
    private let copyVersions = Mutex<[AccountID: [String: Int64]]>([:])
    private let opening: StoreOpening
    /// How far apart processes may be about the server's time.
    private static let clockError: Interval = .seconds(10)

    /// Opens a file, or makes it. One that is damaged stays where it is (``setAside``), and the store begins another one beside it, with all
    /// changes that can be read.
    /// - Parameter file: Where to keep them. Its folder must exist.
    /// - Throws: If it can't be opened now: the disk is full or can't be read, the device is locked, another process keeps it busy, or a
    ///   right is missing. Also if it is no file of SQLite's.
    public convenience init(_ file: URL) throws { try self.init(file, StoreOpening()) }

    init(_ file: URL, _ opening: StoreOpening) throws {
        self.opening = opening
        // What has a name beside it would else be beside a link, and a sign-out would remove the link.
        opened = Mutex(try opening.open(file.resolvingSymlinksInPath()))
    }

    var current: StoreOpening.Opened { opened.withLock { $0 } }
    var database: DatabaseQueue { current.database }
    private var file: StoreFile { current.file }
    /// Counts the files that the store has had.
    var number: Int { file.number }

    /// The files that were found damaged, by this process or another one, the oldest first: of more than two, that one and the last. They
    /// are there until ``removeSetAside()``, and until somebody signs out or somebody else signs in, since they may be about others.
    ///
    /// Changes that could be read are in the store. What was damaged isn't.
    public var setAside: [URL] { ((try? file.former()) ?? []).filter { !$0.isEmpty }.map(\.url) }

    /// Removes what was set aside, once its person knows and nobody needs it.
    public func removeSetAside() throws {
        let file = self.file
        for former in try file.former() { try former.remove() }
        try file.removeNew()
    }

    // MARK: Opening

    /// Goes on with the file that another process has begun since it found this one damaged.
    func takeUp() throws {
        let file = self.file
        guard !file.isNewest else { return }
        let newest = try StoreFile.newest(of: file.base)
        guard newest != file || !file.exists else { return }
        let next = try opening.open(file.base)
        opened.withLock { if next.file.number >= $0.file.number { $0 = next } }
    }

    private func migrate() throws {
        let current = self.current
        guard !current.isMigrated else { return }
        try StoreOpening.migrate(current.database)
        opened.withLock { if $0.file == current.file { $0.isMigrated = true } }
    }

    public func load(_ account: AccountID) async throws -> LocalAccount {
        try takeUp()
        note(nil, of: account)
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
        var found = try await database.read { try Self.mark(of: account, in: $0) }
        if found == nil {
            // What a device that can't write has kept can still be read. Whoever writes first opens it.
            found = try? await database.write { database in
                try Self.adoptLostMark(for: account, in: database)
                try database.execute(
                    sql: "INSERT OR IGNORE INTO opened (account, mark) VALUES (?, ?)", arguments: ["\(account)", mark])
                return try Self.mark(of: account, in: database)
            }
        }
        note(found, of: account)
    }

    /// What this process knows of the account in an earlier file isn't known of this one.
    private func note(_ mark: String?, of account: AccountID) {
        let number = number
        accounts.withLock { $0[account] = Opening(mark: mark, number: $0[account]?.number ?? number) }
    }

    static func mark(of account: AccountID, in database: Database) throws -> String? {
        try String.fetchOne(database, sql: "SELECT mark FROM opened WHERE account = ?", arguments: ["\(account)"])
    }

    /// Writes for an account that nobody has forgotten since it was opened.
    /// - Throws: ``RenewedStore`` if another process has begun another file. Then nothing was written, or it has to be written again.
    func write<Value: Sendable>(
        _ account: AccountID, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try takeUp()
        let (known, current) = (accounts.withLock { $0[account] }, self.current)
        if let known, known.number != current.file.number { throw RenewedStore() }
        return try await write(account, to: current, knownAs: known?.mark, body)
    }

    private func write<Value: Sendable>(
        _ account: AccountID, to current: StoreOpening.Opened, knownAs known: String?,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try migrate()
        let file = current.file
        let (value, mark) = try await current.database.write { database in
            try Self.adoptLostMark(for: account, in: database)
            let mark: String
            switch (known, try Self.mark(of: account, in: database)) {
            case (let known?, let found?) where found == known || Self.isLost(found): mark = found
            case (.some, _): throw ForgottenAccount()
            case (nil, let found?): mark = found
            case (nil, nil):
                mark = UUID().uuidString
                try database.execute(
                    sql: "INSERT INTO opened (account, mark) VALUES (?, ?)", arguments: ["\(account)", mark])
            }
            return (try body(database), mark)
        }
        // Whoever has begun another file meanwhile may not have this.
        guard file.isNewest else { throw RenewedStore() }
        accounts.withLock { $0[account] = Opening(mark: mark, number: file.number) }
        return value
    }

    public func carryOn(_ items: [OutboxItem], of account: AccountID) async throws {
        let encoded = try items.map { ($0, try JSONEncoder().encode($0)) }
        try takeUp()
        let (known, current) = (accounts.withLock { $0[account] }, self.current)
        try await write(account, to: current, knownAs: known?.mark) { database in
            for (item, encoded) in encoded { try Self.add(item, encoded, of: account, to: database) }
        }
    }

    // MARK: Marks that are lost

    /// Nobody's account, with a mark for each one whose own couldn't be read in a damaged file.
    private static let (lost, lostPrefix) = ("", "lost-")

    private static func isLost(_ mark: String) -> Bool { mark.hasPrefix(lostPrefix) }

    /// Who had opened an account goes on.
    static func noteLostMarks(in database: Database) throws {
        try database.execute(
            sql: "INSERT INTO opened (account, mark) VALUES (?, ?)",
            arguments: [lost, "\(lostPrefix)\(UUID().uuidString)"])
    }

    private static func adoptLostMark(for account: AccountID, in database: Database) throws {
        try database.execute(
            sql: "INSERT OR IGNORE INTO opened (account, mark) SELECT ?, mark FROM opened WHERE account = ?",
            arguments: ["\(account)", lost])
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
        accounts.withLock { $0[account] = nil }
        copyVersions.withLock { $0[account] = nil }
        try await delete(where: "account IN (?, '\(Self.lost)')", account, openedAs: openings)
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
        let isErased = try await delete(where: "account IS NOT ?", account, openedAs: openings)
        // What was set aside is about whoever is in the store, too.
        if isErased || account == nil { try removeSetAside() }
    }

    public func forgetSetAside(unlessOf account: AccountID) async throws {
        try takeUp()
        let owners: Set<String> = try await database.read { database in
            try database.tableExists("opened") ? try String.fetchSet(database, sql: "SELECT account FROM opened") : []
        }
        if owners != ["\(account)"] { try removeSetAside() }
    }

    /// - Parameter openings: Nil for all.
    /// - Returns: Whether there was anything of anybody's.
    @discardableResult
    private func delete(
        where condition: String, _ account: AccountID?, openedAs openings: Set<String>?
    ) async throws -> Bool {
        for _ in 0..<3 {
            try takeUp()
            let current = self.current
            let isErased = try await delete(where: condition, account, openedAs: openings, from: current.database)
            if current.file.isNewest { return isErased }
        }
        throw RenewedStore()
    }

    private func delete(
        where condition: String, _ account: AccountID?, openedAs openings: Set<String>?, from database: DatabaseQueue
    ) async throws -> Bool {
        let isErased = try await database.write { database in
            var kept: [String] = []
            let hasMarks = try database.tableExists("opened")
            if hasMarks, let account { try Self.adoptLostMark(for: account, in: database) }
            if hasMarks, let openings {
                // Somebody may have signed in since, in another process; but not who was there before a file was damaged.
                kept = try Row.fetchAll(database, sql: "SELECT account, mark FROM opened")
                    .filter { !openings.contains($0["mark"]) && !Self.isLost($0["mark"]) }.map { $0["account"] }
            }
            let others = kept.map { _ in "?" }.joined(separator: ", ")
            var isErased = false
            for table in ["item", "copy", "decision", "opened"] {
                // A file that couldn't be brought up to date has less.
                guard try database.tableExists(table) else { continue }
                let rows = "FROM \(table) WHERE \(condition) AND account NOT IN (\(others))"
                let values: [String?] = [account.map { "\($0)" }] + kept
                let arguments = StatementArguments(values)
                isErased =
                    try Bool.fetchOne(
                        database, sql: "SELECT EXISTS (SELECT * \(rows) AND account <> '\(Self.lost)')",
                        arguments: arguments) ?? false || isErased
                try database.execute(sql: "DELETE \(rows)", arguments: arguments)
            }
            return isErased
        }
        // The log before the checkpoint has it, too. While another process reads, this fails, and has to be repeated.
        try await database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        return isErased
    }
}
