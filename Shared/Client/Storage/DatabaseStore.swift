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
        /// Of which file it is known what that has for the account: ``StoreOpening/Opened/count``.
        let count: Int
        /// That file's number.
        let number: Int
        /// What the others had changed when it was last read, and until when that was all, by ``StoreOpening/uptime``.
        var looked: (version: Int64, at: Duration)?
    }

    private let opened: Mutex<StoreOpening.Opened>
    let accounts = Mutex<[AccountID: Opening]>([:])
    /// Which copies this process has read or written last.
    private let copyVersions = Mutex<[AccountID: [String: Int64]]>([:])
    let opening: StoreOpening
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

    /// Goes on with the file that another process has begun since it found this one damaged, or with another one if this one is gone.
    func takeUp() throws {
        let current = self.current
        guard !current.isNewest else { return }
        let file = current.file
        guard try StoreFile.newest(of: file.base) != file || !file.isStill(current.identity) else { return }
        var next = try opening.open(file.base)
        opened.withLock { opened in
            let isLater = next.file.number >= opened.file.number || !opened.file.isStill(opened.identity)
            guard isLater, next.identity != opened.identity else { return }
            next.count = opened.count + 1
            opened = next
        }
    }

    private func migrate() throws {
        let current = self.current
        guard !current.isMigrated else { return }
        try StoreOpening.migrate(current.database)
        opened.withLock { if $0.identity == current.identity { $0.isMigrated = true } }
    }

    public func load(_ account: AccountID) async throws -> LocalAccount {
        try takeUp()
        note(nil, of: account)
        // A device that can't write has what it had.
        if (try? migrate()) != nil { try await open(account) }
        let (current, now) = (self.current, opening.uptime())
        let (items, copies, version) = try await current.database.read { database in
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
                },
                current.version(try Self.dataVersion(database))
            )
        }
        accounts.withLock { $0[account]?.looked = (version, now) }
        copyVersions.withLock { versions in
            versions[account] = Dictionary(copies.map { ($0.copy.sequence, $0.version) }) { $1 }
        }
        return LocalAccount(items: items.readable, copies: copies.map(\.copy))
    }

    // MARK: Who has opened it

    /// Opens an account anew: what others did to it before doesn't matter.
    private func open(_ account: AccountID) async throws {
        let mark = UUID().uuidString
        var found = try await database.read { try StoreMarks.mark(of: account, in: $0) }
        if found == nil {
            // What a device that can't write has kept can still be read. Whoever writes first opens it.
            found = try? await database.write { database in
                try StoreMarks.adoptLost(for: account, in: database)
                try database.execute(
                    sql: "INSERT OR IGNORE INTO opened (account, mark) VALUES (?, ?)", arguments: ["\(account)", mark])
                return try StoreMarks.mark(of: account, in: database)
            }
        }
        note(found, of: account)
    }

    /// What this process knows of the account in an earlier file isn't known of this one.
    private func note(_ mark: String?, of account: AccountID) {
        let current = self.current
        accounts.withLock { accounts in
            let known = accounts[account]
            accounts[account] = Opening(
                mark: mark, count: known?.count ?? current.count, number: known?.number ?? current.file.number)
        }
    }

    /// Writes for an account that nobody has forgotten since it was opened.
    /// - Throws: ``RenewedStore`` if another process has begun another file, or if this one has lost what it had of the account. Then
    /// nothing was written, or it has to be written again.
    func write<Value: Sendable>(
        _ account: AccountID, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try takeUp()
        let (known, current) = (accounts.withLock { $0[account] }, self.current)
        if let known, known.count != current.count { throw RenewedStore() }
        return try await write(account, to: current, knownAs: known, body)
    }

    private func write<Value: Sendable>(
        _ account: AccountID, to current: StoreOpening.Opened, knownAs known: Opening?, carriesOn: Bool = false,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try migrate()
        let (value, mark) = try await current.database.write { database in
            let mark = try StoreMarks.claim(account, knownAs: known?.mark, carriesOn: carriesOn, in: database)
            return (try body(database), mark)
        }
        // Whoever has begun another file meanwhile may not have this.
        guard current.isNewest else { throw RenewedStore() }
        accounts.withLock { accounts in
            let looked = accounts[account]?.looked
            accounts[account] = Opening(
                mark: mark, count: current.count, number: current.file.number, looked: looked)
        }
        return value
    }

    @discardableResult
    public func carryOn(_ items: [OutboxItem], of account: AccountID) async throws -> Set<OutboxItem.ID> {
        let known = accounts.withLock { $0[account] }
        // Decisions are remembered no longer than that: what isn't there may have been taken back since this process looked.
        let isAwake = known?.looked.map { Interval(opening.uptime() - $0.at) <= Self.memory }
        let encoded = try items.map { ($0, try JSONEncoder().encode($0)) }
        try takeUp()
        let (current, now) = (self.current, opening.now())
        // A file that was removed says nothing of what was taken back. One that takes a damaged file's place has what could be read.
        let holdsBack = isAwake == false && known.map { $0.number < current.file.number } ?? false
        return try await write(account, to: current, knownAs: known, carriesOn: true) { database in
            var heldBack: Set<OutboxItem.ID> = []
            for (item, encoded) in encoded {
                if holdsBack, !item.isOver {
                    guard try Self.isUnknown(item.id, of: account, in: database) else { continue }
                    heldBack.insert(item.id)
                    try Self.holdBack(item, at: now, of: account, in: database)
                } else {
                    if isAwake == true, !item.isOver { try Self.release(item.id, of: account, in: database) }
                    try Self.add(item, encoded, of: account, to: database)
                }
            }
            return heldBack
        }
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
            return try String.fetchSet(database, sql: "SELECT mark FROM opened WHERE \(StoreMarks.accountsOnly)")
        }
    }

    public func forget(_ account: AccountID) async throws { try await erase(account, openedAs: nil) }

    public func forget(_ account: AccountID, openedAs openings: Set<String>) async throws {
        try await erase(account, openedAs: openings)
    }

    private func erase(_ account: AccountID, openedAs openings: Set<String>?) async throws {
        let known = accounts.withLock { $0[account]?.mark }
        copyVersions.withLock { $0[account] = nil }
        try await delete(.of(account), openedAs: openings, knownAs: known)
        accounts.withLock { $0[account] = nil }
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
        let isErased = try await delete(.others(than: account), openedAs: openings)
        // What was set aside is about whoever is in the store, too.
        if isErased || account == nil { try removeSetAside() }
    }

    public func forgetSetAside(unlessOf account: AccountID?) async throws {
        try takeUp()
        guard let account else { return try removeSetAside() }
        let owners = try? await database.read { database -> Set<String> in
            guard try database.tableExists("opened") else { return [] }
            return try String.fetchSet(database, sql: "SELECT account FROM opened WHERE \(StoreMarks.accountsOnly)")
        }
        // Whose it is can't be read where the file in use is damaged, either.
        if owners != ["\(account)"] { try removeSetAside() }
    }

    /// Whose data is erased.
    private enum Erasing {
        case of(AccountID)
        case others(than: AccountID?)

        var account: AccountID? {
            switch self {
            case .of(let account): account
            case .others(let account): account
            }
        }

        var condition: String {
            switch self {
            case .of: "account IN (?, '\(StoreMarks.nobody)')"
            case .others: "account IS NOT ?"
            }
        }

        func isMeant(_ other: String) -> Bool {
            switch self {
            case .of(let account): other == "\(account)" || other == StoreMarks.nobody
            case .others(let account): other != account.map { "\($0)" }
            }
        }

        /// Whether it is about what may be left of others, and somebody's data stays.
        var keepsSomebody: Bool {
            if case .others(.some) = self { true } else { false }
        }
    }

    /// - Parameters:
    ///   - openings: Nil for all.
    ///   - known: The mark of the account that is erased, as this process knows it. The file may have lost it.
    /// - Returns: Whether there was anything of anybody's.
    @discardableResult
    private func delete(
        _ erasing: Erasing, openedAs openings: Set<String>?, knownAs known: String? = nil
    ) async throws -> Bool {
        let known = known.flatMap { StoreMarks.isLost($0) ? nil : $0 }
        var isErased = false
        for _ in 0..<3 {
            do { try takeUp() } catch {
                // Where there is no file, nobody has anything in it.
                guard try StoreFile.newest(of: file.base).hasNothing else { throw error }
                return isErased
            }
            let current = self.current
            do {
                isErased =
                    try await delete(erasing, openedAs: openings, knownAs: known, from: current.database) || isErased
            } catch let error as DatabaseError where erasing.keepsSomebody && StoreOpening.meansDamage(error) {
                // What failed for a moment would be lost to the one who stays. To open the file looks twice.
                guard try opening.open(current.file.base).file != current.file else { throw error }
                continue
            } catch let error as DatabaseError where !erasing.keepsSomebody && StoreOpening.isUnreadable(error) {
                try erase(erasing, openedAs: openings, knownAs: known, with: current.file)
                isErased = true
                continue
            }
            if current.isNewest { return isErased }
        }
        throw RenewedStore()
    }

    /// Erases where the file can't be written since it is damaged, and nobody's data has to stay.
    private func erase(
        _ erasing: Erasing, openedAs openings: Set<String>?, knownAs known: String?, with file: StoreFile
    ) throws {
        try opening.erase(file) { remains in
            let kept = openings.map { remains.accounts(notOpenedAs: $0) } ?? []
            let isKept = erasing.account.map { kept.contains("\($0)") } ?? false
            remains.forget(knownAs: isKept ? nil : known) { erasing.isMeant($0) && !kept.contains($0) }
        }
        // One that was damaged before would be in use again.
        if !file.exists { for former in try file.former() { try former.remove() } }
    }

    private func delete(
        _ erasing: Erasing, openedAs openings: Set<String>?, knownAs known: String?, from database: DatabaseQueue
    ) async throws -> Bool {
        let isErased = try await database.write { database in
            var kept: [String] = []
            let hasMarks = try database.tableExists("opened")
            if hasMarks, let account = erasing.account { try StoreMarks.adoptLost(for: account, in: database) }
            if hasMarks, let openings {
                // Somebody may have signed in since, in another process; but not who was there before a file was damaged.
                kept = try Row.fetchAll(
                    database, sql: "SELECT account, mark FROM opened WHERE \(StoreMarks.accountsOnly)"
                )
                .filter { !openings.contains($0["mark"]) && !StoreMarks.isLost($0["mark"]) }.map { $0["account"] }
            }
            let others = kept.map { _ in "?" }.joined(separator: ", ")
            let condition =
                "\(erasing.condition) AND account NOT IN (\(others)) AND \(StoreMarks.accountsOnly)"
            let values: [String?] = [erasing.account.map { "\($0)" }] + kept
            let arguments = StatementArguments(values)
            var gone: Set<String> = []
            if hasMarks {
                gone = try String.fetchSet(
                    database, sql: "SELECT mark FROM opened WHERE \(condition)", arguments: arguments)
                let isKept = erasing.account.map { kept.contains("\($0)") } ?? false
                if let known, !isKept { gone.insert(known) }
            }
            var isErased = false
            for table in ["item", "copy", "decision", "opened"] {
                // A file that couldn't be brought up to date has less.
                guard try database.tableExists(table) else { continue }
                let rows = "FROM \(table) WHERE \(condition)"
                isErased =
                    try Bool.fetchOne(
                        database, sql: "SELECT EXISTS (SELECT * \(rows) AND account <> '\(StoreMarks.nobody)')",
                        arguments: arguments) ?? false || isErased
                try database.execute(sql: "DELETE \(rows)", arguments: arguments)
            }
            for mark in gone { try StoreMarks.noteGone(mark, in: database) }
            return isErased
        }
        // The log before the checkpoint has it, too. While another process reads, this fails, and has to be repeated.
        try await database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        return isErased
    }
}
