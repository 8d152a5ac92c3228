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
    /// Urgent changes that weren't sent and won't be, or were refused when nobody waited for them, the oldest first: of many, the newest 20. They outlast the app, and stay until
    /// ``markRead(_:)``. What was dropped by signing out is there until somebody else signs in or the app ends.
    public var unsent: SharedState<[UnsentChange]> { cards.shared }

    /// A client's edits. The client keeps the connection, so the connection mustn't keep the client.
    struct Queue: Sendable {
        weak let edits: (any EditQueue)?
    }

    /// What the device failed to write.
    struct Unsaved: Sendable {
        /// What it has instead; nil for nothing.
        var base: OutboxItem?
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
        /// Until when those that other processes made or sent are left to them.
        var others: [Int64: Duration] = [:]
        /// How many connections run.
        var runners = 0
        /// When the newest was made, by the server's clock.
        var lastActed: Instant?
        /// Whether what was kept for the account is among them.
        var isRestored = false
        /// The newest urgent one of each lane that was made before that.
        var madeUnread: [String: Int64] = [:]
        /// Items that the device failed to write.
        var unsaved: [Int64: Unsaved] = [:]
        /// How much the disk is still doing of each item that doesn't wait for it any more.
        var slow: [Int64: Int] = [:]
        /// Items that are over and that the device failed to remove, with their accounts.
        var leftovers: [Int64: AccountID?] = [:]
        var queues: [String: Queue] = [:]
        var schedule = OutboxSchedule()
        /// Items whose callers wait, and what became of them.
        var awaited: Set<Int64> = []
        var results: [Int64: Result<CommandReply, QuartetError>] = [:]
        /// Items that do what earlier ones were to do, and the numbers of those whose callers still wait: they hear the same.
        var joined: [Int64: [Int64]] = [:]
        /// Items that are being joined, and so aren't sent meanwhile.
        var joining: Set<Int64> = []
        /// Items that are just being kept.
        var adding: Set<Int64> = []
        /// Items whose place one takes that is just being kept.
        var replacing: Set<Int64> = []
        /// Until when joined items of a lane wait for more.
        var paces: [String: Duration] = [:]
        /// Counts the times when everything was dropped. What began before belongs to nobody.
        var resets = 0

        /// The numbers under which callers wait for an item.
        func callers(of item: OutboxItem) -> [Int64] { [item.id] + (joined[item.id] ?? []) }

        /// Until when an item waits for more that join it; nil if it doesn't.
        func pace(of item: OutboxItem, now: Duration) -> Duration? {
            guard joined[item.id] != nil, let end = paces[item.lane], now < end else { return nil }
            return end
        }

        /// These don't wait any more.
        mutating func end(_ ended: [OutboxItem]) {
            let ids = Set(ended.map(\.id))
            items.removeAll { ids.contains($0.id) }
            for id in ids { (unsaved[id], others[id]) = (nil, nil) }
            // Until it is removed, it isn't taken for another process's.
            if isShared { over.formUnion(ids) }
        }

        /// Has an item be what the device has of it.
        mutating func take(_ stored: OutboxItem) {
            if let index = items.firstIndex(where: { $0.id == stored.id }) {
                items[index] = stored
            } else {
                items.insert(stored, at: items.firstIndex { $0.id > stored.id } ?? items.endIndex)
            }
        }

        /// Whether the device may not have an item.
        func isNew(_ id: Int64) -> Bool { unsaved[id].map { $0.base == nil } ?? false }

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

    let state: Mutex<State>
    let cards: UnsentChanges
    /// Has one of those who run the outbox look for the others' changes.
    let heeding = Lane()
    let store: AccountStore
    /// Changes of one precedence are kept in the order in which they were made; of the urgent ones, those of one topic.
    private let keeping: [Sending.Precedence: Lane] = Dictionary(
        uniqueKeysWithValues: Sending.Precedence.allCases.map { ($0, Lane()) })
    private let keepingUrgent: [Sending.Topic: Lane] = Dictionary(
        uniqueKeysWithValues: Sending.Topic.allCases.filter { $0.precedence == .urgent }.map { ($0, Lane()) })
    private let clock: KnownServerTime
    let time: Timekeeper
    /// Something can be sent that couldn't be before.
    let kicks = Broadcast<Void>()
    /// The device has another network, or slept.
    let networks = Broadcast<Void>()
    /// An attempt has ended.
    let progress = Broadcast<Void>()
    let decisions = Broadcast<OutboxEvent>()

    init(store: AccountStore, clock: KnownServerTime, time: Timekeeper) {
        self.store = store
        var first = State()
        first.isShared = store.isShared
        state = Mutex(first)
        cards = UnsentChanges(store, time.workplace)
        self.clock = clock
        self.time = time
    }

    /// What becomes of items from now on. One that isn't read keeps the newest 100.
    public var events: AsyncStream<OutboxEvent> { decisions.subscribe(keeping: 100) }

    /// Takes an item back. A device that can't write has it until it can: killed before that, the app sends it after all.
    /// - Returns: False if it is too late: it was decided, or the server may know it.
    @discardableResult
    public func cancel(_ id: OutboxItem.ID) async throws(QuartetError) -> Bool {
        let found = state.withLock { state in
            // One that is being joined is part of a later one by the time that it could be taken back.
            state.items.first { $0.id == id && $0.canCancel && !state.joining.contains(id) }
        }
        guard let found else { return false }
        if store.isShared, !state.withLock({ $0.isNew(id) }) {
            let outcome = await end(found, .failure(.cancelled), knownAs: found)
            guard outcome == .done else { return false }
            await forget(replaced(by: found).map(\.id), of: found.account, .failure(.cancelled))
            return true
        }
        guard let item = take(id, where: \.canCancel) else { return false }
        await forget([item.id] + replaced(by: item).map(\.id), of: item.account, .failure(.cancelled))
        tell(item, .failure(.cancelled))
        return true
    }

    /// Somebody has read of a change that wasn't sent.
    /// - Throws: ``QuartetError/notStored(_:)`` if it may show again after the next start.
    public func markRead(_ id: UnsentChange.ID) async throws(QuartetError) {
        try await cards.remove(id)
    }

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

    /// Keeps a change, has it sent, and waits for the decision as long as a person would.
    /// - Parameters:
    ///   - account: Whose change it is.
    ///   - requests: What to send it with while nobody runs the outbox; nil while somebody does.
    ///   - isConnected: Whether it is worth waiting through a failure.
    ///   - limit: Until when an urgent one waits for the disk.
    ///   - show: Shows it, under the item's number.
    ///   - keepBase: Keeps what it stands on, so that both are there when the app is started again without a network.
    /// - Returns: False if the account is gone, and nothing was kept.
    func send(
        _ edit: Data, _ command: any AppCommandBody, of account: AccountID, from queue: some EditQueue,
        _ requests: Requests?, isConnected: Bool, keptBy limit: Duration, show: (OutboxItem) -> Void,
        keepBase: @escaping @Sendable () async -> Void
    ) async throws(QuartetError) -> Bool {
        let end = time.now() + time.callLimit
        let (name, sending) = (type(of: command).type, type(of: command).sending)
        let (item, resets) = state.withLock { state in
            let acted = clock.now.map { now in
                // What the server says of its time is a little off each time: what was done later isn't earlier by that.
                state.lastActed.map { now < $0 && $0 - now < Self.clockError ? $0 : now } ?? now
            }
            state.lastActed = acted
            let item = OutboxItem(
                id: state.makeNumber(time.wall()), stream: queue.stream, command: name, acted: time.wall(),
                lifetime: sending.lifetime,
                actedAtServer: acted, account: account, edit: edit, moment: .init(time), order: command.orderKey)
            return (item, state.resets)
        }
        show(item)
        do throws(QuartetError) {
            // Somebody who has pressed the button for help has called for it, whatever becomes of the task.
            let isUrgent = sending.precedence == .urgent
            let lane = keepingUrgent[sending.topic] ?? keeping[sending.precedence]
            _ = try await lane?.run(isShielded: isUrgent) { () async throws(QuartetError) in
                // What it stands on is for a restart alone: a call for help doesn't wait for it.
                if !isUrgent { await keepBase() }
                let tidy = try await keep(item, sending, until: limit, unlessDroppedSince: resets)
                kicks.send(())
                await finish(item, by: limit) {
                    await tidy()
                    if isUrgent { await keepBase() }
                }
            }
        } catch {
            queue.decided(item, .failure(error))
            guard error == .needsAuthentication else { throw error }
            return false
        }
        try await wait(for: item, until: end, requests, isConnected: isConnected)
        return true
    }

    /// - Returns: What is left to do with the disk once it can be sent.
    private func keep(
        _ made: OutboxItem, _ sending: Sending, until limit: Duration, unlessDroppedSince resets: Int
    ) async throws(QuartetError) -> @Sendable () async -> Void {
        let isUrgent = sending.precedence == .urgent
        let join = isUrgent ? nil : join(made)
        let earlier = join?.earlier
        defer { if let earlier { endJoining(earlier) } }
        @Sendable func isSuperseded(_ other: OutboxItem) -> Bool {
            other.lane == made.lane && other.canCancel
                && (other.id == earlier?.id || sending.supersedes.contains(other.command))
        }
        let (isFull, replaced) = state.withLock { state in
            let replaced = state.items.filter(isSuperseded).flatMap { item in
                [OutboxItem.Replaced(id: item.id, command: item.command)] + self.replaced(by: item)
            }
            let others = state.items.filter { $0.precedence != .urgent && !isSuperseded($0) }
            let isFull =
                others.count >= Self.limit.items
                || others.reduce(made.size) { $0 + $1.size } > Self.limit.bytes
            state.replacing.formUnion(replaced.map(\.id))
            return (isFull, replaced)
        }
        defer { state.withLock { $0.replacing.subtract(replaced.map(\.id)) } }
        guard !isFull || isUrgent else { throw .outboxFull }
        var addition = AccountStore.Addition(item: made)
        addition.others = replaced.map { other in
            let isJoined = other.id == earlier?.id
            return (other.id, isJoined ? OutboxDecision(joinedBy: made.id) : OutboxDecision(.failure(.superseded)))
        }
        addition.joined = join.map { join in
            var item = made
            item.edit = join.edit
            return StoreAddition.Joined(earlier: join.earlier.id, item: item)
        }
        // Until it is among the items here, it isn't taken for another process's.
        state.withLock { _ = $0.adding.insert(made.id) }
        defer { state.withLock { _ = $0.adding.remove(made.id) } }
        let saving = store.save(addition)
        let saved = await finish(made, by: limit) { await saving.value }
        /// Those of the others that the device doesn't have any more; nil if it couldn't write.
        let removed: Set<OutboxItem.ID>?
        switch saved {
        case .success(let ids): removed = ids
        // A disk that is full or slow doesn't hold back a call for help: it is sent from memory, and written with the next attempt
        // that can, if not before.
        case .failure(.notStored) where isUrgent, nil: removed = nil
        case .failure(let error):
            noteRemoved([made.id])
            throw error
        }
        let item = addition.joined.flatMap { removed?.contains($0.earlier) == true ? $0.item : nil } ?? made
        typealias Changed = (superseded: [OutboxItem], others: [OutboxItem], late: [OutboxItem.Replaced])
        let changed = change { state -> Changed? in
            guard state.resets == resets else { return nil }
            let superseded = state.items.filter { other in
                // What another process has sent or decided meanwhile keeps its place.
                let isThere = state.isShared && removed?.contains(other.id) == false && state.unsaved[other.id] == nil
                return isSuperseded(other) && !isThere
            }
            // Those whose attempt ended meanwhile.
            let late = superseded.filter { other in !replaced.contains { $0.id == other.id } }
                .flatMap { [.init(id: $0.id, command: $0.command)] + self.replaced(by: $0) }
            var item = item
            if removed == nil { item.replaced = replaced + late }
            state.end(superseded)
            state.replacing.subtract(replaced.map(\.id))
            state.over.subtract(removed ?? [])
            // Being sent by now, these keep their place; a store of one process has removed them with the others.
            let others = state.items.filter { other in !state.isShared && replaced.contains { $0.id == other.id } }
            state.adding.remove(made.id)
            state.take(item)
            state.awaited.insert(item.id)
            if let earlier, superseded.contains(where: { $0.id == earlier.id }) {
                let callers = [earlier.id] + (state.joined.removeValue(forKey: earlier.id) ?? [])
                state.joined[item.id] = callers.filter { state.awaited.contains($0) }
            }
            if removed == nil { state.unsaved[item.id] = Unsaved() }
            if isUrgent, !state.isRestored { state.madeUnread[item.lane] = item.id }
            return (superseded, others, late)
        }
        guard let changed else {
            // Its person signed out meanwhile, and may be signed in again.
            await finish(made, by: limit) { await self.forget([made.id], of: made.account) }
            throw .needsAuthentication
        }
        for other in changed.superseded {
            guard other.id == earlier?.id else {
                tell(other, .failure(.superseded))
                continue
            }
            self.queue(of: item)?.show(item, insteadOf: other)
            decisions.send(OutboxEvent(item: other, error: .superseded))
        }
        return { [self] in
            let isSaved = if case .success = await saving.value { true } else { false }
            if isSaved {
                await forgetLeftovers()
                await forget(changed.late.map(\.id), of: made.account, .failure(.superseded))
            }
            for item in changed.others { _ = try? await write(item, .renew) }
            // Their person may take them for sent.
            for item in changed.superseded where item.command != made.command {
                if isSaved {
                    await endUnsent(item, .superseded, isNew: true, unlessDroppedSince: resets)
                } else if isCurrent(resets) {
                    // The device still has them, and sends them after a crash.
                    cards.show(item, .superseded)
                }
            }
            // The others were sent or decided by another process.
            if let removed, replaced.contains(where: { !removed.contains($0.id) }) {
                await takeInOthers(isCertain: true)
            }
        }
    }

    /// Has an item do as well what the one before it is to do, if that was never sent. It is held until ``endJoining(_:)``.
    /// - Returns: That one, and the item's edit if it goes.
    private func join(_ item: OutboxItem) -> (earlier: OutboxItem, edit: Data)? {
        let earlier = state.withLock { state -> OutboxItem? in
            // Whatever else is to happen in between keeps its place.
            guard let last = state.items.last(where: { $0.lane == item.lane }), last.canCancel,
                !state.schedule.isBusy(last)
            else { return nil }
            state.joining.insert(last.id)
            return last
        }
        guard let earlier else { return nil }
        guard let edit = queue(of: item)?.merged(item, with: earlier) else {
            endJoining(earlier)
            return nil
        }
        return (earlier, edit)
    }

    private func endJoining(_ item: OutboxItem) {
        state.withLock { _ = $0.joining.remove(item.id) }
        kicks.send(())
    }

    /// Whether something urgent waits and can be sent.
    var isSendingUrgently: Bool {
        state.withLock { state in !state.schedule.isBlocked && state.items.contains { $0.precedence == .urgent } }
    }

    /// Whether nothing was dropped since.
    func isCurrent(_ resets: Int) -> Bool { state.withLock { $0.resets == resets } }

    private func wait(
        for item: OutboxItem, until end: Duration, _ requests: Requests?, isConnected: Bool
    ) async throws(QuartetError) {
        // Nobody else would find out that the device is signed in again.
        if requests != nil { state.withLock { $0.schedule.isBlocked = false } }
        // Ends with this call, which doesn't wait for what else hangs there.
        let running = Task(executorPreference: time.workplace) { await self.runUnlessRunning(requests, for: item) }
        defer { running.cancel() }
        let undecided = await waitForDecision(of: item, until: end, isConnected: isConnected)
        let result = state.withLock { state in
            state.awaited.remove(item.id)
            return state.results.removeValue(forKey: item.id)
        }
        guard let result else { throw await promise(of: item, undecided ?? .willBeSentWhenOnline, requests) }
        _ = try result.get()
    }

    /// What can be said of an item that isn't decided. Where it ends with the process and nobody sends it, it isn't kept.
    private func promise(of item: OutboxItem, _ error: QuartetError, _ requests: Requests?) async -> QuartetError {
        // A connection may have begun to run since.
        let (isRunning, resets, isNew) = state.withLock { ($0.runners > 0, $0.resets, $0.isNew(item.id)) }
        guard requests != nil, !isRunning, !store.isDurable, !Task.isCancelled,
            let item = take(item.id, where: { _ in true })
        else { return error }
        let end: QuartetError = item.isSent ? .unknown : .offline
        await forget(replaced(by: item).map(\.id), of: item.account)
        if item.precedence == .urgent {
            await endUnsent(item, item.isSent ? .unknown : .expired, isNew: isNew, unlessDroppedSince: resets)
        } else {
            await forget([item.id], of: item.account)
        }
        tell(item, .failure(end))
        return end
    }

    /// Waits for the decision.
    /// - Returns: Why there is none, in time; nil if there is.
    private func waitForDecision(
        of item: OutboxItem, until end: Duration, isConnected: Bool
    ) async -> QuartetError? {
        while true {
            let news = progress.subscribe(keeping: 1)
            let now = time.now()
            let (isDecided, isBlocked, rest) = state.withLock { state in
                (state.results[item.id] != nil, state.schedule.isBlocked, state.schedule.rest(of: item, now: now))
            }
            if isDecided { return nil }
            // Cancelling the call doesn't take the change back.
            if Task.isCancelled || isBlocked { return .willBeSentWhenOnline }
            if let rest, !isConnected || rest.until > end || now >= end { return rest.error }
            if now >= end { return .willBeSentWhenOnline }
            await time.wait(for: news, until: end)
        }
    }

    // MARK: Sending

    /// Sends what waits, for a connection that runs, until the task is cancelled.
    /// - Parameter requests: Those of whoever is signed in then.
    func run(_ requests: @Sendable () -> Requests) async {
        state.withLock { $0.runners += 1 }
        defer { state.withLock { $0.runners -= 1 } }
        await run(only: nil, requests)
    }

    /// - Parameter lane: Whose items are sent, whoever made them, and what is urgent; nil for all.
    private func run(only lane: String?, _ requests: @Sendable () -> Requests) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.heedOthers() }
            while !Task.isCancelled {
                let kicked = kicks.subscribe(keeping: 1)
                if hasLeftovers { group.addTask { await self.forgetLeftovers() } }
                while let item = next(only: lane) {
                    let requests = requests()
                    group.addTask { await self.send(item, requests) }
                }
                let now = time.now()
                let until = state.withLock { state in
                    let ends = state.items.compactMap { state.pace(of: $0, now: now) ?? state.isOthers($0, now: now) }
                    return (ends + [state.schedule.nextEnd(of: state.items, now: now)].compactMap { $0 }).min()
                }
                await time.wait(for: kicked, until: until)
            }
        }
    }

    private func runUnlessRunning(_ requests: Requests?, for item: OutboxItem) async {
        if let requests { await run(only: item.lane) { requests } }
    }

    private func next(only lane: String?) -> OutboxItem? {
        let time = time.now()
        return state.withLock { state in
            let now = state
            // Somebody may wait for help.
            let items =
                lane.map { lane in now.items.filter { $0.lane == lane || $0.precedence == .urgent } } ?? now.items
            return state.schedule.next(of: items, now: time) { item in
                now.queues[item.stream]?.edits != nil && !now.joining.contains(item.id)
                    && now.pace(of: item, now: time) == nil
                    // What a caller waits for doesn't wait for another process.
                    && (lane != nil || now.isOthers(item, now: time) == nil)
            }
        }
    }

    private func send(_ item: OutboxItem, _ requests: Requests) async {
        // Its client may go meanwhile. What becomes of the change shows in the next one.
        let queue = queue(of: item)
        defer { withExtendedLifetime(queue) {} }
        let verdict = await attemptInOneNetwork(item, requests)
        if case .decided(let result) = verdict { await settle(item, result) }
        let now = time.now()
        state.withLock { state in
            state.schedule.end(item)
            var random = time.draws
            switch verdict {
            case .decided:
                state.schedule.decided(item)
                state.paces = state.paces.filter { $0.value > now }
                if item.precedence != .urgent { state.paces[item.lane] = now + Self.pace }
            case .signedOut where requests.isCurrent(): state.schedule.isBlocked = true
            case .later(let error, let pause, let isShared):
                state.schedule.rest(item, error, pause: pause, isShared: isShared, now: now, using: &random)
            case .lost: break
            case .signedOut, .cancelled:
                // Taken back, or stopped with its task, or somebody else is signed in.
                guard state.items.contains(where: { $0.id == item.id }) else { return }
                state.schedule.rest(
                    item, .willBeSentWhenOnline, pause: nil, isShared: false, now: now, using: &random)
            }
        }
        progress.send(())
        kicks.send(())
    }

    // MARK: Items

    private func settle(_ item: OutboxItem, _ result: Result<CommandReply, QuartetError>) async {
        let (resets, isNew) = state.withLock { ($0.resets, $0.isNew(item.id)) }
        guard var item = take(item.id, where: { _ in true }) else {
            // It was dropped while it was on its way, and has arrived.
            if case .success = result { try? await cards.remove(item.id) }
            return
        }
        /// What the device has of it then; nil if that takes its time.
        let outcome: StoreUpdate.Outcome?
        // If the device fails to write this, the item is sent once more under its key, and the server answers the same.
        if case .success(let reply) = result, reply.event != nil {
            item.accepted = reply.command
            state.withLock { $0.accepted[item.id] = item }
            outcome = await finish(item) { [self, item] in
                // Better forgotten than made again after a restart.
                do throws(QuartetError) {
                    return try await write(item, .end, of: item, isNew: isNew, OutboxDecision(result))
                } catch {
                    await forget([item.id] + replaced(by: item).map(\.id), of: item.account, result)
                    return .done
                }
            }
        } else {
            let reason: UnsentChange.Reason?
            switch result {
            case .failure(.expired): reason = .expired
            case .failure(.unknown): reason = .unknown
            case .failure(.refused(let error)) where !isHeard(result, of: item):
                reason = .refused
                item.refusal = UnsentChange.Refusal(error)
            default: reason = nil
            }
            let isAccepted = if case .success = result { true } else { false }
            outcome = await finish(item) { [self, item] in
                let outcome: StoreUpdate.Outcome
                if item.precedence == .urgent, let reason {
                    outcome = await endUnsent(item, reason, isNew: isNew, unlessDroppedSince: resets)
                } else {
                    let known = await end(item, result, knownAs: isAccepted ? nil : item)
                    outcome = isNew ? .done : known
                }
                await forget(replaced(by: item).map(\.id), of: item.account)
                return outcome
            }
        }
        guard let outcome, let known = heard(result, of: item, outcome) else { return tell(item, result) }
        if case .decided(let result) = known { tell(item, result) }
    }

    /// What the device knows of an item that ended here.
    private enum Known {
        case decided(Result<CommandReply, QuartetError>)
        /// Another process is at it.
        case open
    }

    /// - Returns: Nil if what happened here counts.
    private func heard(
        _ result: Result<CommandReply, QuartetError>, of item: OutboxItem, _ outcome: StoreUpdate.Outcome
    ) -> Known? {
        let isServers =
            switch result {
            case .success, .failure(.refused): true
            case .failure: false
            }
        switch outcome {
        case .other(let stored) where !stored.isOver: return .open
        case .other, .gone: return isServers ? nil : outcome.result.map { .decided($0) }
        case .done, .behind: return nil
        }
    }

    /// Gives up an item that this version of the app can't read.
    func discard(_ item: OutboxItem, _ error: QuartetError) {
        guard let item = take(item.id, where: { _ in true }) else { return }
        decisions.send(OutboxEvent(item: item, error: error))
    }

    /// Leaves what became of an item to its caller.
    /// - Returns: False if it has none any more.
    private func isHeard(_ result: Result<CommandReply, QuartetError>, of item: OutboxItem) -> Bool {
        state.withLock { state in
            let awaited = state.callers(of: item).filter { state.awaited.contains($0) }
            for id in awaited { state.results[id] = result }
            return !awaited.isEmpty
        }
    }

    func tell(_ item: OutboxItem, _ result: Result<CommandReply, QuartetError>) {
        _ = isHeard(result, of: item)
        state.withLock { _ = $0.joined.removeValue(forKey: item.id) }
        let queue = queue(of: item)
        queue?.decided(item, result)
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
