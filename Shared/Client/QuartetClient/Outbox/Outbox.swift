import API
import Foundation
import Synchronization
import Vocabulary

/// Changes that the server hasn't decided, kept on the device until it has.
///
/// A change is durable before its call goes on. Those of one stream are sent in the order in which people made them, each under one
/// key, so that it takes effect once however often it is sent. A refused one goes, and those behind it are sent.
public final class Outbox: Sendable {
    /// What waits, the oldest first.
    public let items = Shared<[OutboxItem]>([], .ready)

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
        var lanes: [String: Lane] = [:]
        /// Lanes whose first item can't be decided now: until when, and why.
        var rests: [String: (until: Duration, error: QuartetError, attempts: Int)] = [:]
        /// Items whose callers wait, and what became of them.
        var awaited: Set<Int64> = []
        var results: [Int64: Result<CommandReply, QuartetError>] = [:]
    }

    /// More can't wait.
    static let limit = (items: 1000, bytes: 5 << 20)
    /// The server remembers ids for thirty days.
    static let horizon: Interval = .days(29)

    private let state = Mutex(State())
    private let store: AccountStore
    /// Changes are kept in the order in which they were made.
    private let keeping = Lane()
    private let clock: KnownServerTime
    private let time: Timekeeper
    private let kicks = Broadcast<Void>()
    private let decisions = Broadcast<OutboxEvent>()

    init(store: AccountStore, clock: KnownServerTime, time: Timekeeper) {
        self.store = store
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
        try await store.remove(id)
        tell(item, .failure(.cancelled))
        return true
    }

    /// Sends what waits now, without waiting for the time that it was put off to.
    public func retry() {
        state.withLock { $0.rests = [:] }
        kicks.send(())
    }

    // MARK: Clients

    func attach(_ queue: any EditQueue) {
        state.withLock { state in
            state.queues[queue.stream] = Queue(edits: queue)
            state.lanes[queue.stream] = Lane()
        }
    }

    /// Keeps a change, sends it when its turn comes, and waits for the decision as long as a person would.
    /// - Parameters:
    ///   - show: Shows it, under the item's number.
    ///   - keepBase: Keeps what it stands on, so that both are there when the app is started again without a network.
    func send(
        _ edit: Data, _ command: String, lifetime: Interval, from queue: some EditQueue, _ requests: Requests,
        isConnected: Bool, show: (OutboxItem) -> Void, keepBase: () async -> Void
    ) async throws(QuartetError) {
        let item = state.withLock { state in
            defer { state.next += 1 }
            return OutboxItem(
                id: state.next, stream: queue.stream, command: command, acted: .now, lifetime: lifetime,
                actedAtServer: clock.now, edit: edit)
        }
        show(item)
        do throws(QuartetError) {
            try await keeping.run { () async throws(QuartetError) in
                await keepBase()
                try await keep(item)
            }
        } catch {
            queue.decided(item, .failure(error))
            throw error
        }
        try await wait(for: item, requests, isConnected: isConnected)
    }

    private func keep(_ item: OutboxItem) async throws(QuartetError) {
        let isFull = state.withLock { state in
            state.items.count >= Self.limit.items
                || state.items.reduce(item.size) { $0 + $1.size } > Self.limit.bytes
        }
        guard !isFull else { throw .outboxFull }
        try await store.save(item)
        change { state in
            state.items.append(item)
            state.awaited.insert(item.id)
        }
    }

    private func wait(
        for item: OutboxItem, _ requests: Requests, isConnected: Bool
    ) async throws(QuartetError) {
        var undecided: QuartetError?
        do throws(QuartetError) {
            undecided = try await lane(item.stream)?.run { () async throws(QuartetError) in
                await self.drain(
                    item.stream, until: item.id, requests, patience: isConnected ? Requests.patience : .disabled)
            }
        } catch {
            undecided = error
        }
        let result = state.withLock { state in
            state.awaited.remove(item.id)
            return state.results.removeValue(forKey: item.id)
        }
        if let result {
            _ = try result.get()
            return
        }
        kicks.send(())
        // A device that was signed out meanwhile keeps the change, and sends it once its person has signed in again.
        throw undecided == .needsAuthentication ? .willBeSentWhenOnline : undecided ?? .willBeSentWhenOnline
    }

    // MARK: The account

    /// Takes in what was kept for an account.
    func restore(_ items: [OutboxItem]) {
        change { state in
            state.items = items.filter { $0.accepted == nil }
            for item in items where item.accepted != nil { state.accepted[item.id] = item }
            state.next = max(state.next, (items.last?.id ?? 0) + 1)
            state.rests = [:]
        }
        for item in items {
            guard let queue = state.withLock({ $0.queues[item.stream]?.edits }) else { continue }
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

    /// Somebody else uses the device from now on.
    func reset() {
        change { state in
            for item in state.items where state.awaited.contains(item.id) {
                state.results[item.id] = .failure(.needsAuthentication)
            }
            (state.items, state.accepted, state.rests) = ([], [:], [:])
        }
    }

    /// Sends what waits, until the task is cancelled.
    /// - Parameter requests: Those of whoever is signed in then.
    func run(_ requests: @Sendable () -> Requests) async {
        while !Task.isCancelled {
            let kicked = kicks.subscribe(keeping: 1)
            let requests = requests()
            await withDiscardingTaskGroup { group in
                for stream in Set(state.withLock { $0.items.map(\.stream) }) {
                    group.addTask {
                        _ = try? await self.lane(stream)?.run { () async throws(QuartetError) in
                            await self.drain(stream, until: nil, requests, patience: .disabled)
                        }
                    }
                }
            }
            let until = state.withLock { state in
                state.items.isEmpty ? nil : state.rests.values.map(\.until).min()
            }
            await time.wait(for: kicked, until: until)
        }
    }

    // MARK: Sending

    private func lane(_ stream: String) -> Lane? { state.withLock { $0.lanes[stream] } }

    /// Decides one item after the other. The caller has the lane.
    /// - Returns: Why it stopped before the item it was to reach; nil if it reached it.
    private func drain(
        _ stream: String, until last: OutboxItem.ID?, _ requests: Requests, patience: ReconnectionPolicy
    ) async -> QuartetError? {
        while let item = state.withLock({ $0.items.first { $0.stream == stream } }) {
            if let last, item.id > last { return nil }
            let now = time.now()
            if let rest = state.withLock({ $0.rests[stream] }), now < rest.until { return rest.error }
            let verdict = await attempt(item, requests, patience)
            switch verdict {
            case .decided(let result):
                _ = state.withLock { $0.rests.removeValue(forKey: stream) }
                await settle(item, result)
            case .later(let error, let pause):
                rest(stream, error, pause)
                return error
            case .interrupted(let error): return error
            }
        }
        return nil
    }

    private func rest(_ stream: String, _ error: QuartetError, _ pause: Duration?) {
        let now = time.now()
        state.withLock { state in
            let attempts = (state.rests[stream]?.attempts ?? 0) + 1
            var random = time.draws
            let delay = ReconnectionPolicy.forever.delay(beforeAttempt: attempts, using: &random) ?? .seconds(30)
            state.rests[stream] = (now + max(delay, pause ?? .zero), error, attempts)
        }
    }

    private enum Verdict {
        case decided(Result<CommandReply, QuartetError>)
        /// It is sent again, after a pause that the server may have asked for.
        case later(QuartetError, Duration?)
        case interrupted(QuartetError)
    }

    private func attempt(_ item: OutboxItem, _ requests: Requests, _ patience: ReconnectionPolicy) async -> Verdict {
        guard let queue = state.withLock({ $0.queues[item.stream]?.edits }) else {
            return .interrupted(.notConfigured(item.stream))
        }
        var (item, isRepeated) = (item, item.isSent)
        do throws(QuartetError) {
            // Somebody else may be quicker more than once.
            for _ in 0..<5 {
                let now = try await requests.serverTime()
                if let sent = item.key.id?.time, item.isSent {
                    guard now - sent < Self.horizon else { return .decided(.failure(.unknown)) }
                } else {
                    guard item.age(now) <= item.lifetime else { return .decided(.failure(.expired)) }
                    item.body = Data(try queue.body(of: item))
                    _ = item.key.minted(at: now)
                    guard try await prepared(item) else { return .interrupted(.cancelled) }
                }
                guard let key = item.key.id, let body = item.body else { return .interrupted(.cancelled) }
                do throws(QuartetError) {
                    let result = try await requests.command(
                        item.command, Array(body), key: key, isRepeated: isRepeated, patience: patience)
                    switch result {
                    case .success(let reply): return .decided(.success(reply))
                    case .failure(.network(let mayHaveHappened)):
                        if !mayHaveHappened { try await unsent(item) }
                        return .later(.willBeSentWhenOnline, nil)
                    case .failure(.server(let error, _)):
                        return .later(.serverError(error), error.retryAfter.map { .seconds($0) })
                    }
                } catch .refused(let error) where error.code == .idTooOld && isRepeated {
                    return .decided(.failure(.unknown))
                } catch .refused(let error) where error.code.httpStatus == 429 || error.code == .idTooOld {
                    (item.key, item.body, isRepeated) = (RequestKey(), nil, false)
                    guard try await prepared(item) else { return .interrupted(.cancelled) }
                    guard error.code != .idTooOld else { continue }
                    return .later(.serverError(error), error.retryAfter.map { .seconds($0) })
                } catch .refused(let error) where error.code == .staleVersion {
                    guard let current = error.current, let body = try queue.body(of: item, basedOn: current) else {
                        throw .refused(error)
                    }
                    (item.key, item.body, isRepeated) = (RequestKey(), Data(body), false)
                    _ = item.key.minted(at: now)
                    guard try await prepared(item) else { return .interrupted(.cancelled) }
                }
            }
            return .later(.serverError(APIError(.staleVersion)), nil)
        } catch {
            switch error {
            case .offline: return .later(.willBeSentWhenOnline, nil)
            case .cancelled, .needsAuthentication: return .interrupted(error)
            default: return .decided(.failure(error))
            }
        }
    }

    /// Keeps what is about to be sent, so that after a crash the same is sent under the same key.
    /// - Returns: False if the item was cancelled meanwhile.
    private func prepared(_ item: OutboxItem) async throws(QuartetError) -> Bool {
        let isThere = change { state in
            guard let index = state.items.firstIndex(where: { $0.id == item.id }) else { return false }
            state.items[index] = item
            return true
        }
        if isThere { try await store.replace(item) }
        return isThere
    }

    /// It was to be sent, and the server wasn't reached.
    private func unsent(_ item: OutboxItem) async throws(QuartetError) {
        var item = item
        (item.key, item.body) = (RequestKey(), nil)
        _ = try await prepared(item)
    }

    private func settle(_ item: OutboxItem, _ result: Result<CommandReply, QuartetError>) async {
        guard var item = take(item.id, where: { _ in true }) else { return }
        // If the device fails to write this, the item is sent once more under its key, and the server answers the same.
        if case .success(let reply) = result, reply.event != nil {
            item.accepted = reply.command
            state.withLock { $0.accepted[item.id] = item }
            try? await store.replace(item)
        } else {
            try? await store.remove(item.id)
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
    }

    private func take(_ id: OutboxItem.ID, where isMeant: (OutboxItem) -> Bool) -> OutboxItem? {
        change { state in
            state.items.firstIndex { $0.id == id && isMeant($0) }.map { state.items.remove(at: $0) }
        }
    }

    private func change<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let (result, notify) = state.withLock { state in
            let result = change(&state)
            return (result, items.replace(state.items, .ready))
        }
        notify()
        return result
    }
}
