import Foundation
import QuartetClient
import QuartetVocabulary
import Synchronization

/// One run of an app, from its start until it is killed. Then nothing of it reaches what is outside any more.
final class WorldLife: Sendable {
    struct Killed: Error {}

    private struct State: Sendable {
        var isOver = false
        /// How many more times it reaches outside; nil for any number.
        var steps: Int?
        var onEnd: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Something of the app is about to reach outside, or to hear of it.
    /// - Throws: ``Killed``.
    func step() throws {
        let (isOver, onEnd) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            guard !state.isOver else { return (true, nil) }
            guard let steps = state.steps else { return (false, nil) }
            state.steps = steps - 1
            guard steps <= 0 else { return (false, nil) }
            state.isOver = true
            return (true, state.onEnd.take())
        }
        onEnd?()
        if isOver { throw Killed() }
    }

    /// - Parameter steps: Nil for never.
    func end(after steps: Int?) { state.withLock { $0.steps = steps } }

    func end() {
        let onEnd = state.withLock { state in
            state.isOver = true
            return state.onEnd.take()
        }
        onEnd?()
    }

    /// Runs `body` at the end, once.
    func atEnd(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onEnd = body } }
}

/// What a device has, whatever becomes of its app.
final class WorldDevice: Sendable {
    private struct Trouble: Sendable {
        var fullUntil: Duration = .zero
        var lockedUntil: Duration = .zero
    }

    let name: String
    let store: any LocalStore
    let tokens = InMemoryTokenStore()
    private let clock: VirtualClock
    private let trouble = Mutex(Trouble())

    init(_ name: String, _ store: any LocalStore, _ clock: VirtualClock) {
        (self.name, self.store, self.clock) = (name, store, clock)
    }

    func fill(until end: Duration) { trouble.withLock { $0.fullUntil = end } }
    func lock(until end: Duration) { trouble.withLock { $0.lockedUntil = end } }

    func mend() { trouble.withLock { $0 = Trouble() } }

    /// - Throws: If it can't write now.
    func checkDisk() throws {
        if trouble.withLock({ clock.now < $0.fullUntil }) { throw POSIXError(.ENOSPC) }
    }

    /// - Throws: If nobody has unlocked it.
    func checkLock() throws {
        if trouble.withLock({ clock.now < $0.lockedUntil }) { throw POSIXError(.EACCES) }
    }

    /// When its trouble is over.
    var troubleEnd: Duration? {
        trouble.withLock { trouble in
            [trouble.fullUntil, trouble.lockedUntil].filter { $0 > clock.now }.max()
        }
    }
}

/// A device's store, as one run of its app has it. It may take its time.
struct WorldStore: LocalStore {
    let device: WorldDevice
    let life: WorldLife
    let executor: WorldExecutor

    private func write(_ body: (any LocalStore) async throws -> Void) async throws {
        try life.step()
        try device.checkDisk()
        try await executor.outside { try await body(device.store) }
        try life.step()
    }

    func load(_ account: AccountID) async throws -> LocalAccount {
        try life.step()
        return try await executor.outside { try await device.store.load(account) }
    }

    func save(_ item: OutboxItem, of account: AccountID) async throws {
        try await write { try await $0.save(item, of: account) }
    }

    func save(_ item: OutboxItem, replacing others: [OutboxItem.ID], of account: AccountID) async throws {
        try await write { try await $0.save(item, replacing: others, of: account) }
    }

    func remove(_ item: OutboxItem.ID, of account: AccountID) async throws {
        try await write { try await $0.remove(item, of: account) }
    }

    func save(_ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID) async throws {
        try await write { try await $0.save(copies, finishing: items, of: account) }
    }

    func forget(_ account: AccountID) async throws {
        try await write { try await $0.forget(account) }
    }

    func forgetOthers(than account: AccountID?) async throws {
        try await write { try await $0.forgetOthers(than: account) }
    }
}

/// A device's tokens, as one run of its app has them.
struct WorldTokenStore: TokenStore {
    let device: WorldDevice
    let life: WorldLife

    func load() throws -> Credentials? {
        guard !life.isOver else { throw WorldLife.Killed() }
        try device.checkLock()
        return device.tokens.load()
    }

    func save(_ credentials: Credentials?) throws {
        try life.step()
        try device.checkLock()
        try device.checkDisk()
        device.tokens.save(credentials)
        try life.step()
    }
}

/// A device's way to the world, as one run of its app has it.
struct WorldTransport: Transport {
    let edge: WorldEdge
    let device: String
    let life: WorldLife

    func send(_ request: TransportRequest) async throws -> TransportReply {
        try reached()
        let reply: TransportReply
        do { reply = try await edge.send(request, from: device) } catch {
            try reached()
            throw error
        }
        try reached()
        return reply
    }

    func open(_ request: StreamRequest) async throws -> OpenedStream {
        try reached()
        return try edge.open(request, from: device)
    }

    private func reached() throws {
        do { try life.step() } catch { throw TransportError.interrupted("the app was killed") }
    }
}
