public import Foundation
public import QuartetVocabulary

/// A store that several processes of an app may have at the same time, each with a connection of its own: an app and its widget. Two
/// connections of one process open it twice.
///
/// Each function is one transaction. A function that finds the account forgotten by another process since ``LocalStore/load(_:)``
/// throws ``ForgottenAccount``, and keeps nothing.
public protocol SharedLocalStore: LocalStore {
    /// Differs from what it was if somebody else has changed what is kept. It is asked every second, so it must cost next to nothing.
    func version() async throws -> Int64
    /// What is kept now, whoever kept it.
    func changes(of account: AccountID) async throws -> SharedChanges
    /// Adds an item. One that is there, or that was decided, stays as it is.
    /// - Parameters:
    ///   - others: Those whose place it takes: they go, with `decision`, unless they were sent.
    ///   - decision: What the others' makers hear.
    /// - Returns: Those of the others that were sent by now, and stay.
    func add(
        _ item: OutboxItem, replacing others: [OutboxItem.ID], deciding decision: Data, of account: AccountID
    ) async throws -> Set<OutboxItem.ID>
    /// Replaces an item that is there, unless somebody else holds it.
    func update(_ item: OutboxItem, _ update: SharedUpdate, of account: AccountID) async throws -> SharedUpdate.Outcome
    /// Removes an item that is over.
    func end(_ item: OutboxItem.ID, deciding decision: Data, of account: AccountID) async throws
}

/// Somebody else has signed out, and nothing of the account may be kept any more.
public struct ForgottenAccount: Error {
    public init() {}
}

/// What a shared store keeps of one account's changes.
public struct SharedChanges: Sendable {
    /// In the order of their ids.
    public var items: [OutboxItem]
    /// What became of those that went lately.
    public var decisions: [OutboxItem.ID: Data]

    public init(items: [OutboxItem], decisions: [OutboxItem.ID: Data]) {
        (self.items, self.decisions) = (items, decisions)
    }
}

/// How an item of a shared store is replaced.
public struct SharedUpdate: Sendable {
    public enum Outcome: Hashable, Sendable {
        case done
        /// It isn't there any more: somebody else has decided it.
        case gone
        /// Somebody else holds it, or has sent it, or something that goes before it waits.
        case held
    }

    /// Whose process it is.
    public var holder: String
    public var now: Instant
    /// Until when the item is held, for sending it; nil to let it go.
    public var until: Instant?
    /// Those that may be there and are over, for all that this process knows.
    public var over: Set<OutboxItem.ID>
    /// Those whose place the item took, and that go unless they were sent.
    public var replaced: [OutboxItem.ID]
    /// Whether it is added if it isn't there and wasn't decided.
    public var isNew: Bool
    /// What became of it, for those who wait in other processes.
    public var decision: Data?

    public init(
        holder: String, now: Instant, until: Instant? = nil, over: Set<OutboxItem.ID> = [],
        replaced: [OutboxItem.ID] = [], isNew: Bool = false, decision: Data? = nil
    ) {
        (self.holder, self.now, self.until, self.over) = (holder, now, until, over)
        (self.replaced, self.isNew, self.decision) = (replaced, isNew, decision)
    }

    /// Whether a hold counts. One never lasts for longer than ``hold``, whatever was done to the device's clock.
    public func isHeld(by other: String?, until: Instant?) -> Bool {
        guard let other, other != holder, let until else { return false }
        return now < until && until - now <= Self.hold
    }

    /// How long an item is held: an attempt takes ten seconds at most. Whose process is killed meanwhile has its item sent by another one
    /// after that.
    public static let hold: Interval = .seconds(15)
}
