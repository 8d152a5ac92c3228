public import Foundation
import GRDB
public import QuartetClient
public import QuartetVocabulary
import Synchronization

/// The items, and what became of those that went.
extension DatabaseStore {
    /// For how long others can learn what became of an item.
    static let memory: Interval = .minutes(10)

    /// A newer version of the app may have kept items that this one can't read.
    static func items(
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

    static func remove(_ item: OutboxItem.ID, of account: AccountID, from database: Database) throws {
        try database.execute(
            sql: "DELETE FROM item WHERE account = ? AND id = ?", arguments: ["\(account)", item])
    }

    private static func decide(
        _ item: OutboxItem.ID, _ decision: Data, at now: Instant, of account: AccountID, in database: Database
    ) throws {
        try database.execute(
            sql: "DELETE FROM decision WHERE at < ? OR at > ?",
            arguments: [(now - memory).microseconds, (now + memory).microseconds])
        try database.execute(
            sql: "INSERT OR REPLACE INTO decision (account, id, decision, at) VALUES (?, ?, ?, ?)",
            arguments: ["\(account)", item, decision, now.microseconds])
    }

    private static func undecide(_ item: OutboxItem.ID, of account: AccountID, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM decision WHERE account = ? AND id = ?", arguments: ["\(account)", item])
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

    public func items() async throws -> [AccountID: [OutboxItem]] {
        try takeUp()
        let rows = try await database.read { database in
            try Row.fetchAll(database, sql: "SELECT account, item FROM item").map { ($0[0] as String, $0[1] as Data) }
        }
        let decoder = JSONDecoder()
        let items = rows.compactMap { account, item in
            AccountID(account).flatMap { account in
                (try? decoder.decode(OutboxItem.self, from: item)).map { (account, $0) }
            }
        }
        return Dictionary(grouping: items, by: \.0).mapValues { $0.map(\.1) }
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
        let now = opening.now()
        return try await write(account) { database in
            let ids = try Self.ids(
                inLaneOf: item, after: min(joined?.earlier ?? item.id, item.id), of: account, in: database)
            // What is urgent takes no place by its number, and waits for none.
            if item.precedence != .urgent, let latest = ids.filter({ !addition.own.contains($0) }).max(),
                latest > item.id,
                try Self.isUnknown(item.id, of: account, in: database)
            {
                throw OvertakenItem(by: latest)
            }
            // What came between is sent between them.
            let overtaken = joined.flatMap { joined in
                ids.contains { $0 > joined.earlier && $0 < item.id && addition.others[$0] == nil }
                    ? joined.earlier : nil
            }
            var removed: Set<OutboxItem.ID> = []
            for (other, decision) in addition.others
            where try other != overtaken && Self.isReplaced(other, of: account, in: database) {
                try Self.decide(other, decision, at: now, of: account, in: database)
                removed.insert(other)
            }
            // It may have been added before, and that not heard of.
            if let joined, let decision = addition.others[joined.earlier], !removed.contains(joined.earlier),
                case .nothing = try Self.stored(joined.earlier, of: account, in: database),
                try Self.decision(of: joined.earlier, of: account, in: database) == decision
            {
                removed.insert(joined.earlier)
            }
            if let joined, let encodedJoined, removed.contains(joined.earlier) {
                try Self.add(joined.item, encodedJoined, of: account, to: database)
            } else {
                try Self.add(item, encoded, of: account, to: database)
            }
            return removed
        }
    }

    private static func ids(
        inLaneOf item: OutboxItem, after id: OutboxItem.ID, of account: AccountID, in database: Database
    ) throws -> [OutboxItem.ID] {
        try Int64.fetchAll(
            database, sql: "SELECT id FROM item WHERE account = ? AND id > ? AND lane = ?",
            arguments: ["\(account)", id, item.lane])
    }

    /// Writes an item unless it is there or was decided.
    static func add(_ item: OutboxItem, _ encoded: Data, of account: AccountID, to database: Database) throws {
        guard try isUnknown(item.id, of: account, in: database) else { return }
        try write(item, encoded, of: account, into: database)
    }

    /// Whether an item isn't there, and nothing says what became of it.
    static func isUnknown(_ item: OutboxItem.ID, of account: AccountID, in database: Database) throws -> Bool {
        guard case .nothing = try stored(item, of: account, in: database) else { return false }
        return try decision(of: item, of: account, in: database) == nil
    }

    /// Keeps what says of an urgent item that it isn't sent.
    static func holdBack(
        _ item: OutboxItem, at now: Instant, of account: AccountID, in database: Database
    ) throws {
        guard let (card, decision) = item.heldBack else { return }
        try write(card, try JSONEncoder().encode(card), of: account, into: database)
        try decide(item.id, decision, at: now, of: account, in: database)
    }

    /// Removes what another process kept that held an item back.
    static func release(_ item: OutboxItem.ID, of account: AccountID, in database: Database) throws {
        guard case .item(let card, _) = try stored(item, of: account, in: database), card.isHeldBack else { return }
        try remove(item, of: account, from: database)
        try undecide(item, of: account, in: database)
    }

    public func update(
        _ item: OutboxItem, _ update: StoreUpdate, of account: AccountID
    ) async throws -> StoreUpdate.Outcome {
        let encoded = try JSONEncoder().encode(item)
        let now = opening.now()
        return try await write(account) { database in
            let sender: String?
            switch try Self.stored(item.id, of: account, in: database) {
            case .unreadable: return .gone(nil)
            case .nothing:
                let decision = try Self.decision(of: item.id, of: account, in: database)
                // Whoever has removed it for a later one keeps a card of it, or has sent it or heard of it meanwhile.
                let isBack = decision.map { $0 == update.decision || $0 == update.removedAs } ?? update.isNew
                guard isBack else { return .gone(decision) }
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
            if let decision = update.decision {
                try Self.decide(item.id, decision, at: now, of: account, in: database)
            } else {
                // It may have been removed before.
                try Self.undecide(item.id, of: account, in: database)
            }
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
        let now = opening.now()
        return try await write(account) { database in
            switch try Self.stored(item, of: account, in: database) {
            case .nothing:
                if let known = try Self.decision(of: item, of: account, in: database) { return .gone(known) }
                return .gone(nil)
            case .item(let stored, _) where !stored.canEnd(knownAs: base): return .other(stored)
            case .item, .unreadable: break
            }
            try Self.remove(item, of: account, from: database)
            try Self.decide(item, decision, at: now, of: account, in: database)
            return .done
        }
    }

    public func version() async throws -> Int64 {
        try takeUp()
        let current = self.current
        let version = current.version(try await current.database.read { try Self.dataVersion($0) })
        let now = opening.uptime()
        accounts.withLock { accounts in
            for (account, opening) in accounts where opening.looked?.version == version {
                accounts[account]?.looked?.at = now
            }
        }
        return version
    }

    /// SQLite counts the other connections' transactions, and finds that in memory that all of them share.
    static func dataVersion(_ database: Database) throws -> UInt32 {
        try UInt32.fetchOne(database, sql: "PRAGMA data_version") ?? 0
    }

    public func changes(of account: AccountID) async throws -> StoreChanges {
        let (known, current) = (accounts.withLock { $0[account] }, self.current)
        if let known, known.count != current.count { throw RenewedStore() }
        let now = opening.uptime()
        let (items, decisions, version) = try await current.database.read { database in
            if let mark = known?.mark, try StoreMarks.mark(of: account, in: database) != mark {
                try StoreMarks.check(mark, carriesOn: false, in: database)
            }
            let items = try Self.items(of: account, in: database)
            let decisions = try Row.fetchAll(
                database, sql: "SELECT id, decision FROM decision WHERE account = ?", arguments: ["\(account)"])
            let version = current.version(try Self.dataVersion(database))
            return (items, decisions.map { row in (row[0] as Int64, row[1] as Data) }, version)
        }
        accounts.withLock { $0[account]?.looked = (version, now) }
        return StoreChanges(items: items.readable, ids: items.ids, decisions: Dictionary(decisions) { $1 })
    }
}
