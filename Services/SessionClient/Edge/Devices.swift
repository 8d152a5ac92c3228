import Bus
import Postgres
import Synchronization
import Vocabulary

/// Which devices are signed out. A token is valid for minutes; a device that was revoked ends within a second, because
/// the edge hears of it in session's log.
///
/// A bounded cache: what isn't known is looked up in what session publishes.
final class Devices: Sendable {
    private struct State: Sendable {
        var active: [ID<DeviceSubject>: Bool] = [:]
        var watchers: [UInt64: (device: ID<DeviceSubject>, account: AccountID, end: @Sendable () -> Void)] = [:]
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
        let isActive = try await pool.withConnection { database in
            try database.query(
                """
                SELECT d.active FROM session.device_status AS d
                 WHERE d.device = \(caller.device) AND d.account = \(caller.account)
                """
            ).only?.decode(0, as: Bool.self) ?? false
        }
        state.withLock { state in
            guard state.changes == changes else { return }
            if state.active.count >= Self.limit { state.active = [:] }
            state.active[caller.device] = isActive
        }
        return isActive
    }

    /// These devices are signed out, says session's log: forget them and end their streams.
    func signedOut(_ devices: [ID<DeviceSubject>]) {
        end {
            devices.contains($0.device)
        } forget: { state in
            for device in devices { state.active[device] = false }
        }
    }

    /// The account is closed: all its devices are gone.
    func closed(_ account: AccountID) {
        end {
            $0.account == account
        } forget: {
            $0.active = [:]
        }
    }

    /// Calls `end` once when the device is signed out. Returns how to stop watching.
    func watch(_ caller: Caller, end: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let id = state.withLock { state in
            state.last += 1
            state.watchers[state.last] = (caller.device, caller.account, end)
            return state.last
        }
        return { [weak self] in self?.state.withLock { $0.watchers[id] = nil } }
    }

    private func end(
        where isMeant: ((device: ID<DeviceSubject>, account: AccountID, end: @Sendable () -> Void)) -> Bool,
        forget: (inout State) -> Void
    ) {
        let ended = state.withLock { state in
            state.changes += 1
            forget(&state)
            let meant = state.watchers.filter { isMeant($0.value) }
            for id in meant.keys { state.watchers[id] = nil }
            return meant.values.map(\.end)
        }
        for end in ended { end() }
    }
}
