import Foundation
import QuartetVocabulary
import Synchronization

/// The store of whoever is signed in. What is saved for an account is never saved after it was forgotten, and a task that is
/// cancelled ends none of it halfway.
final class AccountStore: Sendable {
    private let store: any LocalStore
    private let current = Mutex<AccountID?>(nil)
    private let unread = Mutex<AccountID?>(nil)
    private let lane = Lane()
    private let workplace: (any Workplace)?

    init(_ store: any LocalStore, _ workplace: (any Workplace)?) {
        self.store = store
        self.workplace = workplace
    }

    /// Whose data it is about; nil before ``open(_:)``.
    var account: AccountID? { current.withLock { $0 } }

    /// Whose data couldn't be read. Nothing is saved for them until it is: it might replace what is there.
    var unreadAccount: AccountID? { unread.withLock { $0 } }

    /// Says whose data will be read, before the device's disk is asked for anything.
    func expect(_ account: AccountID) { unread.withLock { $0 = account } }

    func open(_ account: AccountID) async throws(QuartetError) -> LocalAccount {
        expect(account)
        return try await shielded { store in
            let kept = try await store.load(account)
            self.current.withLock { $0 = account }
            self.unread.withLock { $0 = nil }
            return kept
        }
    }

    /// Begins to save an item. Items are saved in the order in which this is called. Those whose place one takes go with it.
    /// - Returns: What becomes of it: ``QuartetError/needsAuthentication`` if the item's account isn't the one any more.
    func save(_ item: OutboxItem) -> Task<Result<Void, QuartetError>, Never> {
        begin { store in
            // Only now is it certain whose turn it is.
            guard let account = item.account, account == self.account ?? self.unreadAccount else {
                throw QuartetError.needsAuthentication
            }
            guard self.account != nil else { throw QuartetError.notStored("what it has can't be read") }
            try await Self.write(item, to: store, of: account)
        }
    }

    /// Replaces an item that was saved, even if the caller is cancelled meanwhile.
    /// - Parameter isWanted: Whether it still is one, once its turn has come.
    func replace(_ item: OutboxItem, if isWanted: @escaping @Sendable () -> Bool) async throws(QuartetError) {
        try await shielded { store in
            guard let account = item.account, account == self.account ?? self.unreadAccount, isWanted() else { return }
            guard self.account != nil else { throw QuartetError.notStored("what it has can't be read") }
            try await Self.write(item, to: store, of: account)
        }
    }

    private static func write(_ item: OutboxItem, to store: any LocalStore, of account: AccountID) async throws {
        var kept = item
        kept.replaced = nil
        try await store.save(kept, replacing: (item.replaced ?? []).map(\.id), of: account)
    }

    func remove(_ item: OutboxItem) async throws(QuartetError) { try await remove(item.id, of: item.account) }

    func remove(_ item: OutboxItem.ID, of account: AccountID?) async throws(QuartetError) {
        try await of(account) { try await $0.remove(item, of: $1) }
    }

    func save(
        _ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID
    ) async throws(QuartetError) {
        try await of(account) { try await $0.save(copies, finishing: items, of: $1) }
    }

    /// Forgets an account. What is still to be saved for it isn't. If it throws, it has to be called again.
    func forget(_ account: AccountID) async throws(QuartetError) {
        try await shielded { store in
            self.current.withLock { if $0 == account { $0 = nil } }
            self.unread.withLock { if $0 == account { $0 = nil } }
            try await store.forget(account)
        }
    }

    /// Forgets what a crash or a restored backup left of others.
    func forgetOthers(than account: AccountID?) async throws(QuartetError) {
        try await shielded { store in
            self.current.withLock { if $0 != account { $0 = nil } }
            self.unread.withLock { if $0 != account { $0 = nil } }
            try await store.forgetOthers(than: account)
        }
    }

    /// Does nothing for an account that isn't the one any more.
    private func of(
        _ account: AccountID?, _ body: @escaping @Sendable (any LocalStore, AccountID) async throws -> Void
    ) async throws(QuartetError) {
        try await shielded { store in
            // Only now is it certain whose turn it is.
            if let account, account == self.account { try await body(store, account) }
        }
    }

    /// Runs `body` to its end, even if the caller is cancelled.
    private func shielded<Value: Sendable>(
        _ body: @escaping @Sendable (any LocalStore) async throws -> Value
    ) async throws(QuartetError) -> Value {
        try await begin(body).value.get()
    }

    /// Runs `body` when its turn has come, which it takes at once.
    private func begin<Value: Sendable>(
        _ body: @escaping @Sendable (any LocalStore) async throws -> Value
    ) -> Task<Result<Value, QuartetError>, Never> {
        let place = lane.takePlace()
        return Task(executorPreference: workplace) {
            do throws(QuartetError) {
                return .success(
                    try await self.lane.run(at: place) { () async throws(QuartetError) in
                        do { return try await body(self.store) } catch {
                            throw error as? QuartetError ?? .notStored("\(error)")
                        }
                    })
            } catch {
                return .failure(error)
            }
        }
    }
}
