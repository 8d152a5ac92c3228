import Foundation
import QuartetVocabulary
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The tokens of one account. What a store gives of another one's, because the app gave both the same, is neither shown nor replaced.
struct OwnTokens: TokenStore {
    struct Foreign: Error, CustomStringConvertible {
        var description: String { "the app keeps the tokens of several accounts in one place" }
    }

    let store: any TokenStore
    let account: AccountID

    private func check(_ credentials: Credentials?) throws {
        if let credentials, credentials.account != account { throw Foreign() }
    }

    func load() throws -> Credentials? {
        let credentials = try store.load()
        try check(credentials)
        return credentials
    }

    func save(_ credentials: Credentials?) throws {
        try check(credentials)
        // What can't be read is replaced.
        if let former = try? store.load() { try check(former) }
        try store.save(credentials)
    }

    func update<Value: Sendable>(_ change: (inout Credentials?) throws -> Value) throws -> Value {
        try store.update { stored in
            try check(stored)
            let value = try change(&stored)
            try check(stored)
            return value
        }
    }
}

/// A store that is opened when it is needed, as often as that fails, and once more where its folder was erased since.
final class LateStore: MultiprocessStore {
    /// A folder as it was. As long as this is there, no other folder has its number.
    private final class Folder: Sendable {
        private let descriptor: Int32

        init(_ url: URL) { descriptor = open(url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }

        deinit { if descriptor >= 0 { close(descriptor) } }

        /// Whether it is what is at a place. What the device can't say now isn't gone.
        func isStill(at url: URL) -> Bool {
            var (own, there) = (stat(), stat())
            guard descriptor >= 0, fstat(descriptor, &own) == 0 else { return true }
            guard stat(url.path, &there) == 0 else { return errno != ENOENT && errno != ENOTDIR }
            return own.st_ino == there.st_ino && own.st_dev == there.st_dev
        }
    }

    private struct Opened: Sendable {
        let store: any MultiprocessStore
        let folder: Folder
    }

    private struct State: Sendable {
        var opened: Opened?
        /// How often it was opened.
        var count: Int64 = 0
        /// Another process has erased the folder, and what is there now wasn't loaded since.
        var isForgotten = false
    }

    private let url: URL
    private let make: @Sendable () throws -> any MultiprocessStore
    private let state = Mutex(State())

    /// - Parameter url: The folder.
    init(in url: URL, _ make: @escaping @Sendable () throws -> any MultiprocessStore) {
        (self.url, self.make) = (url, make)
    }

    /// - Returns: Whether another process has erased the folder since this was last asked.
    private func noteErasure() -> Bool {
        // The device is asked, and the file is closed, without the lock.
        guard let opened = state.withLock({ $0.opened }) else { return false }
        return withExtendedLifetime(opened) {
            guard !opened.folder.isStill(at: url) else { return false }
            return state.withLock { state in
                guard state.opened?.folder === opened.folder else { return false }
                (state.opened, state.isForgotten) = (nil, true)
                return true
            }
        }
    }

    private func opening() throws -> any MultiprocessStore {
        _ = noteErasure()
        if let opened = state.withLock({ $0.opened }) { return opened.store }
        let folder = Folder(url)
        let store = try make()
        let former = state.withLock { state in
            defer {
                state.opened = Opened(store: store, folder: folder)
                state.count += 1
            }
            return state.opened
        }
        withExtendedLifetime(former) {}
        return store
    }

    /// For what is about what was loaded.
    /// - Throws: ``ForgottenAccount`` if another process has erased that.
    private var store: any MultiprocessStore {
        get throws {
            _ = noteErasure()
            if state.withLock({ $0.isForgotten }) { throw ForgottenAccount() }
            return try opening()
        }
    }

    /// This process has erased the folder, after its account had signed out here.
    func noteOwnErasure() {
        let former = state.withLock { state in
            defer { (state.opened, state.isForgotten) = (nil, false) }
            return state.opened
        }
        withExtendedLifetime(former) {}
    }

    /// Closes a file of which nothing but this is left.
    func closeIfErased() { _ = noteErasure() }

    /// What is to be kept is promised to be sent as soon as it is opened.
    var isDurable: Bool { state.withLock { $0.opened?.store.isDurable } ?? true }

    func version() async throws -> Int64 {
        // Said once, to whoever looks every second.
        if noteErasure() { throw ForgottenAccount() }
        let store = try opening()
        // Those of two files have nothing to do with each other.
        return try await store.version() &+ state.withLock { $0.count } &<< 48
    }

    func load(_ account: AccountID) async throws -> LocalAccount {
        let store = try opening()
        state.withLock { $0.isForgotten = false }
        return try await store.load(account)
    }

    func items() async throws -> [AccountID: [OutboxItem]] { try await opening().items() }
    func save(_ item: OutboxItem, of account: AccountID) async throws { try await store.save(item, of: account) }

    func save(_ item: OutboxItem, replacing others: [OutboxItem.ID], of account: AccountID) async throws {
        try await store.save(item, replacing: others, of: account)
    }

    func remove(_ item: OutboxItem.ID, of account: AccountID) async throws { try await store.remove(item, of: account) }

    func save(_ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID) async throws {
        try await store.save(copies, finishing: items, of: account)
    }

    func forget(_ account: AccountID) async throws { try await opening().forget(account) }
    func forgetOthers(than account: AccountID?) async throws { try await opening().forgetOthers(than: account) }

    func forgetSetAside(unlessOf account: AccountID) async throws {
        try await opening().forgetSetAside(unlessOf: account)
    }

    func openings() async throws -> Set<String> { try await opening().openings() }

    func forget(_ account: AccountID, openedAs openings: Set<String>) async throws {
        try await opening().forget(account, openedAs: openings)
    }

    func forgetOthers(than account: AccountID?, openedAs openings: Set<String>) async throws {
        try await opening().forgetOthers(than: account, openedAs: openings)
    }

    func changes(of account: AccountID) async throws -> StoreChanges { try await store.changes(of: account) }

    func add(_ addition: StoreAddition, of account: AccountID) async throws -> Set<OutboxItem.ID> {
        try await store.add(addition, of: account)
    }

    func update(_ item: OutboxItem, _ update: StoreUpdate, of account: AccountID) async throws -> StoreUpdate.Outcome {
        try await store.update(item, update, of: account)
    }

    func end(
        _ item: OutboxItem.ID, knownAs base: OutboxItem?, deciding decision: Data, of account: AccountID
    ) async throws -> StoreUpdate.Outcome {
        try await store.end(item, knownAs: base, deciding: decision, of: account)
    }

    func carryOn(_ items: [OutboxItem], of account: AccountID) async throws -> Set<OutboxItem.ID> {
        try await store.carryOn(items, of: account)
    }
}
