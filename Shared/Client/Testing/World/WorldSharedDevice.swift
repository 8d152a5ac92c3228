public import QuartetClient
public import QuartetVocabulary
import Synchronization

/// A device on which several people are signed in, whatever becomes of its app.
final class WorldSharedDevice: Sendable {
    /// One run of the app.
    struct App: Sendable {
        let accounts: DeviceAccounts
        let life: WorldLife
    }

    private struct State: Sendable {
        var app: App?
        /// What the device has of each account.
        var accounts: [AccountID: WorldDevice] = [:]
    }

    let shelf = MemoryShelf()
    private let name: String
    private let clock: VirtualClock
    private let state = Mutex(State())

    init(_ name: String, _ clock: VirtualClock) { (self.name, self.clock) = (name, clock) }

    func device(of account: AccountID) -> WorldDevice {
        state.withLock { state in
            let device = state.accounts[account] ?? WorldDevice(name, InMemoryLocalStore(), clock)
            state.accounts[account] = device
            return device
        }
    }

    func use(_ app: App) { state.withLock { $0.app = app } }
    func end() { state.withLock { $0.app }?.life.end() }

    /// Whether its app has nothing left to do.
    func isSettled(_ isFollowed: Bool) -> Bool {
        guard let accounts = state.withLock({ $0.app })?.accounts else { return true }
        guard accounts.opened.allSatisfy({ $0.connection.outbox.items.value.isEmpty }) else { return false }
        guard accounts.list.value.shown != nil else { return true }
        let state = accounts.current.connection.state
        return state.needsSignIn || state == .connected && isFollowed
    }
}

extension QuartetWorld {
    /// Starts the app of a device that several people share, with the accounts that were signed in on it before. It is killed first if it
    /// runs.
    ///
    /// ```swift
    /// let phone = await world.accounts(on: "phone")
    /// try await phone.current.quartet.session.signUp(SignUpRequest(handle: "anna", password: password))
    /// try await phone.current.quartet.user.checkIn()
    /// ```
    public func accounts(on name: String) async -> DeviceAccounts {
        let device = shared.withLock { shared in
            let device = shared[name] ?? WorldSharedDevice(name, self.edge.clock)
            shared[name] = device
            return device
        }
        await begin { device.end() }
        let (edge, executor, life) = (self.edge, self.executor, WorldLife())
        let accounts = DeviceAccounts(
            keeping: device.shelf,
            transport: { _ in WorldTransport(edge: edge, device: name, life: life) },
            tokens: { WorldTokenStore(device: device.device(of: $0.account), life: life) },
            store: { WorldStore(device: device.device(of: $0.account), life: life, executor: executor) },
            time: timekeeper(of: name))
        device.use(WorldSharedDevice.App(accounts: accounts, life: life))
        await begin {
            let task = Task(executorPreference: executor) { await accounts.run() }
            life.atEnd {
                task.cancel()
                edge.disconnect(name)
            }
        }
        return accounts
    }

    /// Cuts off a device that several people share.
    public func cut(_ device: String, for time: Interval) { edge.cut(device, until: edge.clock.now + time.duration) }
}
