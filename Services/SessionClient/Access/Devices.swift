import Bus
import Postgres
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// Which devices are signed out. A token is valid for minutes; a device that was revoked ends within a second, because
/// the edge hears of it in session's log.
///
/// A bounded cache: what isn't known is looked up in what session publishes.
final class Devices: Sendable {
    private struct State: Sendable {
        var active: [DeviceID: Bool] = [:]
        var watchers = Watchers()
        var last: UInt64 = 0
        /// How often something was signed out: a look-up that began before isn't kept.
        var changes: UInt64 = 0
    }

    private static let limit = 100_000
    private let state = Mutex(State())
    private let pool: Pool

    init(pool: Pool) {
        self.pool = pool
    }

    func isActive(_ caller: Caller) async throws -> Bool {
        let (known, changes) = state.withLock { ($0.active[caller.device], $0.changes) }
        if let known { return known }
        let isActive = try await isActiveNow(caller)
        state.withLock { state in
            guard state.changes == changes else { return }
            if state.active.count >= Self.limit { state.active = [:] }
            state.active[caller.device] = isActive
        }
        return isActive
    }

    /// Whether this process knows, without looking, that it was signed out. What it forgot, with others, it doesn't know.
    func isKnownSignedOut(_ device: DeviceID) -> Bool { state.withLock { $0.active[device] == false } }

    /// The same by what session publishes now, whatever this process has heard.
    func isActiveNow(_ caller: Caller) async throws -> Bool {
        try await pool.withConnection { database in
            try database.query(
                """
                SELECT d.active FROM session.device_status AS d
                 WHERE d.device = \(caller.device) AND d.account = \(caller.account)
                """
            ).only?.decode(0, as: Bool.self) ?? false
        }
    }

    /// - Throws: `signedOut`, with the reason, for a device that isn't signed in any more.
    func requireActive(_ caller: Caller) async throws {
        guard try await !isActive(caller) else { return }
        let why = try await reason(for: caller)
        var error = APIError(.signedOut, "Sign in again: \(why?.explanation ?? "this device isn't signed in").")
        error.reason = why?.rawValue
        throw error
    }

    /// Why a device isn't signed in any more, as far as that is remembered.
    func reason(for caller: Caller) async throws -> SignOutReason? {
        try await pool.withConnection { database in
            let reason = try database.query(
                """
                SELECT d.reason FROM session.device_status AS d
                 WHERE d.device = \(caller.device) AND d.account = \(caller.account)
                """
            ).only?.decode(0, as: String?.self).flatMap(SignOutReason.init(rawValue:))
            if let reason { return reason }
            // A closed account's devices are forgotten with it.
            let isOpen =
                try database.query(
                    "SELECT true FROM session.profile AS p WHERE p.account = \(caller.account)"
                ).only != nil
            return isOpen ? nil : .closed
        }
    }

    /// Whether a row of session's log may sign a device out, as far as can be known.
    static func isWanted(_ heading: RowHeading) -> Bool {
        heading.kind == .event && [DeviceSignedOut.type, AccountClosed.type].contains(heading.type)
            || !heading.isReadable
    }

    /// Takes in such a row. A device that is signed out isn't known any more, and its streams end.
    func observe(_ observation: Tail.Observation) {
        switch observation {
        case .row(let row): observe(row)
        case .reconnected(let hasMissedRows): if hasMissedRows { forgetAll() }
        }
    }

    private func observe(_ row: RecordedMessage) {
        guard row.message.kind == .event else { return }
        // Whose sign-out this was can't be known any more.
        guard row.isReadable else { return forgetAll() }
        switch row.message.type {
        case DeviceSignedOut.type:
            guard let event = try? DeviceSignedOut.decoded(from: row.message.body, version: row.message.version) else {
                return forget(row.message.key.account)
            }
            end(StreamEnd(.signedOut, why: event.reason)) {
                $0.active[event.device] = false
                return $0.watchers.remove(device: event.device)
            }
        case AccountClosed.type:
            guard let event = try? AccountClosed.decoded(from: row.message.body, version: row.message.version) else {
                return forget(row.message.key.account)
            }
            end(StreamEnd(.signedOut, why: .closed)) {
                $0.active = [:]
                return $0.watchers.remove(account: event.account)
            }
        default: return
        }
    }

    /// Forgets all devices, because the cache may be wrong: they are looked up again, and streams start again.
    func forgetAll() {
        end(StreamEnd(.reconnect)) {
            $0.active = [:]
            return $0.watchers.removeAll()
        }
    }

    /// The same for an account whose event this process can't read: only its own streams start again.
    private func forget(_ account: AccountID?) {
        guard let account else { return forgetAll() }
        end(StreamEnd(.reconnect)) {
            $0.active = [:]
            return $0.watchers.remove(account: account)
        }
    }

    /// Calls `end` once with the reason, when the device is signed out after this; look then whether it still ``isActive(_:)``. Returns how
    /// to stop watching.
    func watch(_ caller: Caller, end: @escaping @Sendable (StreamEnd) -> Void) -> @Sendable () -> Void {
        let id = state.withLock { state in
            state.last += 1
            state.watchers.add(state.last, device: caller.device, account: caller.account, end)
            return state.last
        }
        return { [weak self] in self?.state.withLock { _ = $0.watchers.remove(id) } }
    }

    /// - Parameter forget: Returns those to end.
    private func end(_ reason: StreamEnd, _ forget: (inout State) -> [Watchers.End]) {
        let ended = state.withLock { state in
            state.changes += 1
            return forget(&state)
        }
        for end in ended { end(reason) }
    }
}

/// The open streams, by device and by account: a sign-out looks at its own only, however many others there are.
struct Watchers: Sendable {
    typealias End = @Sendable (StreamEnd) -> Void

    private var watchers: [UInt64: (device: DeviceID, account: AccountID, end: End)] = [:]
    private var ofDevice: [DeviceID: Set<UInt64>] = [:]
    private var ofAccount: [AccountID: Set<UInt64>] = [:]
    /// How many were looked at so far.
    private(set) var looks = 0

    var count: Int { watchers.count }

    mutating func add(_ id: UInt64, device: DeviceID, account: AccountID, _ end: @escaping End) {
        watchers[id] = (device, account, end)
        ofDevice[device, default: []].insert(id)
        ofAccount[account, default: []].insert(id)
    }

    /// Again, it changes nothing.
    @discardableResult
    mutating func remove(_ id: UInt64) -> End? {
        looks += 1
        guard let watcher = watchers.removeValue(forKey: id) else { return nil }
        ofDevice[watcher.device]?.remove(id)
        if ofDevice[watcher.device]?.isEmpty == true { ofDevice[watcher.device] = nil }
        ofAccount[watcher.account]?.remove(id)
        if ofAccount[watcher.account]?.isEmpty == true { ofAccount[watcher.account] = nil }
        return watcher.end
    }

    mutating func remove(device: DeviceID) -> [End] { (ofDevice[device] ?? []).compactMap { remove($0) } }

    mutating func remove(account: AccountID) -> [End] { (ofAccount[account] ?? []).compactMap { remove($0) } }

    mutating func removeAll() -> [End] {
        defer { self = Watchers() }
        return watchers.values.map(\.end)
    }
}
