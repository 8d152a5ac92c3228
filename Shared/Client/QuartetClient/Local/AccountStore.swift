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
    /// The same store, if other processes may have it.
    private let shared: (any SharedLocalStore)?
    /// Whose process this is, to the others.
    private let holder = UUID().uuidString
    private let time: Timekeeper
    /// What is known of the others' changes; nil for nothing.
    private let version = Mutex<Int64?>(nil)
    private let forgotten = Mutex(false)
    /// Another process has signed out.
    let forgets = Broadcast<Void>()

    init(_ store: any LocalStore, _ time: Timekeeper) {
        self.store = store
        self.time = time
        workplace = time.workplace
        shared = store as? any SharedLocalStore
    }

    /// Whether other processes may have the store.
    var isShared: Bool { shared != nil }
    /// Whether what is kept outlives the process.
    var isDurable: Bool { store.isDurable }
    /// Whether another process has signed out, and this one hasn't ended with that.
    var isForgotten: Bool { forgotten.withLock { $0 } }

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
            self.forgotten.withLock { $0 = false }
            self.version.withLock { $0 = nil }
            self.current.withLock { $0 = account }
            self.unread.withLock { $0 = nil }
            return kept
        }
    }

    /// Begins to save an item that is new. Items are saved in the order in which this is called. Those whose place one takes go with it.
    /// - Returns: Which of those stay, since another process has sent them; ``QuartetError/needsAuthentication`` if the item's
    ///   account isn't the one any more.
    func save(_ item: OutboxItem) -> Task<Result<Set<OutboxItem.ID>, QuartetError>, Never> {
        begin { store in
            // Only now is it certain whose turn it is.
            guard let account = item.account, account == self.account ?? self.unreadAccount else {
                throw QuartetError.needsAuthentication
            }
            guard self.account != nil else { throw QuartetError.notStored("what it has can't be read") }
            guard let shared = self.shared else {
                try await Self.write(item, to: store, of: account)
                return []
            }
            var kept = item
            kept.replaced = nil
            let replaced = (item.replaced ?? []).map(\.id)
            let decision = OutboxDecision(.failure(.superseded)).encoded
            return try await shared.add(kept, replacing: replaced, deciding: decision, of: account)
        }
    }

    /// How an item that was saved is replaced.
    struct Replacing: Sendable {
        /// Whether it is about to be sent, so that no other process sends it meanwhile.
        var isSending = false
        /// Whether the device may not have it.
        var isNew = false
        /// Those that the device may have and that are over.
        var over: Set<OutboxItem.ID> = []
        var decision: OutboxDecision?
    }

    /// Replaces an item that was saved, even if the caller is cancelled meanwhile.
    /// - Parameter isWanted: Whether it still is one, once its turn has come.
    /// - Returns: Whether another process holds it, or has decided it: then it isn't replaced.
    @discardableResult
    func replace(
        _ item: OutboxItem, _ replacing: Replacing, if isWanted: @escaping @Sendable () -> Bool
    ) async throws(QuartetError) -> SharedUpdate.Outcome {
        try await shielded { store in
            guard let account = item.account, account == self.account ?? self.unreadAccount, isWanted() else {
                return .done
            }
            guard self.account != nil else { throw QuartetError.notStored("what it has can't be read") }
            guard let shared = self.shared else {
                try await Self.write(item, to: store, of: account)
                return .done
            }
            var kept = item
            kept.replaced = nil
            let now = self.time.wall()
            let update = SharedUpdate(
                holder: self.holder, now: now, until: replacing.isSending ? now + SharedUpdate.hold : nil,
                over: replacing.over, replaced: (item.replaced ?? []).map(\.id), isNew: replacing.isNew,
                decision: replacing.decision?.encoded)
            return try await shared.update(kept, update, of: account)
        }
    }

    /// What other processes have changed since this was asked last; nil for nothing.
    /// - Parameter isCertain: Whether something is known to have changed.
    func othersChanges(isCertain: Bool) async throws(QuartetError) -> SharedChanges? {
        guard let shared else { return nil }
        return try await shielded { _ in
            guard let account = self.account else { return nil }
            let version = try await shared.version()
            let known = self.version.withLock { known in
                defer { known = version }
                return known
            }
            guard isCertain || known != version else { return nil }
            return try await shared.changes(of: account)
        }
    }

    /// Ends with a sign-out of another process, which has erased what there was.
    func close() {
        current.withLock { $0 = nil }
        unread.withLock { $0 = nil }
        forgotten.withLock { $0 = false }
    }

    private static func write(_ item: OutboxItem, to store: any LocalStore, of account: AccountID) async throws {
        var kept = item
        kept.replaced = nil
        try await store.save(kept, replacing: (item.replaced ?? []).map(\.id), of: account)
    }

    func remove(_ item: OutboxItem) async throws(QuartetError) { try await remove(item.id, of: item.account) }

    /// - Parameter decision: What became of it.
    func remove(
        _ item: OutboxItem.ID, of account: AccountID?, _ decision: OutboxDecision? = nil
    ) async throws(QuartetError) {
        try await of(account) { [shared] store, account in
            guard let shared, let decision else { return try await store.remove(item, of: account) }
            try await shared.end(item, deciding: decision.encoded, of: account)
        }
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
                        do { return try await body(self.store) } catch is ForgottenAccount {
                            self.forgotten.withLock { $0 = true }
                            self.forgets.send(())
                            throw .needsAuthentication
                        } catch {
                            throw error as? QuartetError ?? .notStored("\(error)")
                        }
                    })
            } catch {
                return .failure(error)
            }
        }
    }
}
