import Foundation
public import QuartetAPI
import QuartetSessionContract
public import QuartetVocabulary
import Synchronization

/// An urgent change that will never be sent, of which nobody knows whether it arrived, or that was refused when nobody waited for it any
/// more, though a person asked for it: a card that stays until somebody has read it.
public struct UnsentChange: Hashable, Sendable, Identifiable {
    public enum Reason: String, Codable, Hashable, CaseIterable, Sendable {
        /// There was no connection for so long that it would no longer mean the same.
        case expired
        /// A later change took its place.
        case superseded
        /// Its person signed out.
        case signedOut
        /// It was sent, and no answer came in time: it may have happened.
        case unknown
        /// The server refused it.
        case refused

        /// Why an urgent change may be a card that ended so; nil if it isn't one.
        init?(_ result: Result<CommandReply, QuartetError>) {
            switch result {
            case .failure(.expired): self = .expired
            case .failure(.unknown): self = .unknown
            case .failure(.refused): self = .refused
            case .success, .failure: return nil
            }
        }

        func error(_ refusal: Refusal?) -> QuartetError {
            switch self {
            case .expired: .expired
            case .superseded: .superseded
            case .refused: .refused(refusal?.error ?? APIError(.refused))
            case .unknown, .signedOut: .unknown
            }
        }
    }

    /// What is kept of a refusal.
    struct Refusal: Codable, Hashable, Sendable {
        let code: String
        let detail: String

        init(_ error: APIError) {
            (code, detail) = (error.code.rawValue, error.detail)
        }

        /// Of a code that this version doesn't know, the sentence stays.
        var error: APIError { APIError(APIError.Code(rawValue: code) ?? .refused, detail) }
    }

    public let id: OutboxItem.ID
    /// The command's name, as in `RaiseAlert`.
    public let command: String
    /// Whom it was about, where it was about somebody: whose ping it would have answered, for instance.
    public let contact: AccountID?
    /// When the person acted: by the server's clock if that was known then, or else by the device's.
    public let acted: Instant
    public let reason: Reason
    /// With ``Reason/refused``: why.
    public let refusal: APIError?
    let account: AccountID?

    init(_ item: OutboxItem, _ reason: Reason) {
        (id, command, account, self.reason) = (item.id, item.command, item.account, reason)
        refusal = item.refusal?.error
        acted = item.actedAtServer ?? item.acted
        contact = item.order?.split(separator: "/").dropFirst().first.flatMap { AccountID(String($0)) }
    }
}

extension UnsentChange {
    /// Which goes before which where not all can be told.
    enum Gravity: Int, Comparable {
        case other
        /// Its person may wait for somebody, or somebody for them.
        case safety
        case callForHelp

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    var gravity: Gravity {
        // Its person did what took its place.
        if reason == .superseded { return .other }
        let type = appCommands[command]
        if type is RaiseAlert.Type { return .callForHelp }
        return switch type?.sending.topic {
        case .alert, .checkIn, .trip: .safety
        default: .other
        }
    }
}

extension [UnsentChange] {
    /// The gravest first, and of those the oldest.
    var byGravity: Self { sorted { ($1.gravity, $0.id) < ($0.gravity, $1.id) } }
}

/// The cards that nobody has read, on the screen and on the device.
final class UnsentChanges: Sendable {
    let shared = SharedState<[UnsentChange]>([], .ready)
    /// The commands that aren't urgent and were dropped by signing out.
    let dropped = SharedState<[String]>([], .ready)
    private let cards = Mutex<[UnsentChange]>([])
    private let lost = Mutex<[(account: AccountID?, command: String)]>([])
    /// Those that show before their items go, until something else says that they are to show. Locked within the cards.
    private let early = Mutex<Set<OutboxItem.ID>>([])
    /// Those that the device has, or is about to.
    private let kept = Mutex<Set<OutboxItem.ID>>([])
    /// What other processes may change: those that the device has for certain, and those that were read here.
    private let written = Mutex((there: [OutboxItem.ID: OutboxItem](), read: Set<OutboxItem.ID>()))
    /// Those that ended here and that the device is still to tell of, and all that it was to.
    private let telling = Mutex((waiting: [OutboxItem.ID](), known: Set<OutboxItem.ID>()))
    /// There is one more to tell of.
    let news = Broadcast<Void>()
    private let store: AccountStore
    private let workplace: (any Workplace)?
    /// Of more cards the oldest go, and calls for help last.
    static let limit = 20

    init(_ store: AccountStore, _ workplace: (any Workplace)?) {
        self.store = store
        self.workplace = workplace
    }

    /// Shows those that the device kept for an account, and no more those of others.
    func restore(_ items: [OutboxItem], of account: AccountID) {
        let kept = items.compactMap { item in item.unsent.map { UnsentChange(item, $0) } }
        let there = Self.there(items, of: account)
        written.withLock { $0.there = there }
        change { cards in
            cards =
                kept
                + cards.filter { card in
                    card.account ?? account == account && !kept.contains { $0.id == card.id }
                }
        }
    }

    /// An urgent item that the server can't know won't be sent. It is kept as a card, unless another process has sent or decided it.
    /// - Parameters:
    ///   - isNew: Asked once its turn has come whether the device may not have the item.
    ///   - removedAs: Asked once its turn has come what the item's maker was to hear, if an addition of this process has removed it.
    ///   - isMeant: Whether its person is still the one who is signed in.
    ///   - note: Called with what the device has then.
    /// - Returns: Nil if the device couldn't write that, and may still have the item.
    func end(
        _ item: OutboxItem, _ reason: UnsentChange.Reason, isNew: @escaping @Sendable () -> Bool,
        removedAs: @escaping @Sendable () -> Data?,
        if isMeant: @escaping @Sendable () -> Bool, then note: @escaping @Sendable (StoreUpdate.Outcome) -> Void
    ) async -> StoreUpdate.Outcome? {
        guard isMeant() else { return .done }
        let old = add(item, reason)
        var card = item
        // A release that knows no cards takes it for a change that expired.
        (card.unsent, card.lifetime) = (reason, .seconds(0))
        kept.withLock { _ = $0.insert(item.id) }
        for old in old { try? await store.remove(old.id, of: old.account) }
        let decision = OutboxDecision(.failure(reason.error(item.refusal)))
        let outcome: StoreUpdate.Outcome
        do throws(QuartetError) {
            outcome = try await store.replace(card) { [self] in
                // Somebody may have read it by then.
                guard isMeant(), cards.withLock({ $0.contains { $0.id == item.id } }) else { return nil }
                return AccountStore.Replacing(
                    step: .end, base: item, isNew: isNew(), removedAs: removedAs(), decision: decision.encoded)
            } then: { outcome in
                if let outcome { note(outcome) }
            }
        } catch {
            kept.withLock { _ = $0.remove(item.id) }
            tell(item.id)
            return nil
        }
        switch outcome {
        case .done:
            written.withLock { [card] in $0.there[item.id] = card }
            tell(item.id)
        case .other(let stored) where stored.unsent != nil: written.withLock { $0.there[item.id] = stored }
        case .other, .gone, .behind:
            kept.withLock { _ = $0.remove(item.id) }
            change { cards in cards.removeAll { $0.id == item.id } }
        }
        return outcome
    }

    private static func there(_ items: [OutboxItem], of account: AccountID) -> [OutboxItem.ID: OutboxItem] {
        let cards = items.filter { $0.unsent != nil }.map { card in
            var card = card
            card.account = account
            return (card.id, card)
        }
        return Dictionary(cards) { $1 }
    }

    /// Those that the device has of an account, for all that is known here.
    func known(of account: AccountID) -> [OutboxItem] {
        written.withLock { written in
            written.there.values.filter { $0.account == account && !written.read.contains($0.id) }
        }
    }

    /// Shows what other processes ended, and no more what was read in one.
    func takeIn(_ items: [OutboxItem], of account: AccountID) {
        let there = Self.there(items, of: account)
        let kept = items.compactMap { item in item.unsent.map { UnsentChange(item, $0) } }
        let ids = Set(kept.map(\.id))
        let waiting = Set(items.filter { !$0.isOver }.map(\.id))
        let (gone, read) = written.withLock { written in
            let gone = Set(written.there.keys).subtracting(ids)
            written.there = there
            // Once the device doesn't have them, they don't come back.
            written.read.formIntersection(ids)
            return (gone, written.read)
        }
        change { shown in
            early.withLock { $0.subtract(ids) }
            shown.removeAll { gone.contains($0.id) }
            shown += kept.filter { card in !read.contains(card.id) && !shown.contains { $0.id == card.id } }
        }
        // Another process sends after all what was held back here. Should that end unsent, it is news.
        let back = gone.intersection(waiting)
        self.kept.withLock { $0.subtract(back) }
        telling.withLock { $0.known.subtract(back) }
    }

    /// Shows a card that the device has, unless it was read here.
    func takeIn(_ card: OutboxItem) {
        guard let reason = card.unsent else { return }
        kept.withLock { _ = $0.insert(card.id) }
        let isRead = written.withLock { written in
            written.there[card.id] = card
            return written.read.contains(card.id)
        }
        guard !isRead else { return }
        change { cards in
            early.withLock { _ = $0.remove(card.id) }
            if !cards.contains(where: { $0.id == card.id }) { cards.append(UnsentChange(card, reason)) }
        }
    }

    /// What another process has kept as a card is heard by whoever made it: it isn't to show as well.
    func dismiss(_ card: OutboxItem) {
        written.withLock { _ = $0.read.insert(card.id) }
        change { cards in cards.removeAll { $0.id == card.id } }
        Task(executorPreference: workplace) { try? await self.store.remove(card.id, of: card.account) }
    }

    /// Whether what the device has under an item's number is its card.
    func hasKept(_ id: OutboxItem.ID) -> Bool { kept.withLock { $0.contains(id) } }

    /// Shows a card that isn't kept, unless it shows already.
    func show(_ item: OutboxItem, _ reason: UnsentChange.Reason) {
        _ = add(item, reason)
        tell(item.id)
    }

    /// Shows the card of an item that is about to end, before that goes: in between, the device would tell of it no longer.
    func showEarly(_ item: OutboxItem, _ reason: UnsentChange.Reason) {
        change { cards in
            guard !cards.contains(where: { $0.id == item.id }) else { return }
            early.withLock { _ = $0.insert(item.id) }
            cards.append(UnsentChange(item, reason))
        }
    }

    /// Undoes that, unless the card is to show for another reason by now.
    func hideEarly(_ id: OutboxItem.ID) {
        change { cards in
            guard early.withLock({ $0.remove(id) }) != nil else { return }
            cards.removeAll { $0.id == id }
        }
    }

    /// Has the device tell of a card that was made here, once. Of those that other processes made, these do, and of those from before
    /// the start the former one did.
    func tell(_ id: OutboxItem.ID) {
        let shown = Set(cards.withLock { $0.map(\.id) })
        let isNew = telling.withLock { telling in
            guard telling.known.insert(id).inserted else { return false }
            telling.waiting = telling.waiting.filter { shown.contains($0) } + [id]
            return true
        }
        if isNew { news.send(()) }
    }

    /// The gravest card to tell of that nobody has read.
    func takeUntold() -> UnsentChange? {
        let waiting = Set(telling.withLock { $0.waiting })
        guard let card = cards.withLock({ cards in cards.filter { waiting.contains($0.id) } }).byGravity.first else {
            return nil
        }
        telling.withLock { telling in telling.waiting.removeAll { $0 == card.id } }
        return card
    }

    /// - Returns: Cards that have to make room for it.
    private func add(_ item: OutboxItem, _ reason: UnsentChange.Reason) -> [UnsentChange] {
        change { cards in
            early.withLock { _ = $0.remove(item.id) }
            if !cards.contains(where: { $0.id == item.id }) { cards.append(UnsentChange(item, reason)) }
            var old: [UnsentChange] = []
            while cards.count > Self.limit {
                let others = cards.filter { $0.id != item.id }
                guard let least = others.min(by: { ($0.gravity, $0.id) < ($1.gravity, $1.id) }) else { break }
                cards.removeAll { $0.id == least.id }
                old.append(least)
            }
            return old
        }
    }

    /// Items are dropped because their person signed out. The device tells of none of them, and of no card that is there: it may be in
    /// somebody else's hands.
    /// - Parameter next: Who signed in; nil if nobody did. Nobody else reads the cards.
    func drop(_ items: [OutboxItem], for next: AccountID?) {
        written.withLock { $0.there = [:] }
        for item in items where item.precedence == .urgent && (next == nil || item.account == next) {
            _ = add(item, item.isSent ? .unknown : .signedOut)
        }
        let shown = cards.withLock { $0.map(\.id) }
        telling.withLock { telling in
            telling.waiting = []
            telling.known.formUnion(shown)
        }
        if let next { change { cards in cards.removeAll { $0.account != next } } }
        changeLost { lost in
            lost += items.filter { $0.precedence == .normal }.map { (account: $0.account, command: $0.command) }
            if let next { lost.removeAll { $0.account != next } }
        }
    }

    func removeDropped() { changeLost { $0 = [] } }

    private func changeLost(_ change: (inout [(account: AccountID?, command: String)]) -> Void) {
        let notify = lost.withLock { lost in
            change(&lost)
            return dropped.replace(lost.map(\.command), .ready)
        }
        notify()
    }

    func remove(_ id: UnsentChange.ID) async throws(QuartetError) {
        let card = change { cards in cards.firstIndex { $0.id == id }.map { cards.remove(at: $0) } }
        guard let card else { return }
        written.withLock { _ = $0.read.insert(card.id) }
        try await store.remove(card.id, of: card.account)
    }

    private func change<Result: Sendable>(_ change: (inout [UnsentChange]) -> Result) -> Result {
        let (result, notify) = cards.withLock { cards in
            let result = change(&cards)
            return (result, shared.replace(cards, .ready))
        }
        notify()
        return result
    }
}
