import Foundation
import Observation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

/// An app on a device that keeps what it must, and its three contacts.
struct OutboxApp: Sendable {
    static let (one, two, three) = (Server.person(1), Server.person(2), Server.person(3))

    let connection: Connection
    let contacts: ContactsClient
    let user: UserClient

    init(
        _ server: Server, _ store: any LocalStore = InMemoryLocalStore(), tokens: (any TokenStore)? = nil,
        time: Timekeeper? = nil
    ) {
        connection = Connection(
            transport: server.transport, tokens: tokens ?? server.tokens, store: store, policy: .forever,
            time: time ?? server.clock.timekeeper)
        contacts = .live(service: connection)
        user = .live(service: connection)
    }

    /// Runs `body` while it is connected, as the owner of three contacts.
    func connected(_ server: Server, _ body: @Sendable (ScriptedStream) async throws -> Void) async throws {
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(contacts: [Contact(Self.one), Contact(Self.two), Contact(Self.three)])
            try await connection.ready()
            try await body(stream)
        }
    }

    /// Runs `body` while it runs without a stream, after it had one: requests are answered all the same.
    func offline(_ server: Server, _ body: @Sendable () async throws -> Void) async throws {
        try await connected(server) { _ in
            connection.disconnect()
            try await body()
        }
    }

    /// Waits until nothing waits to be sent.
    func waitUntilSent() async { await connection.outbox.items.values.wait { $0.isEmpty } }
}

extension Server {
    /// The commands that arrived, by name and key.
    var commands: [(name: String, key: ID<RequestSubject>?, body: [UInt8])] {
        transport.requests.compactMap { request in
            if case .command(let name) = request.endpoint { (name, request.key, request.body) } else { nil }
        }
    }

    func goOffline() { transport.answer { _ in throw TransportError.unreachable("no network") } }
    func goOnline() {
        transport.answer { [weak self] request in
            guard let self else { throw TransportError.unreachable("the test is over") }
            return try self.answer(request)
        }
    }

    /// Moves the clock until a call has ended.
    func passingTime<Value: Sendable>(_ call: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let isOver = Mutex(false)
        async let value = {
            defer { isOver.withLock { $0 = true } }
            return try await call()
        }()
        // A call that hangs is cancelled by that.
        guard await time(passesUntil: { isOver.withLock { $0 } }) else {
            throw Self.timedOut("a call to end", clock.now)
        }
        return try await value
    }

    /// Moves the clock on, again and again. Records an issue if what it waits for doesn't happen.
    func passTime(at place: SourceLocation = #_sourceLocation, until isOver: @Sendable () -> Bool) async {
        guard await !time(passesUntil: isOver) else { return }
        Issue.record(Self.timedOut("what this line waits for", clock.now), sourceLocation: place)
    }

    private static func timedOut(_ what: String, _ now: Duration) -> TimedOut {
        TimedOut("waited \(Duration.patience) for \(what), which did not happen; the test's clock says \(now)")
    }

    /// - Returns: False if it took too long.
    private func time(passesUntil isOver: @Sendable () -> Bool) async -> Bool {
        let end = ContinuousClock.now + .patience
        while !isOver(), !Task.isCancelled {
            guard ContinuousClock.now < end else { return false }
            // What can go on without time does so meanwhile.
            try? await Task.sleep(for: .milliseconds(1))
            if !isOver(), clock.nextDue != nil { clock.advance(by: .milliseconds(100)) }
        }
        return true
    }
}

extension Outbox {
    /// Notes whether an item's card shows as soon as others can see that the item doesn't wait any more.
    func noteCard(of id: OutboxItem.ID, in hasCard: Observed<Bool?>) {
        withObservationTracking {
            _ = items.value
        } onChange: { [self] in
            if items.value.contains(where: { $0.id == id }) { return noteCard(of: id, in: hasCard) }
            let isShown = unsent.value.contains { $0.id == id }
            hasCard.update { $0 = isShown }
        }
    }
}

extension AccessTokens {
    func token(insteadOf refused: String? = nil, for account: AccountID? = nil) async throws -> String {
        try await access(insteadOf: refused, for: account).token
    }
}

/// A device's tokens of which another process makes something else just after they were read.
final class SharedTokens: TokenStore {
    let store: InMemoryTokenStore
    /// How many more times they are read before that, and what the other one does then.
    private let other = Mutex<(reads: Int, act: @Sendable (InMemoryTokenStore) -> Void)?>(nil)

    init(_ store: InMemoryTokenStore) {
        self.store = store
    }

    func after(reads: Int, _ act: @escaping @Sendable (InMemoryTokenStore) -> Void) {
        other.withLock { $0 = (reads, act) }
    }

    func load() -> Credentials? {
        let found = store.load()
        let act = other.withLock { other -> (@Sendable (InMemoryTokenStore) -> Void)? in
            guard let (reads, act) = other else { return nil }
            other = reads > 1 ? (reads - 1, act) : nil
            return reads > 1 ? nil : act
        }
        act?(store)
        return found
    }

    func save(_ credentials: Credentials?) { store.save(credentials) }

    func update<Value: Sendable>(_ change: (inout Credentials?) throws -> Value) rethrows -> Value {
        try store.update(change)
    }
}

/// A device's store that has trouble.
final class FailingStore: LocalStore {
    struct Full: Error {}

    private let store = InMemoryLocalStore()
    /// How many of the next items can't be saved.
    let failures = Mutex(0)
    let cannotLoad = Mutex(false)
    let cannotRemove = Mutex(false)

    /// What the device has, also while it can't be loaded.
    var kept: LocalAccount { store.load(Server.account) }

    /// Nothing can be saved, replaced or removed.
    func isFull(_ isFull: Bool) {
        failures.withLock { $0 = isFull ? .max : 0 }
        cannotRemove.withLock { $0 = isFull }
    }

    func load(_ account: AccountID) throws -> LocalAccount {
        if cannotLoad.withLock({ $0 }) { throw Full() }
        return store.load(account)
    }

    func save(_ item: OutboxItem, of account: AccountID) throws {
        try save(item, replacing: [], of: account)
    }

    func save(_ item: OutboxItem, replacing others: [OutboxItem.ID], of account: AccountID) throws {
        let fails = failures.withLock { count in
            defer { count = max(0, count - 1) }
            return count > 0
        }
        if fails || !others.isEmpty && cannotRemove.withLock({ $0 }) { throw Full() }
        for other in others { store.remove(other, of: account) }
        store.save(item, of: account)
    }

    func remove(_ item: OutboxItem.ID, of account: AccountID) throws {
        if cannotRemove.withLock({ $0 }) { throw Full() }
        store.remove(item, of: account)
    }

    func save(_ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID) {
        store.save(copies, finishing: items, of: account)
    }

    func forget(_ account: AccountID) { store.forget(account) }
}

/// Holds up whoever comes to it.
final class Gate: Sendable {
    private let state = Observed((isOpen: false, arrived: 0))

    /// Waits until it is open, also for a task that is cancelled.
    func pass() async {
        state.update { $0.arrived += 1 }
        await Task { [state] in _ = try? await state.wait("the gate is open") { $0.isOpen ? true : nil } }.value
    }

    /// Waits until somebody has come.
    func reached() async throws { try await state.wait("somebody comes to the gate") { $0.arrived > 0 ? true : nil } }

    func open() { state.update { $0.isOpen = true } }
}

/// A store of several processes that fails to write.
final class FailingSharedStore: MultiprocessStore {
    private let store: any MultiprocessStore
    /// What fails.
    let failing = Mutex<@Sendable (Write) -> Bool>({ _ in false })

    enum Write: Hashable {
        case add
        case update(StoreUpdate.Step)
        case remove, end, other
        /// What was set aside is forgotten.
        case forgetSetAside
    }

    init(_ store: any MultiprocessStore) {
        self.store = store
    }

    /// What has to happen before it reads an account.
    let beforeLoad = Mutex<(@Sendable () async -> Void)?>(nil)
    /// What has to happen before it says what it has read of an account.
    let afterLoad = Mutex<(@Sendable () async -> Void)?>(nil)
    /// What has to happen before it says whether others have changed anything.
    let beforeVersion = Mutex<(@Sendable () async -> Void)?>(nil)
    /// What has to happen before it writes something.
    let beforeWrite = Mutex<(@Sendable (Write) async -> Void)?>(nil)

    /// What it says it has removed with an addition, besides what it has.
    let alsoRemoved = Mutex<Set<OutboxItem.ID>>([])

    func fails(_ isMeant: @escaping @Sendable (Write) -> Bool) { failing.withLock { $0 = isMeant } }

    /// Has it stop before it writes something, until the gate is opened.
    func stops(_ isMeant: @escaping @Sendable (Write) -> Bool) -> Gate {
        let gate = Gate()
        beforeWrite.withLock { $0 = { write in if isMeant(write) { await gate.pass() } } }
        return gate
    }

    private func check(_ write: Write) async throws {
        await beforeWrite.withLock { $0 }?(write)
        if failing.withLock({ $0(write) }) { throw FailingStore.Full() }
    }

    func load(_ account: AccountID) async throws -> LocalAccount {
        await beforeLoad.withLock { $0 }?()
        let loaded = try await store.load(account)
        await afterLoad.withLock { $0 }?()
        return loaded
    }

    func version() async throws -> Int64 {
        await beforeVersion.withLock { $0 }?()
        return try await store.version()
    }

    func openings() async throws -> Set<String> { try await store.openings() }
    func changes(of account: AccountID) async throws -> StoreChanges { try await store.changes(of: account) }

    func save(_ item: OutboxItem, of account: AccountID) async throws {
        try await check(.add)
        try await store.save(item, of: account)
    }

    func save(_ item: OutboxItem, replacing others: [OutboxItem.ID], of account: AccountID) async throws {
        try await check(.add)
        try await store.save(item, replacing: others, of: account)
    }

    func save(_ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID) async throws {
        try await check(.other)
        try await store.save(copies, finishing: items, of: account)
    }

    func add(_ addition: StoreAddition, of account: AccountID) async throws -> Set<OutboxItem.ID> {
        try await check(.add)
        return try await store.add(addition, of: account).union(alsoRemoved.withLock { $0 })
    }

    func update(_ item: OutboxItem, _ update: StoreUpdate, of account: AccountID) async throws -> StoreUpdate.Outcome {
        try await check(.update(update.step))
        return try await store.update(item, update, of: account)
    }

    func remove(_ item: OutboxItem.ID, of account: AccountID) async throws {
        try await check(.remove)
        try await store.remove(item, of: account)
    }

    func end(
        _ item: OutboxItem.ID, knownAs base: OutboxItem?, deciding decision: Data, of account: AccountID
    ) async throws -> StoreUpdate.Outcome {
        try await check(.end)
        return try await store.end(item, knownAs: base, deciding: decision, of: account)
    }

    func carryOn(_ items: [OutboxItem], of account: AccountID) async throws -> Set<OutboxItem.ID> {
        try await check(.other)
        return try await store.carryOn(items, of: account)
    }

    func items() async throws -> [AccountID: [OutboxItem]] { try await store.items() }

    func forgetSetAside(unlessOf account: AccountID?) async throws {
        try await check(.forgetSetAside)
        try await store.forgetSetAside(unlessOf: account)
    }

    func forget(_ account: AccountID) async throws { try await store.forget(account) }
    func forgetOthers(than account: AccountID?) async throws { try await store.forgetOthers(than: account) }

    func forget(_ account: AccountID, openedAs openings: Set<String>) async throws {
        try await store.forget(account, openedAs: openings)
    }

    func forgetOthers(than account: AccountID?, openedAs openings: Set<String>) async throws {
        try await store.forgetOthers(than: account, openedAs: openings)
    }
}

/// A device's tokens that can't always be read, and how often they were.
final class FailingTokens: TokenStore {
    struct Locked: Error {}

    private let store: InMemoryTokenStore
    let isFailing = Mutex(false)
    let loads = Mutex(0)

    init(_ store: InMemoryTokenStore) {
        self.store = store
    }

    func load() throws -> Credentials? {
        loads.withLock { $0 += 1 }
        if isFailing.withLock({ $0 }) { throw Locked() }
        return store.load()
    }

    func save(_ credentials: Credentials?) throws {
        if isFailing.withLock({ $0 }) { throw Locked() }
        store.save(credentials)
    }
}
