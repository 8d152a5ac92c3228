import Foundation
import QuartetAPI
import QuartetVocabulary
import Synchronization

/// Changes that the server hasn't decided, kept on the device until it has.
///
/// A change is durable before its call goes on, and is sent under one key, so that it takes effect once however often it is sent.
/// Nothing waits behind a change of lower precedence. Changes about the same thing are sent in the order in which people made them. A
/// refused one goes, and those behind it are sent.
public final class Outbox: Sendable {
    /// What waits, the oldest first.
    public let items = SharedState<[OutboxItem]>([], .ready)
    /// Urgent changes that weren't sent and won't be, or were refused when nobody waited for them, the oldest first: of many, the newest 20, calls for help before others. They outlast the app, and stay until
    /// ``markRead(_:)``. What was dropped by signing out is there until somebody else signs in or the app ends.
    public var unsent: SharedState<[UnsentChange]> { cards.shared }

    /// The changes that signing out dropped, by their commands' names, the oldest first: those that the server hadn't confirmed and that aren't
    /// urgent, which ``unsent`` has. There until ``markDroppedRead()``, until somebody else signs in or until the app ends.
    public var dropped: SharedState<[String]> { cards.dropped }

    /// A client's edits. The client keeps the connection, so the connection mustn't keep the client.
    struct Queue: Sendable {
        weak let edits: (any EditQueue)?
    }

    /// Whoever may wait for an item.
    struct Caller: Sendable {
        /// The number of the item that they made.
        let id: Int64
        /// What they wanted.
        let edit: Data
    }

    /// How the device is asked once more to remove what it failed to.
    struct Leftover: Sendable {
        let account: AccountID?
        /// It stays where another process has sent it as something else; nil to remove it all the same.
        var base: OutboxItem?
        /// What became of it, for other processes.
        var result: Result<CommandReply, QuartetError>?
    }

    struct State: Sendable {
        var items: [OutboxItem] = []
        /// Accepted ones that the device's copies may not have.
        var accepted: [Int64: OutboxItem] = [:]
        /// Those that go once a copy is written which has what they did.
        var finishing: [Int64: OutboxItem] = [:]
        /// The greatest number of those that were made or are known.
        var last: Int64 = 0
        /// Whether other processes may have the store.
        var isShared = false
        /// With that, those that are over and that the device may still have.
        var over: Set<Int64> = []
        /// Those that were made by this process and aren't over.
        var own: Set<Int64> = []
        /// How far ahead of its time the number is of one that other processes overtook.
        var leads: [Int64: Duration] = [:]
        /// Until when those that other processes made or sent are left to them.
        var others: [Int64: Duration] = [:]
        /// How many connections run.
        var runners = 0
        /// When the newest was made, by the server's clock.
        var lastActed: Instant?
        /// Whether what was kept for the account is among them.
        var isRestored = false
        /// The newest urgent one of each lane that was made before that.
        var madeUnread: [String: OutboxItem] = [:]
        /// What the device has of each item.
        var kept: [Int64: Kept] = [:]
        /// Urgent items that additions of this process have removed from the device, and what their makers were to hear. What was sent or
        /// ended from memory meanwhile is added again.
        var removed: [Int64: Data] = [:]
        /// Counts what the device was asked to write.
        var writes = 0
        /// Superseded items whose cards show and aren't kept: the device couldn't write what took their place.
        var unkept: [Int64: OutboxItem] = [:]
        /// How much the disk is still doing of each item that doesn't wait for it any more.
        var slow: [Int64: Int] = [:]
        /// Items that are over and that the device failed to remove.
        var leftovers: [Int64: Leftover] = [:]
        var queues: [String: Queue] = [:]
        var schedule = OutboxSchedule()
        /// Items whose callers wait, and what became of them.
        var awaited: Set<Int64> = []
        var results: [Int64: Result<CommandReply, QuartetError>] = [:]
        /// Items that do what earlier ones were to do, their own callers and those of the earlier ones that still wait: they hear the same.
        var joined: [Int64: [Caller]] = [:]
        /// Items that are being joined, and so aren't sent meanwhile.
        var joining: Set<Int64> = []
        /// Items that are being taken back, and so aren't sent from memory meanwhile.
        var cancelling: Set<Int64> = []
        /// Items that are just being kept.
        var adding: Set<Int64> = []
        /// Of these, those that the device has by now, and which of the others it doesn't have any more.
        var added: [Int64: Set<Int64>] = [:]
        /// Items whose place one takes that is just being kept.
        var replacing: Set<Int64> = []
        /// Until when joined items of a lane wait for more.
        var paces: [String: Duration] = [:]
        /// Counts the times when everything was dropped. What began before belongs to nobody.
        var resets = 0

        /// All that the device may have and that are known, be they over.
        var known: Set<Int64> {
            let unended = Set(items.map(\.id)).union(accepted.keys).union(adding)
            return unended.union(finishing.keys).union(leftovers.keys).union(over)
        }

        /// Those who wait for an item.
        func callers(of item: OutboxItem) -> [Caller] {
            (joined[item.id] ?? [Caller(id: item.id, edit: item.edit)]).filter { awaited.contains($0.id) }
        }

        /// Whether something that waits may stand on the version that an accepted item made.
        func isStoodOn(_ accepted: OutboxItem) -> Bool {
            guard accepted.made != nil else { return false }
            // What is made and isn't kept yet is known by its number alone.
            return !own.isSubset(of: items.map(\.id)) || !adding.isEmpty
                || items.contains { $0.lane == accepted.lane }
        }

        /// Until when an item waits for more that join it; nil if it doesn't.
        func pace(of item: OutboxItem, now: Duration) -> Duration? {
            guard joined[item.id] != nil, let end = paces[item.lane], now < end else { return nil }
            return end
        }

        /// These don't wait any more.
        mutating func end(_ ended: [OutboxItem]) {
            let ids = Set(ended.map(\.id))
            items.removeAll { ids.contains($0.id) }
            own.subtract(ids)
            for id in ids { (kept[id], others[id]) = (nil, nil) }
            // Until it is removed, it isn't taken for another process's.
            if isShared { over.formUnion(ids) }
        }

        /// Has an item be what the device has of it.
        /// - Parameter isKept: Whether the device has it for certain.
        mutating func take(_ stored: OutboxItem, isKept: Bool = true) {
            kept[stored.id, default: Kept()].last = isKept ? stored : nil
            if isKept { removed[stored.id] = nil }
            if let index = items.firstIndex(where: { $0.id == stored.id }) {
                items[index] = stored
            } else {
                items.insert(stored, at: items.firstIndex { $0.id > stored.id } ?? items.endIndex)
            }
        }

        /// Whether the device may not have an item.
        func isNew(_ id: Int64) -> Bool { kept[id].map { $0.last == nil } ?? false }

        /// Whether the device may have something of an item, or be about to.
        func mayBeKept(_ id: Int64) -> Bool { kept[id].map { $0.last != nil || $0.isBeingWritten } ?? false }

        /// Whether the device may have an item as sent that isn't any more here: it couldn't write that, or hasn't yet.
        func isKeptAsSent(_ id: Int64) -> Bool { kept[id]?.mayBeSent ?? false }

        /// Whether the device has something else of an item, and isn't writing it either.
        func isUnsaved(_ item: OutboxItem) -> Bool {
            kept[item.id].map { !$0.isBeingWritten && !$0.has(item) } ?? false
        }

        /// The same of one that nothing else is about to write.
        func isLeftToWrite(_ item: OutboxItem) -> Bool {
            isUnsaved(item) && !(item.canCancel && schedule.isBusy(item))
        }

        /// What a disk that has stopped still has to write of one item doesn't pile up.
        func hasRoom(_ id: Int64) -> Bool { slow[id] ?? 0 < Outbox.slowLimit }

        /// The device is asked to write an item.
        /// - Returns: The number of that.
        mutating func beginWrite(of item: OutboxItem) -> Int {
            writes += 1
            kept[item.id]?.begin(writes, of: item)
            return writes
        }

        /// Until when an item is left to the process that made or sent it; nil if it isn't.
        func isOthers(_ item: OutboxItem, now: Duration) -> Duration? {
            guard item.precedence != .urgent, let end = others[item.id], now < end else { return nil }
            return end
        }

        /// A number that no other process makes, without asking the device: the time, and below it random bits. Two of the same
        /// millisecond are the same once in four million times; the second is then not kept.
        mutating func makeNumber(_ wall: Instant) -> Int64 {
            // Since the year 2020, so that there are numbers until 2054, all of them greater than those that 0.1.0 made.
            let (latest, count): (Int64, Int64) = (1_099_511_627_775, 4_194_304)
            let passed: Int64 = max(0, wall.milliseconds - 1_577_836_800_000)
            let time: Int64 = min(passed, latest) * count
            // A device whose clock was set back goes on from the greatest; so may another process.
            last = max(time, last + 1) + Int64.random(in: 0..<count)
            return last
        }
    }

    /// More can't wait, of those that aren't urgent. Of urgent ones there are at most three for each thing that they are about: one that
    /// was tried, and two that wait and that a later one takes the place of.
    static let limit = (items: 1000, bytes: 5 << 20)
    /// How far off the server's time may be: a reply takes as long as a call may last.
    static let clockError: Interval = .seconds(10)
    /// The server remembers ids for thirty days.
    static let horizon: Interval = .days(29)
    /// A command that the server fails to handle so often is given up.
    static let failureLimit = 5
    /// How long something urgent waits for the device's disk. Then it goes on, and so does the disk.
    static let patience: Duration = .seconds(1)
    /// More than so much of one item isn't left to a disk that is slow.
    static let slowLimit = 4
    /// How long a change that has joined others waits after the one before it, for more that join it: of a slider that is moved, two
    /// commands a second are sent.
    static let pace: Duration = .milliseconds(500)

    /// A number isn't farther ahead of its time.
    static let leadLimit: Duration = .seconds(60)

    let state: Mutex<State>
    let cards: UnsentChanges
    let own = OwnVersions()
    /// Has one of those who run the outbox look for the others' changes.
    let heeding = Lane()
    let store: AccountStore
    /// Changes of one precedence are kept in the order in which they were made; of the urgent ones, those of one topic.
    let keeping: [Sending.Precedence: Lane] = Dictionary(
        uniqueKeysWithValues: Sending.Precedence.allCases.map { ($0, Lane()) })
    let keepingUrgent: [Sending.Topic: Lane] = Dictionary(
        uniqueKeysWithValues: Sending.Topic.allCases.filter { $0.precedence == .urgent }.map { ($0, Lane()) })
    let clock: KnownServerTime
    let time: Timekeeper
    /// Something can be sent that couldn't be before.
    let kicks = Broadcast<Void>()
    /// The device has another network, or slept.
    let networks = Broadcast<Void>()
    /// An attempt has ended.
    let progress = Broadcast<Void>()
    let decisions = Broadcast<OutboxEvent>()
    /// What the device kept for an account is among the items and the cards.
    let restorations = Broadcast<Void>()

    init(store: AccountStore, clock: KnownServerTime, time: Timekeeper) {
        self.store = store
        var first = State()
        first.isShared = store.isShared
        state = Mutex(first)
        cards = UnsentChanges(store, time.workplace)
        self.clock = clock
        self.time = time
        store.known.withLock { $0 = { [weak self] account in self?.known(of: account) ?? [] } }
        store.heldBack.withLock { $0 = { [weak self] items, account in self?.endHeldBack(items, of: account) } }
    }

    /// What the device has of an account, as far as this process knows, but for what is over: as it was last read or written.
    private func known(of account: AccountID) -> [OutboxItem] {
        let waiting = state.withLock { state in
            state.items.compactMap { item in item.account == account ? state.kept[item.id]?.last : nil }
        }
        return (waiting + cards.known(of: account)).sorted { $0.id < $1.id }
    }

    /// What becomes of items from now on. One that isn't read keeps the newest 100.
    public var events: AsyncStream<OutboxEvent> { decisions.subscribe(keeping: 100) }

    /// Takes an item back. A device that can't write has it until it can: killed before that, the app sends it after all.
    /// - Returns: False if it is too late: it was decided, or the server may know it. Also if another connection has got the store object
    ///   since, and may be sending it.
    @discardableResult
    public func cancel(_ id: OutboxItem.ID) async throws(QuartetError) -> Bool {
        let found = state.withLock { state -> OutboxItem? in
            // One that is being joined is part of a later one by the time that it could be taken back.
            let found = state.items.first { $0.id == id && $0.canCancel && !state.joining.contains(id) }
            if found != nil { state.cancelling.insert(id) }
            return found
        }
        guard let found else { return false }
        defer { state.withLock { _ = $0.cancelling.remove(id) } }
        if store.isShared, !state.withLock({ $0.isNew(id) }) {
            let outcome = await end(found, .failure(.cancelled), knownAs: found)
            guard outcome == .done else { return false }
            await forgetReplaced(by: found)
            return true
        }
        // What the device is still to write as sent is this process's own.
        let (resets, sent) = state.withLock { ($0.resets, $0.kept[id]?.sent) }
        guard var item = take(id, where: \.canCancel) else { return false }
        let base = sent ?? item
        let decision = OutboxDecision(.failure(.cancelled))
        let outcome: StoreUpdate.Outcome
        do throws(QuartetError) {
            outcome = try await store.end(id, of: item.account, knownAs: base, decision) { [self, item] outcome in
                note(outcome, of: item, .end, unlessDroppedSince: resets)
            }
        } catch {
            let left = Leftover(account: item.account, base: base, result: decision.result)
            state.withLock { $0.leftovers[id] = left }
            outcome = .done
        }
        // The device came to it late, and another process was quicker.
        if case .other(let stored) = outcome {
            item.lost = stored.lost
            if let result = stored.result { tell(item, result) }
            // While it was away, nobody looked when it is to be repeated.
            kicks.send(())
            return false
        }
        await forgetReplaced(by: item)
        tell(item, .failure(.cancelled))
        return true
    }

    /// Somebody has read of a change that wasn't sent.
    /// - Throws: ``QuartetError/notStored(_:)`` if it may show again after the next start.
    public func markRead(_ id: UnsentChange.ID) async throws(QuartetError) {
        try await cards.remove(id)
    }

    /// Somebody has read of what signing out dropped.
    public func markDroppedRead() { cards.removeDropped() }

    /// Sends what waits now, without waiting for the time that it was put off to.
    public func retry() {
        state.withLock { state in
            state.schedule.wake()
            state.others = [:]
        }
        kicks.send(())
    }

    /// The same, also for what is being sent: the former network may have swallowed it.
    func networkChanged() {
        networks.send(())
        retry()
    }

    // MARK: Clients

    /// A stream's edits: those that are there, or else those that `make` makes.
    func queue<Edits: EditQueue>(of stream: String, _ make: () -> Edits) -> Edits {
        let queue = state.withLock { state in
            if let edits = state.queues[stream]?.edits as? Edits { return edits }
            let edits = make()
            state.queues[stream] = Queue(edits: edits)
            return edits
        }
        // What waited for somebody who can send it.
        kicks.send(())
        return queue
    }

    func queue(of item: OutboxItem) -> (any EditQueue)? { state.withLock { $0.queues[item.stream]?.edits } }

    /// Whether something urgent waits and can be sent.
    var isSendingUrgently: Bool {
        state.withLock { state in !state.schedule.isBlocked && state.items.contains { $0.precedence == .urgent } }
    }

    /// Whether nobody was signed in when something was last sent.
    var isBlocked: Bool { state.withLock { $0.schedule.isBlocked } }

    /// Whether nothing was dropped since.
    func isCurrent(_ resets: Int) -> Bool { state.withLock { $0.resets == resets } }

    // MARK: Items

    /// Gives up an item that this version of the app can't read.
    func discard(_ item: OutboxItem, _ error: QuartetError) {
        guard let item = take(item.id, where: { _ in true }) else { return }
        decisions.send(OutboxEvent(item: item, error: error))
    }

    /// Leaves what became of an item to its caller.
    /// - Returns: False if it has none any more.
    func isHeard(_ result: Result<CommandReply, QuartetError>, of item: OutboxItem) -> Bool {
        let queue = queue(of: item)
        return state.withLock { state in
            let callers = state.callers(of: item)
            for caller in callers {
                let lost = item.lost.flatMap { queue?.overlap(caller.edit, $0.edit) ?? false ? $0.refusal : nil }
                state.results[caller.id] = lost.map { .failure(.refused($0.error)) } ?? result
            }
            return !callers.isEmpty
        }
    }

    func tell(_ item: OutboxItem, _ result: Result<CommandReply, QuartetError>) {
        _ = isHeard(result, of: item)
        state.withLock { _ = $0.joined.removeValue(forKey: item.id) }
        let queue = queue(of: item)
        queue?.decided(item, result)
        if let lost = item.lost {
            var part = item
            part.edit = lost.edit
            decisions.send(OutboxEvent(item: part, error: .refused(lost.refusal.error)))
        }
        let error: QuartetError? = if case .failure(let error) = result { error } else { nil }
        decisions.send(OutboxEvent(item: item, error: error))
        progress.send(())
    }

    func take(_ id: OutboxItem.ID, where isMeant: (OutboxItem) -> Bool) -> OutboxItem? {
        change { state in
            guard let index = state.items.firstIndex(where: { $0.id == id && isMeant($0) }) else { return nil }
            let item = state.items[index]
            state.end([item])
            return item
        }
    }

    @discardableResult
    func change<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let (result, notify) = state.withLock { state in
            let result = change(&state)
            return (result, items.replace(state.items, .ready))
        }
        notify()
        return result
    }
}
