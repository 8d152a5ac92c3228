import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetVocabulary
import Synchronization

@testable import QuartetClient

/// What the devices of a play kept and sent, written down as it happens: the app's own record of it is what the play doubts.
final class WorldLedger: Sendable {
    /// One change that somebody made. No two of one device are made at the same time.
    struct Change: Hashable, Sendable {
        let device: String
        let acted: Instant
    }

    struct Entry: Sendable {
        let id: OutboxItem.ID
        let command: String
        let lane: String
        let lifetime: Interval
        /// Those under which it left the device.
        var keys: [ID<RequestSubject>] = []
        var isWritten = false
        /// Its person took it back.
        fileprivate(set) var isTakenBack = false
        /// Besides, the device has nothing of it any more.
        fileprivate(set) var isRemoved = false
        /// The change that does as well what this one was to do.
        fileprivate(set) var joined: Change?
        fileprivate var edit: Data

        fileprivate init(_ item: OutboxItem) {
            (id, command, lane, lifetime, edit) = (item.id, item.command, item.lane, item.lifetime, item.edit)
        }
    }

    private struct State: Sendable {
        var entries: [Change: Entry] = [:]
        var changes: [ID<RequestSubject>: Change] = [:]
        var wrongs: [String] = []
        /// Nil before the play.
        var begun: Instant?
    }

    private let state = Mutex(State())

    var entries: [Change: Entry] { state.withLock { $0.entries } }
    /// Whose change went out under a key.
    var changes: [ID<RequestSubject>: Change] { state.withLock { $0.changes } }
    /// What was wrong at once.
    var wrongs: [String] { state.withLock { $0.wrongs } }

    /// With `WORLD_TRACE` a play says what happens in it.
    static func trace(_ what: @autoclosure () -> String, at time: Instant? = nil) {
        guard isTraced else { return }
        print(time.map { "\($0.microseconds % 1_000_000_000_000): " } ?? "", what(), separator: "")
    }

    private static let isTraced = ProcessInfo.processInfo.environment["WORLD_TRACE"] != nil

    /// What was made before doesn't count.
    func begin(at time: Instant) { state.withLock { $0.begun = time } }

    /// A device has written an item.
    func kept(_ item: OutboxItem, on device: String) {
        // A card isn't sent; the change that it was is known.
        guard item.unsent == nil else { return }
        let change = Change(device: device, acted: item.acted)
        state.withLock { state in
            guard let begun = state.begun, item.acted >= begun else { return }
            if state.entries[change] == nil { state.entries[change] = Entry(item) }
            state.entries[change]?.isWritten = true
            state.entries[change]?.edit = item.edit
        }
    }

    /// A device has written an item that takes the place of others.
    func replaced(_ others: [OutboxItem.ID], by item: OutboxItem, on device: String) {
        let later = Change(device: device, acted: item.acted)
        state.withLock { state in
            for (change, entry) in state.entries
            where change.device == device && others.contains(entry.id) && entry.command == item.command {
                state.entries[change]?.joined = later
                // One that joins goes from what was there before both.
                guard let (old, new) = Self.edit(entry.edit), let (base, _) = Self.edit(item.edit) else { continue }
                let lost = old.keys.filter { old[$0] != new[$0] && base[$0] != old[$0] }
                if !lost.isEmpty { state.wrongs.append("\(item.command) of \(later) lost \(lost) of \(change)") }
            }
        }
    }

    /// Somebody has taken an item back.
    /// - Parameter isRemoved: Whether their device could remove it.
    func takenBack(_ item: OutboxItem, on device: String, isRemoved: Bool) {
        let change = Change(device: device, acted: item.acted)
        state.withLock { state in
            state.entries[change]?.isTakenBack = true
            state.entries[change]?.isRemoved = isRemoved
        }
    }

    /// What was there and what is wanted, of an edit of fields; nil for anything else.
    private static func edit(_ encoded: Data) -> (base: [String: String], edit: [String: String])? {
        func find(_ value: Any) -> (Any, Any)? {
            guard let members = value as? [String: Any] else { return nil }
            if let base = members["base"], let edit = members["edit"] { return (base, edit) }
            for member in members.values { if let found = find(member) { return found } }
            return nil
        }
        guard let json = try? JSONSerialization.jsonObject(with: encoded), let found = find(json),
            let base = found.0 as? [String: Any], let edit = found.1 as? [String: Any]
        else { return nil }
        let keys = Set(base.keys).union(edit.keys)
        let values = { (members: [String: Any]) in
            Dictionary(uniqueKeysWithValues: keys.map { ($0, members[$0].map { "\($0)" } ?? "none") })
        }
        return (values(base), values(edit))
    }

    /// A command leaves a device.
    /// - Parameter items: What its outbox has.
    func sent(_ name: String, _ key: ID<RequestSubject>, from device: String, at now: Instant, _ items: [OutboxItem]) {
        state.withLock { state in
            guard let item = items.first(where: { $0.key.id == key }) else {
                // What was dropped or decided while this was on its way.
                if state.changes[key] == nil { state.wrongs.append("\(device) sent a \(name) that nobody made") }
                return
            }
            let change = Change(device: device, acted: item.acted)
            var entry = state.entries[change] ?? Entry(item)
            if !entry.keys.contains(key) { entry.keys.append(key) }
            state.entries[change] = entry
            state.changes[key] = change
            if now > item.acted + entry.lifetime {
                state.wrongs.append("\(device) sent a \(name) \(now - item.acted) after it was made")
            }
        }
    }
}

/// A device's store that tells the ledger what it has written.
struct LedgerStore: LocalStore {
    let device: String
    let ledger: WorldLedger
    let inner = InMemoryLocalStore()

    func load(_ account: AccountID) -> LocalAccount { inner.load(account) }
    func save(_ item: OutboxItem, of account: AccountID) { save(item, replacing: [], of: account) }

    func save(_ item: OutboxItem, replacing others: [OutboxItem.ID], of account: AccountID) {
        WorldLedger.trace(
            "\(device) writes \(item.command) \(item.id), sent: \(item.isSent), accepted: \(item.accepted != nil), for \(others)"
        )
        inner.save(item, replacing: others, of: account)
        ledger.kept(item, on: device)
        ledger.replaced(others, by: item, on: device)
    }

    func remove(_ item: OutboxItem.ID, of account: AccountID) {
        WorldLedger.trace("\(device) removes \(item)")
        inner.remove(item, of: account)
    }

    func save(_ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID) {
        if !items.isEmpty { WorldLedger.trace("\(device) removes \(items) with the copies") }
        inner.save(copies, finishing: items, of: account)
    }

    func forget(_ account: AccountID) { inner.forget(account) }
    func forgetOthers(than account: AccountID?) { inner.forgetOthers(than: account) }
}
