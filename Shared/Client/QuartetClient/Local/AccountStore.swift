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
    private let shared: (any MultiprocessStore)?
    /// Who has which store object that other processes may have the file of.
    private static let owners = Mutex<[ObjectIdentifier: Owner]>([:])
    /// Whose process this is, to the others.
    private let process = UUID().uuidString
    /// What is known of the others' changes; nil for nothing.
    private let version = Mutex<Int64?>(nil)
    /// What it was when ``hasNews()`` was asked last.
    private let looked = Mutex<Int64?>(nil)
    private struct Forgetting: Sendable {
        var isForgotten = false
        /// Counts how often ``close()`` was called.
        var closings = 0
    }

    private let forgetting = Mutex(Forgetting())
    private let running = Mutex(false)
    private let renewed = Mutex(0)
    /// Another process has signed out.
    let forgets = Broadcast<Void>()
    /// The items that a store of several processes is known to have; nil before an outbox says it.
    let known = Mutex<(@Sendable (AccountID) -> [OutboxItem])?>(nil)
    /// Called with items that a store of several processes has lost and that aren't written again.
    let heldBack = Mutex<(@Sendable (Set<OutboxItem.ID>, AccountID) -> Void)?>(nil)
    /// Whether an account still is the device's, for all that its tokens say; nil before a connection says it.
    let isSignedIn = Mutex<(@Sendable (AccountID) async -> Bool)?>(nil)
    /// Who has signed in without what can't be read having been forgotten.
    private let unforgotten = Mutex<AccountID?>(nil)

    init(_ store: any LocalStore, _ workplace: (any Workplace)?) {
        self.store = store
        self.workplace = workplace
        shared = store as? any MultiprocessStore
    }

    private struct Owner: Sendable {
        weak let store: AccountStore?
    }

    /// One object counts its own transactions for nobody else's: of two connections with it, none would hear of what the other keeps. So
    /// one has it at a time; another one takes it over once that one doesn't run, or has nobody's data.
    /// - Throws: ``QuartetError/notConfigured(_:)`` if another connection uses it.
    private func own() throws(QuartetError) {
        guard let shared, type(of: shared) is AnyClass else { return }
        let object = ObjectIdentifier(shared as AnyObject)
        let isOwn = Self.owners.withLock { owners in
            owners = owners.filter { $0.value.store != nil }
            if let owner = owners[object]?.store, owner !== self {
                guard !owner.isInUse else { return false }
                owner.handOver()
            }
            owners[object] = Owner(store: self)
            return true
        }
        guard isOwn else { throw .notConfigured("A store of the connection's own") }
    }

    /// Nobody else gets the object while the connection runs and somebody's data is open.
    func noteRunning(_ isRunning: Bool) { running.withLock { $0 = isRunning } }

    private var isInUse: Bool { running.withLock { $0 } && (account ?? unreadAccount) != nil }

    /// Another connection has the object from now on. What is known here of what it keeps is read again before anything is saved.
    private func handOver() {
        guard let account else { return }
        unread.withLock { unread in
            unread = account
            current.withLock { $0 = nil }
        }
    }

    /// Whether other processes may have the store.
    var isShared: Bool { shared != nil }
    /// Whether what is kept outlives the process.
    var isDurable: Bool { store.isDurable }
    /// Whether another process has signed out, and this one hasn't ended with that.
    var isForgotten: Bool { forgetting.withLock { $0.isForgotten } }

    /// Counts how often a store of several processes had lost something. Only what ``known`` named was written again.
    var renewals: Int { renewed.withLock { $0 } }

    /// Whose data it is about; nil before ``open(_:)``.
    var account: AccountID? { current.withLock { $0 } }

    /// Whose data couldn't be read. Nothing is saved for them until it is: it might replace what is there.
    var unreadAccount: AccountID? { unread.withLock { $0 } }

    /// Says whose data will be read, before the device's disk is asked for anything. Nothing is said where somebody's is read.
    func expect(_ account: AccountID) { unread.withLock { if self.account == nil { $0 = account } } }

    /// Reads what an account has. From then on its data is what it is about.
    /// - Returns: Nil if somebody else is expected, be it only by the time that it was read.
    func open(_ account: AccountID) async throws(QuartetError) -> LocalAccount? {
        let isExpected = unread.withLock { unread in
            unread = unread ?? account
            return unread == account
        }
        guard isExpected else { return nil }
        return try await shielded { store in
            try self.own()
            // The store has them for its only person by now, whosever that was.
            if self.unforgotten.withLock({ $0 }) == account { try? await self.forgetSetAside(unlessOf: nil, store) }
            let kept = try await store.load(account)
            return self.unread.withLock { unread -> LocalAccount? in
                guard unread == account else { return nil }
                self.version.withLock { $0 = nil }
                self.current.withLock { $0 = account }
                unread = nil
                return kept
            }
        }
    }

    /// Whether an account is the one that it is about.
    /// - Throws: ``QuartetError/notStored(_:)`` if it is, and what it has hasn't been read, or not since another connection had it.
    private func isOpen(_ account: AccountID) throws(QuartetError) -> Bool {
        if account == self.account { return true }
        guard self.account == nil, account == unreadAccount else { return false }
        throw .notStored("what it has can't be read")
    }

    /// Those whose place an item takes, and what their makers hear, encoded.
    typealias Others = [OutboxItem.ID: Data]

    /// Begins to save an item that is new. Items are saved in the order in which this is called. Those whose place one takes go with it.
    /// - Parameters:
    ///   - item: As its person made it.
    ///   - joined: The one before it, if the item can do as well what that is to do, and the item then.
    ///   - own: Asked once its turn has come for those that this process has made.
    ///   - others: Asked once its turn has come for those whose place it takes; nil if it isn't wanted any more.
    ///   - note: Called with those and which of them went, before anything else is asked of the device. The others were sent or decided
    ///     by another process.
    ///   - renumber: Called with the latest item of the lane if another process has kept it meanwhile, before anything else is asked of
    ///     the device. Nothing was done then.
    /// - Returns: Nil, or what `renumber` returned. Or ``QuartetError/needsAuthentication`` if the item's account isn't the one any more.
    func save(
        _ item: OutboxItem, joined: StoreAddition.Joined?, own: @escaping @Sendable () -> Set<OutboxItem.ID>,
        replacing others: @escaping @Sendable () -> Others?,
        then note: @escaping @Sendable (Others, Set<OutboxItem.ID>) -> Void,
        orAfter renumber: @escaping @Sendable (OutboxItem.ID) throws(QuartetError) -> OutboxItem
    ) -> Task<Result<OutboxItem?, QuartetError>, Never> {
        begin { store in
            // Only now is it certain whose turn it is.
            guard let account = item.account, try self.isOpen(account) else { throw QuartetError.needsAuthentication }
            guard let others = others() else { return nil }
            guard let shared = self.shared else {
                let joined = joined.flatMap { others[$0.earlier] == nil ? nil : $0.item }
                try await store.save(joined ?? item, replacing: Array(others.keys), of: account)
                note(others, Set(others.keys))
                return nil
            }
            do {
                let addition = StoreAddition(item, others: others, joined: joined, own: own())
                let removed = try await shared.add(addition, of: account)
                note(others, removed.intersection(others.keys))
                return nil
            } catch let error as OvertakenItem {
                return try renumber(error.latest)
            }
        }
    }

    /// How an item that was saved goes on.
    struct Replacing: Sendable {
        let step: StoreUpdate.Step
        /// The item as this process last found or wrote it.
        var base: OutboxItem?
        /// Whether the device may not have it.
        var isNew = false
        /// Those that the device may have and that are over.
        var over: Set<OutboxItem.ID> = []
        /// The decision with which an addition of this process removed it, where that doesn't hold.
        var removedAs: Data?
        /// What became of it, encoded.
        var decision: Data?
    }

    /// Replaces an item that was saved, even if the caller is cancelled meanwhile.
    /// - Parameters:
    ///   - replacing: Asked once its turn has come; nil if it isn't wanted any more.
    ///   - note: Called with what the device has then, before anything else is asked of it; with nil if nothing was written.
    func replace(
        _ item: OutboxItem, _ replacing: @escaping @Sendable () -> Replacing?,
        then note: @escaping @Sendable (StoreUpdate.Outcome?) -> Void
    ) async throws(QuartetError) -> StoreUpdate.Outcome {
        try await shielded { store in
            var known: StoreUpdate.Outcome?
            defer { note(known) }
            guard let account = item.account, account == self.account ?? self.unreadAccount else {
                throw QuartetError.needsAuthentication
            }
            guard let replacing = replacing() else { return .done }
            guard try self.isOpen(account) else { throw QuartetError.needsAuthentication }
            var kept = item
            kept.replaced = nil
            let replaced = (item.replaced ?? []).map(\.id)
            let outcome: StoreUpdate.Outcome
            if let shared = self.shared {
                let update = StoreUpdate(
                    replacing.step, by: self.process, of: replacing.base, over: replacing.over, replaced: replaced,
                    isNew: replacing.isNew, removedAs: replacing.removedAs, decision: replacing.decision)
                outcome = try await shared.update(kept, update, of: account)
            } else {
                try await store.save(kept, replacing: replaced, of: account)
                outcome = .done
            }
            known = outcome
            return outcome
        }
    }

    /// Removes an item that is over.
    /// - Parameters:
    ///   - base: The item as it is known here; nil to remove it whatever another process has made of it.
    ///   - note: Called with what the device has then, before anything else is asked of it.
    func end(
        _ item: OutboxItem.ID, of account: AccountID?, knownAs base: OutboxItem? = nil, _ decision: OutboxDecision,
        then note: @escaping @Sendable (StoreUpdate.Outcome) -> Void
    ) async throws(QuartetError) -> StoreUpdate.Outcome {
        try await shielded { store in
            guard let account, try self.isOpen(account) else { return .done }
            let outcome: StoreUpdate.Outcome
            if let shared = self.shared {
                outcome = try await shared.end(item, knownAs: base, deciding: decision.encoded, of: account)
            } else {
                try await store.remove(item, of: account)
                outcome = .done
            }
            note(outcome)
            return outcome
        }
    }

    /// What other processes have changed since this was asked last.
    /// - Parameters:
    ///   - isCertain: Whether something is known to have changed.
    ///   - note: Called with it, before anything else is asked of the device. Not called for nothing.
    func othersChanges(
        isCertain: Bool, then note: @escaping @Sendable (StoreChanges, AccountID) -> Void
    ) async throws(QuartetError) {
        guard let shared else { return }
        try await shielded { _ in
            guard let account = self.account else { return }
            let version = try await shared.version()
            guard isCertain || self.version.withLock({ $0 }) != version else { return }
            let changes = try await shared.changes(of: account)
            self.version.withLock { $0 = version }
            note(changes, account)
        }
    }

    /// Whether other processes have changed anything, whoever it is about, since this was asked last.
    func hasNews() async -> Bool {
        guard let shared, let version = try? await shielded({ _ in try await shared.version() }) else { return false }
        return looked.withLock { looked in
            defer { looked = version }
            return looked.map { $0 != version } ?? false
        }
    }

    /// Ends with a sign-out of another process, which has erased what there was.
    func close() {
        // What is being read becomes current before or not at all.
        unread.withLock { unread in
            current.withLock { $0 = nil }
            unread = nil
        }
        forgetting.withLock { forgetting in
            forgetting.isForgotten = false
            forgetting.closings += 1
        }
    }

    func remove(_ item: OutboxItem.ID, of account: AccountID?) async throws(QuartetError) {
        try await shielded { store in
            if let account, try self.isOpen(account) { try await store.remove(item, of: account) }
        }
    }

    /// - Returns: False if another process has kept copies that aren't older: then nothing was done.
    func save(
        _ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID
    ) async throws(QuartetError) -> Bool {
        try await shielded { store in
            // Only now is it certain whose turn it is.
            guard account == self.account else { return false }
            do { try await store.save(copies, finishing: items, of: account) } catch is OutdatedCopy { return false }
            return true
        }
    }

    /// What of a store is there at some time, however it is changed by other processes after that.
    struct Openings: Sendable {
        /// Nil for all.
        let marks: Set<String>?

        static let all = Self(marks: nil)
    }

    /// What can be forgotten by whoever asks this before asking who is signed in: what somebody keeps who signs in after that, in
    /// another process, stays.
    func openings() async throws(QuartetError) -> Openings {
        guard let shared else { return .all }
        return try await shielded { _ in Openings(marks: try await shared.openings()) }
    }

    /// What there is of anybody.
    func items() async throws(QuartetError) -> [OutboxItem] {
        let all = try await shielded { try await $0.items() }
        return all.flatMap { account, items in
            items.map { item in
                var item = item
                item.account = account
                return item
            }
        }
    }

    /// Forgets an account. What is still to be saved for it isn't. If it throws, it has to be called again.
    func forget(_ account: AccountID, _ openings: Openings) async throws(QuartetError) {
        try await shielded { store in
            try self.own()
            self.current.withLock { if $0 == account { $0 = nil } }
            self.unread.withLock { if $0 == account { $0 = nil } }
            if let shared = self.shared, let marks = openings.marks {
                try await shared.forget(account, openedAs: marks)
            } else {
                try await store.forget(account)
            }
        }
    }

    /// Forgets what a crash or a restored backup left of others.
    func forgetOthers(than account: AccountID?, _ openings: Openings) async throws(QuartetError) {
        // Somebody else may be expected by the time that it is this one's turn.
        let expected = unreadAccount
        try await shielded { store in
            try self.own()
            self.current.withLock { if $0 != account { $0 = nil } }
            self.unread.withLock { if $0 == expected, $0 != account { $0 = nil } }
            if let shared = self.shared, let marks = openings.marks {
                try await shared.forgetOthers(than: account, openedAs: marks)
            } else {
                try await store.forgetOthers(than: account)
            }
        }
    }

    /// The same of what can't be read and may be somebody else's. If it throws, ``open(_:)`` tries again.
    func forgetSetAside(unlessOf account: AccountID) async throws(QuartetError) {
        unforgotten.withLock { $0 = account }
        try await shielded { try await self.forgetSetAside(unlessOf: account, $0) }
    }

    private func forgetSetAside(unlessOf account: AccountID?, _ store: any LocalStore) async throws {
        try await store.forgetSetAside(unlessOf: account)
        unforgotten.withLock { $0 = nil }
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
                        let closings = self.forgetting.withLock { $0.closings }
                        do { return try await self.carryingOn(body) } catch is ForgottenAccount {
                            self.noteForgotten(unlessClosedSince: closings)
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

    /// Runs `body`, and once more where what the store had was damaged: what is known of it here is written again first.
    private func carryingOn<Value: Sendable>(
        _ body: @escaping @Sendable (any LocalStore) async throws -> Value
    ) async throws -> Value {
        do { return try await body(store) } catch let error as RenewedStore {
            guard let shared, let account = account ?? unreadAccount else { throw error }
            // Of a sign-out before the damage, the store may not know any more.
            let isSignedIn = isSignedIn.withLock { $0 }
            if let isSignedIn, await !isSignedIn(account) { throw ForgottenAccount() }
            let items = known.withLock { $0 }?(account) ?? []
            // What is taken out from now on is among them.
            renewed.withLock { $0 += 1 }
            let ended = try await shared.carryOn(items, of: account)
            // None of them is taken for one that another process has ended.
            if !ended.isEmpty { heldBack.withLock { $0 }?(ended, account) }
            return try await body(store)
        }
    }

    /// What was under way when the account was closed says nothing of whoever is signed in by now.
    private func noteForgotten(unlessClosedSince closings: Int) {
        let isNews = forgetting.withLock { forgetting in
            guard forgetting.closings == closings else { return false }
            forgetting.isForgotten = true
            return true
        }
        if isNews { forgets.send(()) }
    }
}
