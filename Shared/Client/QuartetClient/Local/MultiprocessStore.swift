public import Foundation
public import QuartetVocabulary

/// A store that several processes of an app may have at the same time, each with a connection of its own: an app and its widget. Two
/// connections of one process open it twice: one that is given an object which another one uses throws
/// ``QuartetError/notConfigured(_:)``, until that one doesn't run any more or nobody is signed in there.
///
/// Nobody owns an item. What is about to be sent is written first, by whichever process is the first; all others send the same body
/// under the same key, so the server makes one change of it and gives each the same answer.
///
/// Each function is one transaction. A function that finds the account forgotten by another process since ``LocalStore/load(_:)``
/// throws ``ForgottenAccount``, and keeps nothing. One that finds that what is kept was damaged or lost throws ``RenewedStore``.
public protocol MultiprocessStore: LocalStore {
    /// Differs from what it was if somebody else has changed what is kept. It is asked every second, so it must cost next to nothing.
    func version() async throws -> Int64
    /// The marks of the accounts that are open. An account gets one when it is loaded or written first, whoever does that, and another
    /// one after it was forgotten.
    func openings() async throws -> Set<String>
    /// Forgets everything about an account, unless it was opened as something else than these.
    func forget(_ account: AccountID, openedAs openings: Set<String>) async throws
    /// Forgets everything about all accounts but one (nil for all), and but those that were opened as something else than these.
    func forgetOthers(than account: AccountID?, openedAs openings: Set<String>) async throws
    /// What is kept now, whoever kept it.
    func changes(of account: AccountID) async throws -> StoreChanges
    /// Adds an item. One that is there, or that was decided, stays as it is. An earlier one that another of the lane has come after isn't
    /// joined.
    /// - Returns: Those of the others that were removed: they were there and hadn't been sent. The same if it is asked once more.
    /// - Throws: ``OvertakenItem`` if the item isn't urgent and a later one of its lane is there that another process has made.
    func add(_ addition: StoreAddition, of account: AccountID) async throws -> Set<OutboxItem.ID>
    /// Takes an item a step further.
    ///
    /// One that is there is compared with what its process takes it for, and ``StoreUpdate/verdict(for:on:sentBy:)`` says what becomes of
    /// it. The verdict's sender is kept also where nothing is written. One that isn't there is added if it is new and wasn't decided, or
    /// was decided as this process said (``StoreUpdate/decision``, ``StoreUpdate/removedAs``); else it is gone. With the step
    /// ``StoreUpdate/Step/prepare``, one that wasn't sent and is behind another of its lane (``StoreUpdate/isBehind(_:_:)``) stays as it
    /// is. Where the item is written, those whose place it took (``StoreUpdate/replaced``) go unless they were sent or are over, what was
    /// decided before is forgotten, and the update's decision is kept for ten minutes.
    func update(_ item: OutboxItem, _ update: StoreUpdate, of account: AccountID) async throws -> StoreUpdate.Outcome
    /// Removes an item that is over, unless it was sent as something else than it is known here. What was decided before stays decided.
    /// - Parameter base: The item as it is known here; nil if the server has decided it.
    func end(
        _ item: OutboxItem.ID, knownAs base: OutboxItem?, deciding decision: Data, of account: AccountID
    ) async throws -> StoreUpdate.Outcome
    /// Goes on after ``RenewedStore``.
    /// - Parameter items: What this process knows the store to have had. What isn't there and wasn't decided is written again. Items that
    ///   aren't over are held back if others may have taken them back and the store may not remember that any more: of an urgent one, its
    ///   card and decision are written instead (``OutboxItem/heldBack``). One that another process held back (``OutboxItem/isHeldBack``),
    ///   and that nobody can have taken back without this process's knowing, takes the place of these.
    /// - Returns: Those that were held back. Each of them ends here.
    func carryOn(_ items: [OutboxItem], of account: AccountID) async throws -> Set<OutboxItem.ID>
}

extension MultiprocessStore {
    /// For a store that never throws ``RenewedStore``.
    public func carryOn(_ items: [OutboxItem], of account: AccountID) -> Set<OutboxItem.ID> { [] }
}

extension OutboxItem {
    /// What a store keeps of an urgent item that it holds back, and the decision that goes with that; nil for others.
    public var heldBack: (card: OutboxItem, decision: Data)? {
        guard precedence == .urgent, !isOver else { return nil }
        var card = self
        // A release that knows no cards takes it for a change that expired.
        (card.unsent, card.lifetime, card.replaced) = (.unknown, .seconds(0), nil)
        return (card, OutboxDecision(.failure(.unknown)).encoded)
    }

    /// Whether it is the card of one that was held back before anybody sent it: of any other one that was never sent, that is known.
    public var isHeldBack: Bool { unsent == .unknown && !isSent }
}

/// What was kept is damaged, and the store goes on with what could be read of it: what isn't there any more isn't over. Thrown until
/// ``MultiprocessStore/carryOn(_:of:)`` has been called; nothing was done then, or it may be done again.
public struct RenewedStore: Error {
    public init() {}
}

/// Somebody else has signed out, and nothing of the account may be kept any more.
public struct ForgottenAccount: Error {
    public init() {}
}

/// Another process has kept a copy that isn't older: this one isn't kept, and no item is finished by it.
public struct OutdatedCopy: Error {
    public init() {}
}

/// Another process has kept a later item of the lane meanwhile, which may do as well what came before both. Items are sent in the order of
/// their ids, so this one isn't kept under its own.
public struct OvertakenItem: Error {
    /// The latest of the lane.
    public let latest: OutboxItem.ID

    public init(by latest: OutboxItem.ID) { self.latest = latest }
}

/// What a store of several processes keeps of one account's changes.
public struct StoreChanges: Sendable {
    /// Those that this version of the app can read, in the order of their ids.
    public var items: [OutboxItem]
    /// The numbers of all that are there.
    public var ids: Set<OutboxItem.ID>
    /// What became of those that went lately.
    public var decisions: [OutboxItem.ID: Data]

    public init(items: [OutboxItem], ids: Set<OutboxItem.ID>, decisions: [OutboxItem.ID: Data]) {
        (self.items, self.ids, self.decisions) = (items, ids, decisions)
    }
}

/// How an item is added to a store of several processes.
public struct StoreAddition: Sendable {
    /// What takes an item's place if another one goes.
    public struct Joined: Sendable {
        /// The one that has to go for it.
        public var earlier: OutboxItem.ID
        /// The item, which then does as well what the earlier one was to do.
        public var item: OutboxItem

        public init(earlier: OutboxItem.ID, item: OutboxItem) { (self.earlier, self.item) = (earlier, item) }
    }

    /// The item as its person made it.
    public var item: OutboxItem
    /// Those whose place it takes unless they were sent, and what their makers hear.
    public var others: [OutboxItem.ID: Data]
    public var joined: Joined?
    /// Those that the same process has made: none of them overtakes the item.
    public var own: Set<OutboxItem.ID>

    public init(
        _ item: OutboxItem, others: [OutboxItem.ID: Data] = [:], joined: Joined? = nil, own: Set<OutboxItem.ID> = []
    ) {
        (self.item, self.others, self.joined, self.own) = (item, others, joined, own)
    }
}

/// How an item of a store of several processes goes on.
public struct StoreUpdate: Sendable {
    public enum Step: Hashable, Sendable {
        /// It is about to be sent, for the first time or once more.
        case prepare
        /// It was prepared, and nothing of it has reached the server: it can be taken back again.
        case unsend
        /// It needs another key, or couldn't be written before.
        case renew
        /// It won't be sent any more, and is kept for another reason.
        case end
    }

    public enum Outcome: Hashable, Sendable {
        /// The store has it as it was asked to.
        case done
        /// The store keeps what another process has made of it.
        case other(OutboxItem)
        /// It isn't there any more, and what became of it, where that is known.
        case gone(Data?)
        /// Something that goes before it waits.
        case behind
    }

    /// What to do with an item that is there.
    public struct Verdict: Hashable, Sendable {
        public var outcome: Outcome
        /// What the store has afterwards; nil if that stays.
        public var written: OutboxItem?
        /// Which process was the only one to send it; nil if none did or several.
        public var sender: String?
    }

    public var step: Step
    /// Whose process it is.
    public var process: String
    /// The item as this process last found or wrote it; nil if it wasn't sent then.
    public var base: OutboxItem?
    /// Those that may be there and are over, for all that this process knows.
    public var over: Set<OutboxItem.ID>
    /// Those whose place the item took, and that go unless they were sent.
    public var replaced: [OutboxItem.ID]
    /// Whether it is added if it isn't there and wasn't decided.
    public var isNew: Bool
    /// The decision with which an addition of this process removed it, if it was sent or ended meanwhile all the same.
    public var removedAs: Data?
    /// What became of it, for those who wait in other processes.
    public var decision: Data?

    public init(
        _ step: Step, by process: String, of base: OutboxItem? = nil, over: Set<OutboxItem.ID> = [],
        replaced: [OutboxItem.ID] = [], isNew: Bool = false, removedAs: Data? = nil, decision: Data? = nil
    ) {
        (self.step, self.process, self.base, self.over) = (step, process, base, over)
        (self.replaced, self.isNew, self.removedAs, self.decision) = (replaced, isNew, removedAs, decision)
    }

    /// What becomes of an item that is there: compared with what this process takes it for, and replaced only if it is that.
    /// - Parameter sender: The only process that has sent it.
    public func verdict(for item: OutboxItem, on stored: OutboxItem, sentBy sender: String?) -> Verdict {
        let keeps = Verdict(outcome: .other(stored), written: nil, sender: sender)
        let isKnown = !stored.isSent || base.map(stored.isSame) ?? false
        // An answer of the server's counts for more than a card that says that there was none.
        if stored.isOver {
            guard item.accepted != nil, stored.accepted == nil else { return keeps }
            return Verdict(outcome: .done, written: item, sender: nil)
        }
        switch step {
        case .prepare:
            guard isKnown || stored.isSame(as: item) else {
                return Verdict(outcome: .other(stored), written: nil, sender: sender == process ? process : nil)
            }
            guard !stored.isSame(as: item) else {
                return Verdict(outcome: .done, written: nil, sender: sender == process ? process : nil)
            }
            return Verdict(outcome: .done, written: item, sender: process)
        case .unsend:
            // Another process may be sending it.
            guard let base, stored.isSame(as: base), sender == process || !stored.isSent else { return keeps }
            return Verdict(outcome: .done, written: item, sender: nil)
        case .renew:
            guard base.map(stored.isSame) ?? !stored.isSent else { return keeps }
            return Verdict(outcome: .done, written: item, sender: nil)
        case .end:
            guard isKnown || item.accepted != nil else { return keeps }
            return Verdict(outcome: .done, written: item, sender: nil)
        }
    }

    /// Whether another item goes before one that was never sent.
    public func isBehind(_ earlier: OutboxItem, _ item: OutboxItem) -> Bool {
        earlier.id < item.id && earlier.lane == item.lane && !earlier.isOver && !over.contains(earlier.id)
            && !replaced.contains(earlier.id)
    }
}
