import API
import Foundation
import Synchronization
import Vocabulary

/// Changes that the server hasn't decided, kept on the device until it has.
///
/// A change is durable before its call goes on, and is sent under one key, so that it takes effect once however often it is sent.
/// Nothing waits behind a change of lower precedence. Changes about the same thing are sent in the order in which people made them. A
/// refused one goes, and those behind it are sent.
public final class Outbox: Sendable {
    /// What waits, the oldest first.
    public let items = Shared<[OutboxItem]>([], .ready)
    /// Urgent changes that weren't sent and won't be, the oldest first: of many, the newest 20. They outlast the app, and stay until
    /// ``markRead(_:)``. What was dropped by signing out is there until somebody else signs in or the app ends.
    public var unsent: Shared<[UnsentChange]> { cards.shared }

    /// A client's edits. The client keeps the connection, so the connection mustn't keep the client.
    private struct Queue: Sendable {
        weak let edits: (any EditQueue)?
    }

    private struct State: Sendable {
        var items: [OutboxItem] = []
        /// Accepted ones that the device's copies may not have.
        var accepted: [Int64: OutboxItem] = [:]
        var next: Int64 = 1
        var queues: [String: Queue] = [:]
        var schedule = OutboxSchedule()
        /// Items whose callers wait, and what became of them.
        var awaited: Set<Int64> = []
        var results: [Int64: Result<CommandReply, QuartetError>] = [:]
        /// Counts the times when everything was dropped. What began before belongs to nobody.
        var resets = 0
    }

    /// More can't wait, of those that aren't urgent. Of urgent ones there are at most three for each thing that they are about: one that
    /// was tried, and two that wait and that a later one takes the place of.
    static let limit = (items: 1000, bytes: 5 << 20)
    /// The server remembers ids for thirty days.
    static let horizon: Interval = .days(29)
    /// A command that the server fails to handle so often is given up.
    static let failureLimit = 5

    private let state = Mutex(State())
    private let cards: UnsentChanges
    let store: AccountStore
    /// Changes of one precedence are kept in the order in which they were made.
    private let keeping: [Sending.Precedence: Lane] = Dictionary(
        uniqueKeysWithValues: Sending.Precedence.allCases.map { ($0, Lane()) })
    private let clock: KnownServerTime
    let time: Timekeeper
    /// Something can be sent that couldn't be before.
    private let kicks = Broadcast<Void>()
    /// An attempt has ended.
    private let progress = Broadcast<Void>()
    private let decisions = Broadcast<OutboxEvent>()

    init(store: AccountStore, clock: KnownServerTime, time: Timekeeper) {
        self.store = store
        cards = UnsentChanges(store)
        self.clock = clock
        self.time = time
    }

    /// What becomes of items from now on. One that isn't read keeps the newest 100.
    public var events: AsyncStream<OutboxEvent> { decisions.subscribe(keeping: 100) }

    /// Takes an item back.
    /// - Returns: False if it is too late: it was decided, or the server may know it.
    @discardableResult
    public func cancel(_ id: OutboxItem.ID) async throws(QuartetError) -> Bool {
        guard let item = take(id, where: \.canCancel) else { return false }
        try await store.remove(item)
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
        state.withLock { $0.schedule.wake() }
        kicks.send(())
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
    ///   - show: Shows it, under the item's number.
    ///   - keepBase: Keeps what it stands on, so that both are there when the app is started again without a network.
    func send(
        _ edit: Data, _ command: any AppCommandBody, of account: AccountID, from queue: some EditQueue,
        _ requests: Requests?, isConnected: Bool, show: (OutboxItem) -> Void, keepBase: () async -> Void
    ) async throws(QuartetError) {
        let end = time.now() + CallLimit.length
        let (name, sending) = (type(of: command).type, type(of: command).sending)
        let (item, resets) = state.withLock { state in
            defer { state.next += 1 }
            let item = OutboxItem(
                id: state.next, stream: queue.stream, command: name, acted: time.wall(), lifetime: sending.lifetime,
                actedAtServer: clock.now, account: account, edit: edit, moment: .init(time), order: command.orderKey)
            return (item, state.resets)
        }
        show(item)
        do throws(QuartetError) {
            _ = try await keeping[sending.precedence]?.run { () async throws(QuartetError) in
                // What it stands on is for a restart alone: a call for help doesn't wait for it.
                if sending.precedence != .urgent { await keepBase() }
                try await keep(item, sending, unlessDroppedSince: resets)
                kicks.send(())
                if sending.precedence == .urgent { await keepBase() }
            }
        } catch {
            queue.decided(item, .failure(error))
            throw error
        }
        try await wait(for: item, until: end, requests, isConnected: isConnected)
    }

    private func keep(
        _ item: OutboxItem, _ sending: Sending, unlessDroppedSince resets: Int
    ) async throws(QuartetError) {
        let isUrgent = sending.precedence == .urgent
        @Sendable func isSuperseded(_ other: OutboxItem) -> Bool {
            other.lane == item.lane && other.canCancel && sending.supersedes.contains(other.command)
        }
        let isFull = state.withLock { state in
            let others = state.items.filter { $0.precedence != .urgent && !isSuperseded($0) }
            return others.count >= Self.limit.items
                || others.reduce(item.size) { $0 + $1.size } > Self.limit.bytes
        }
        guard !isFull || isUrgent else { throw .outboxFull }
        do throws(QuartetError) { try await store.save(item) } catch {
            // A full disk doesn't hold back a call for help: it is sent from memory, and written as soon as that works.
            guard case .notStored = error, isUrgent else { throw error }
        }
        let superseded = change { state -> [OutboxItem]? in
            // Its person signed out meanwhile, and the device has forgotten it.
            guard state.resets == resets else { return nil }
            let superseded = state.items.filter(isSuperseded)
            state.items.removeAll(where: isSuperseded)
            state.items.append(item)
            state.awaited.insert(item.id)
            return superseded
        }
        guard let superseded else { throw .needsAuthentication }
        for item in superseded {
            await cards.end(item, .superseded) { self.isCurrent(resets) }
            tell(item, .failure(.superseded))
        }
    }

    private func wait(
        for item: OutboxItem, until end: Duration, _ requests: Requests?, isConnected: Bool
    ) async throws(QuartetError) {
        // Nobody else would find out that the device is signed in again.
        if requests != nil { state.withLock { $0.schedule.isBlocked = false } }
        // Ends with this call.
        async let _: Void = runUnlessRunning(requests)
        let undecided = await waitForDecision(of: item, until: end, isConnected: isConnected)
        let result = state.withLock { state in
            state.awaited.remove(item.id)
            return state.results.removeValue(forKey: item.id)
        }
        guard let result else { throw undecided ?? .willBeSentWhenOnline }
        _ = try result.get()
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

    // MARK: The account

    /// Takes in what was kept for an account.
    func restore(_ all: [OutboxItem], of account: AccountID) {
        let kept = all.filter { $0.unsent == nil }.map { item in
            var item = item
            item.account = account
            if item.order == nil { item.order = try? queue(of: item)?.order(of: item) }
            return item
        }
        cards.restore(all)
        change { state in
            state.items = kept.filter { $0.accepted == nil }
            for item in kept where item.accepted != nil { state.accepted[item.id] = item }
            state.next = max(state.next, (all.last?.id ?? 0) + 1)
            state.schedule.wake()
        }
        for item in kept {
            guard let queue = queue(of: item) else { continue }
            do throws(QuartetError) { try queue.restore(item) } catch { discard(item, error) }
            if let command = item.accepted {
                queue.decided(item, .success(CommandReply(command: command, event: item.command)))
            }
        }
        kicks.send(())
    }

    /// The streams that have accepted items which the device still keeps.
    var unfinished: Set<String> { state.withLock { Set($0.accepted.values.map(\.stream)) } }

    /// The accepted items whose effects the copy of a stream has: the device needn't keep them any longer.
    func takeFinished(of stream: String) -> [OutboxItem.ID] {
        guard let queue = state.withLock({ $0.queues[stream]?.edits }) else { return [] }
        let open = queue.openEdits
        return state.withLock { state in
            let finished = state.accepted.values.filter { $0.stream == stream && !open.contains($0.id) }.map(\.id)
            for id in finished { state.accepted[id] = nil }
            return finished
        }
    }

    /// Drops everything: the person signed out, or another one signed in.
    /// - Parameter next: Who signed in. Nobody else reads what became of the changes.
    func reset(for next: AccountID? = nil) {
        let dropped = change { state in
            for item in state.items where state.awaited.contains(item.id) {
                state.results[item.id] = .failure(.needsAuthentication)
            }
            defer {
                (state.items, state.accepted) = ([], [:])
                state.resets += 1
                state.schedule.wake()
            }
            return state.items
        }
        cards.drop(dropped, for: next)
        progress.send(())
    }

    // MARK: Sending

    /// Sends what waits, until the task is cancelled.
    /// - Parameter requests: Those of whoever is signed in then.
    func run(_ requests: @Sendable () -> Requests) async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let kicked = kicks.subscribe(keeping: 1)
                while let item = next() {
                    let requests = requests()
                    group.addTask { await self.send(item, requests) }
                }
                let now = time.now()
                let until = state.withLock { $0.schedule.nextEnd(of: $0.items, now: now) }
                await time.wait(for: kicked, until: until)
            }
        }
    }

    private func runUnlessRunning(_ requests: Requests?) async {
        if let requests { await run { requests } }
    }

    private func next() -> OutboxItem? {
        let now = time.now()
        return state.withLock { state in
            let queues = state.queues
            return state.schedule.next(of: state.items, now: now) { queues[$0.stream]?.edits != nil }
        }
    }

    private func send(_ item: OutboxItem, _ requests: Requests) async {
        let verdict = await attempt(item, requests)
        if case .decided(let result) = verdict { await settle(item, result) }
        let now = time.now()
        state.withLock { state in
            state.schedule.end(item)
            var random = time.draws
            switch verdict {
            case .decided: state.schedule.decided(item)
            case .signedOut where requests.isCurrent(): state.schedule.isBlocked = true
            case .later(let error, let pause, let isShared):
                state.schedule.rest(item, error, pause: pause, isShared: isShared, now: now, using: &random)
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

    /// Keeps what is about to be sent, so that after a crash the same is sent under the same key.
    /// - Returns: False if the item was taken back meanwhile.
    func prepared(_ item: OutboxItem) async throws(QuartetError) -> Bool {
        do throws(QuartetError) { try await store.replace(item, if: waits(item)) } catch {
            // Sent twice, an urgent command does what it does once.
            guard case .notStored = error, item.precedence == .urgent else { throw error }
        }
        return update(item)
    }

    /// The server doesn't know the item: it is sent again under another key.
    func renew(_ item: OutboxItem) async {
        var item = item
        (item.key, item.body) = (RequestKey(), nil)
        guard update(item) else { return }
        // If the device fails to write this, the old key is sent after a crash, and the server answers the same.
        try? await store.replace(item, if: waits(item))
    }

    /// - Returns: False if the item doesn't wait any more.
    private func update(_ item: OutboxItem) -> Bool {
        change { state in
            guard let index = state.items.firstIndex(where: { $0.id == item.id }) else { return false }
            state.items[index] = item
            return true
        }
    }

    /// Whether an item waits: it is asked when its turn to be written has come. Its person may have signed out by then, and in again.
    private func waits(_ item: OutboxItem) -> @Sendable () -> Bool {
        { [id = item.id] in self.state.withLock { $0.items.contains { $0.id == id } } }
    }

    /// Whether nothing was dropped since.
    private func isCurrent(_ resets: Int) -> Bool { state.withLock { $0.resets == resets } }

    private func settle(_ item: OutboxItem, _ result: Result<CommandReply, QuartetError>) async {
        let resets = state.withLock { $0.resets }
        guard var item = take(item.id, where: { _ in true }) else { return }
        // If the device fails to write this, the item is sent once more under its key, and the server answers the same.
        if case .success(let reply) = result, reply.event != nil {
            item.accepted = reply.command
            state.withLock { $0.accepted[item.id] = item }
            try? await store.replace(item, if: { self.isCurrent(resets) })
        } else if case .failure(.expired) = result {
            await cards.end(item, .expired) { self.isCurrent(resets) }
        } else {
            try? await store.remove(item)
        }
        tell(item, result)
    }

    /// Gives up an item that this version of the app can't read.
    private func discard(_ item: OutboxItem, _ error: QuartetError) {
        guard let item = take(item.id, where: { _ in true }) else { return }
        decisions.send(OutboxEvent(item: item, error: error))
    }

    private func tell(_ item: OutboxItem, _ result: Result<CommandReply, QuartetError>) {
        let queue = state.withLock { state in
            if state.awaited.contains(item.id) { state.results[item.id] = result }
            return state.queues[item.stream]?.edits
        }
        queue?.decided(item, result)
        let error: QuartetError? = if case .failure(let error) = result { error } else { nil }
        decisions.send(OutboxEvent(item: item, error: error))
        progress.send(())
    }

    private func take(_ id: OutboxItem.ID, where isMeant: (OutboxItem) -> Bool) -> OutboxItem? {
        change { state in
            state.items.firstIndex { $0.id == id && isMeant($0) }.map { state.items.remove(at: $0) }
        }
    }

    @discardableResult
    private func change<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let (result, notify) = state.withLock { state in
            let result = change(&state)
            return (result, items.replace(state.items, .ready))
        }
        notify()
        return result
    }
}
