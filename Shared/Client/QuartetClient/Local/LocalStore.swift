public import Foundation
public import QuartetVocabulary
import Synchronization

/// Keeps, on the device, what an app must not lose: changes that the server hasn't decided, and copies of what it has.
///
/// What a function has saved must be durable when it returns, and what it has forgotten must be gone.
public protocol LocalStore: Sendable {
    /// Whether what is saved outlives the process, so that a change may be promised to be sent later.
    var isDurable: Bool { get }
    func load(_ account: AccountID) async throws -> LocalAccount
    /// The items of all accounts, for a sign-out where nobody knows whose they are. Without this, such a sign-out doesn't say what it drops.
    func items() async throws -> [AccountID: [OutboxItem]]
    /// Adds an item or replaces the one with its id.
    func save(_ item: OutboxItem, of account: AccountID) async throws
    /// The same, and removes others, whose place it takes: all of it or nothing.
    func save(_ item: OutboxItem, replacing others: [OutboxItem.ID], of account: AccountID) async throws
    func remove(_ item: OutboxItem.ID, of account: AccountID) async throws
    /// Replaces the copies of these sequences and removes items whose effects they have: all of it or nothing.
    func save(_ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID) async throws
    /// Forgets everything about an account.
    func forget(_ account: AccountID) async throws
    /// Forgets everything about all accounts but one; nil for all. A store that doesn't implement this keeps what a crash during a
    /// sign-out left.
    func forgetOthers(than account: AccountID?) async throws
    /// Somebody signs in, and nobody knows who was signed in before: forgets what the store can't read, unless it is known to be theirs;
    /// nil if that can't be known any more.
    func forgetSetAside(unlessOf account: AccountID?) async throws
}

extension LocalStore {
    public var isDurable: Bool { true }
    public func items() -> [AccountID: [OutboxItem]] { [:] }
    public func forgetOthers(than account: AccountID?) {}
    public func forgetSetAside(unlessOf account: AccountID?) {}
}

extension LocalStore {
    /// For stores that were made for 0.1.0. If the app is killed in between, the others are sent as well, in their order.
    public func save(_ item: OutboxItem, replacing others: [OutboxItem.ID], of account: AccountID) async throws {
        try await save(item, of: account)
        do {
            for other in others { try await remove(other, of: account) }
        } catch {
            // Whoever made the item hears that it isn't kept.
            try? await remove(item.id, of: account)
            throw error
        }
    }
}

/// What a device keeps for one account.
public struct LocalAccount: Hashable, Sendable {
    /// In the order of their ids.
    public var items: [OutboxItem]
    public var copies: [LocalCopy]

    public init(items: [OutboxItem] = [], copies: [LocalCopy] = []) {
        self.items = items
        self.copies = copies
    }
}

/// The copy of one sequence, and where the sequence was.
public struct LocalCopy: Hashable, Sendable {
    /// The sequence's name, as in `contacts`.
    public var sequence: String
    /// Where the sequence goes on, as the server said it.
    public var place: String
    /// JSON; empty for a sequence that no client copies.
    public var state: Data
    /// When the server had this, by its clock where that is known.
    public var asOf: Instant

    public init(sequence: String, place: String, state: Data, asOf: Instant) {
        self.sequence = sequence
        self.place = place
        self.state = state
        self.asOf = asOf
    }
}

/// Forgets everything when the process ends.
public final class InMemoryLocalStore: LocalStore {
    private let accounts = Mutex<[AccountID: LocalAccount]>([:])

    public init() {}

    public var isDurable: Bool { false }

    public func load(_ account: AccountID) -> LocalAccount { accounts.withLock { $0[account] ?? LocalAccount() } }

    public func items() -> [AccountID: [OutboxItem]] { accounts.withLock { $0.mapValues(\.items) } }

    public func save(_ item: OutboxItem, of account: AccountID) { save(item, replacing: [], of: account) }

    public func save(_ item: OutboxItem, replacing others: [OutboxItem.ID], of account: AccountID) {
        accounts.withLock { accounts in
            accounts[account, default: LocalAccount()].items.removeAll { $0.id == item.id || others.contains($0.id) }
            accounts[account, default: LocalAccount()].items.append(item)
            accounts[account]?.items.sort { $0.id < $1.id }
        }
    }

    public func remove(_ item: OutboxItem.ID, of account: AccountID) {
        accounts.withLock { $0[account]?.items.removeAll { $0.id == item } }
    }

    public func save(_ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID) {
        let sequences = Set(copies.map(\.sequence))
        accounts.withLock { accounts in
            accounts[account, default: LocalAccount()].copies.removeAll { sequences.contains($0.sequence) }
            accounts[account, default: LocalAccount()].copies += copies
            accounts[account]?.items.removeAll { items.contains($0.id) }
        }
    }

    public func forget(_ account: AccountID) { accounts.withLock { $0[account] = nil } }

    public func forgetOthers(than account: AccountID?) { accounts.withLock { $0 = $0.filter { $0.key == account } } }
}
