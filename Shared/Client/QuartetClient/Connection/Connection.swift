import API
public import Observation
import Synchronization
public import Vocabulary

/// The connection to one server: its state, its events, and the stream that keeps shared state live.
///
/// It is connected while ``run()`` runs and ``connect()`` was the last word. Its properties are observable, each by itself.
public final class Connection: Observable, Sendable {
    /// For logs and for choosing among several.
    public let name: String
    let clock: KnownServerTime
    let time: Timekeeper
    private let transport: (any Transport)?
    private let tokens: AccessTokens?
    private let registrar = ObservationRegistrar()
    private let eventReaders = Broadcast<ConnectionEvent>()
    private let stateReaders = Broadcast<ConnectionState>()
    private let core: Mutex<ConnectionCore>

    /// - Parameters:
    ///   - transport: Nil while there is no server to connect to.
    ///   - tokens: Where the device keeps what it is signed in with.
    ///   - time: The clock to wait on.
    public convenience init(
        name: String = "default", transport: (any Transport)?, tokens: any TokenStore = InMemoryTokenStore(),
        policy: ReconnectionPolicy = .standard, time: Timekeeper = .live
    ) {
        var settings = ConnectionMachine.Settings()
        settings.policy = policy
        self.init(name: name, transport: transport, tokens: tokens, machine: ConnectionMachine(settings), time: time)
    }

    init(
        name: String, transport: (any Transport)?, tokens store: any TokenStore, machine: ConnectionMachine,
        time: Timekeeper
    ) {
        self.name = name
        self.transport = transport
        self.time = time
        let clock = KnownServerTime(time)
        let tokens = transport.map { AccessTokens(transport: $0, store: store, clock: clock, time: time) }
        self.clock = clock
        self.tokens = tokens
        core = Mutex(ConnectionCore(machine: machine))
    }

    // MARK: What it is like

    public var state: ConnectionState {
        registrar.access(self, keyPath: \.state)
        return stateNow
    }

    /// Why it was last lost or couldn't be made; nil while it is connected.
    public var lastError: ConnectionError? {
        registrar.access(self, keyPath: \.lastError)
        return core.withLock { $0.machine.lastError }
    }

    /// Since when it is connected, by the server's clock.
    public var connectedSince: Instant? {
        registrar.access(self, keyPath: \.connectedSince)
        return core.withLock { $0.machine.connectedSince }.flatMap { clock.at($0) }
    }

    /// How often it was connected again.
    public var reconnectionCount: Int {
        registrar.access(self, keyPath: \.reconnectionCount)
        return core.withLock { $0.machine.reconnectionCount }
    }

    /// What happens from now on. Each sequence gets everything; one that isn't read keeps the newest 100.
    public var events: AsyncStream<ConnectionEvent> { eventReaders.subscribe(keeping: 100) }

    /// The state now and each one that follows. One that isn't read keeps the newest 100.
    public var states: AsyncStream<ConnectionState> { stateReaders.subscribe(keeping: 100) { stateNow } }

    private var stateNow: ConnectionState {
        transport == nil ? .notConfigured : core.withLock { $0.machine.state }
    }

    /// Waits until it is connected.
    /// - Throws: `CancellationError`.
    public func ready() async throws {
        for await state in states where state.isConnected { return }
        throw CancellationError()
    }

    // MARK: What the app wants

    /// Connects and stays connected until the task is cancelled; then nothing of it is left, no task and no socket. A second call
    /// at the same time returns at once.
    public func run() async {
        guard transport != nil, let work = claim() else { return }
        connect()
        await withDiscardingTaskGroup { group in
            for await item in work {
                switch item {
                case .follow(let opening, let end): group.addTask { await self.follow(opening, until: end) }
                case .wait(let deadline):
                    group.addTask {
                        do { try await self.time.sleep(deadline) } catch { return }
                        self.change { $0.passed(now: $1, heard: $2) }
                    }
                }
            }
            disconnect()
            group.cancelAll()
        }
        core.withLock { $0.work = nil }
    }

    /// Nil if it runs already.
    private func claim() -> AsyncStream<ConnectionCore.Work>? {
        core.withLock { core in
            guard core.work == nil else { return nil }
            let (items, work) = AsyncStream<ConnectionCore.Work>.makeStream()
            core.work = work
            core.awaited = nil
            // Somebody may have signed in since it last ran.
            _ = core.machine.disconnect()
            return items
        }
    }

    /// Opens the stream, unless it is open or being opened. ``run()`` must be running.
    public func connect() {
        guard core.withLock({ $0.work != nil }) else { return }
        change { machine, now, _ in machine.connect(now: now) }
    }

    /// Closes the stream until ``connect()``.
    public func disconnect() { change { machine, _, _ in machine.disconnect() } }

    /// Begins again after the policy has given up.
    public func retry() { connect() }

    /// Call it when the app comes to the foreground: a connection that died while the device slept is opened again at once.
    public func wake() { change { $0.wake(now: $1, heard: $2) } }

    /// Call it when the device has another network.
    public func networkChanged() { change { machine, now, _ in machine.networkChanged(now: now) } }

    // MARK: What clients need

    /// Sends requests of whoever is signed in now, and refuses to go on when that is somebody else.
    var requests: Requests {
        let count = core.withLock { $0.accountCount }
        return Requests(
            transport: transport, tokens: tokens, clock: clock, time: time,
            isCurrent: { [weak self] in self?.core.withLock { $0.accountCount } == count },
            onSignedOut: { [weak self] in self?.signedOut($0) })
    }

    /// Delivers these sequences to a copy from now on.
    func attach(_ consumer: any StreamConsumer) {
        let isOpen = core.withLock { core in
            core.consumers.append(consumer)
            for name in consumer.sequences { core.sequencer.forget(name) }
            return core.machine.state.isConnected || core.machine.state.isTransitioning
        }
        // A stream that is open has said how these sequences begin.
        if isOpen { networkChanged() }
    }

    /// Somebody signed in.
    func signedIn(_ reply: SignedIn, asked: Duration) async throws {
        // Whoever was signed in before: nothing of theirs goes on.
        signedOut(.signedOut(nil))
        reset()
        try await tokens?.signedIn(reply, asked: asked)
        change { machine, now, _ in machine.signedIn(now: now) }
    }

    /// The person signed out: nothing of the account stays.
    func forgetAccount() async throws {
        try await tokens?.forget()
        reset()
        signedOut(.signedOut(.signedOut))
    }

    /// Who is signed in on this device.
    var credentials: Credentials? {
        get async throws { try await tokens?.credentials }
    }

    /// What shows at a sign-in that the device was signed in before.
    var lastRefreshToken: String? {
        get async throws { try await tokens?.lastRefreshToken }
    }

    private func signedOut(_ error: ConnectionError) {
        change { machine, _, _ in machine.signOut(error) }
    }

    private func reset() {
        let (consumers, opening) = core.withLock { core in
            core.sequencer.forgetAll()
            core.accountCount += 1
            return (core.consumers, core.machine.opening)
        }
        for consumer in consumers { consumer.reset(opening: opening) }
    }

    // MARK: Deciding

    /// Asks the machine and does what it says. What readers hear of it, they hear in the order in which it was decided, and when no
    /// lock is held.
    private func change(_ decide: (inout ConnectionMachine, Duration, Duration) -> [ConnectionMachine.Action]) {
        guard transport != nil else { return }
        let now = time.now()
        core.withLock { core in
            let before = core.info
            var reports: [ConnectionEvent] = []
            for action in decide(&core.machine, now, core.heard) {
                switch action {
                case .open(let opening):
                    let (end, stop) = AsyncStream<Never>.makeStream()
                    core.stops[opening] = stop
                    core.work?.yield(.follow(opening, until: end))
                case .close(let opening): core.stops.removeValue(forKey: opening)?.finish()
                case .live: core.notes.append(.liveness(.live))
                case .stale(let since): core.notes.append(.liveness(.stale(since: clock.at(since) ?? .now)))
                case .unavailable(let error):
                    core.notes.append(.liveness(.unavailable(error, since: clock.at(core.heard) ?? .now)))
                case .report(let event): reports.append(event)
                }
            }
            // What is live is so when readers hear that the connection is.
            core.notes.append(.changed(from: before, to: core.info))
            core.notes += reports.map { .report($0) }
            core.awaitDeadline(now)
        }
        deliverNotes()
    }

    /// Delivers what waits, unless somebody is at it, who then delivers this as well.
    private func deliverNotes() {
        guard core.withLock({ $0.beginDelivery() }) else { return }
        while let (note, consumers) = core.withLock({ $0.nextNote() }) {
            switch note {
            case .changed(let before, let after): notify(from: before, to: after)
            case .report(let event): eventReaders.send(event)
            case .liveness(let liveness): for consumer in consumers { consumer.liveness(liveness) }
            }
        }
    }

    private func notify(from before: ConnectionCore.Info, to after: ConnectionCore.Info) {
        if before.state != after.state {
            registrar.withMutation(of: self, keyPath: \.state) {}
            stateReaders.send(after.state)
        }
        if before.lastError != after.lastError { registrar.withMutation(of: self, keyPath: \.lastError) {} }
        if before.connectedSince != after.connectedSince {
            registrar.withMutation(of: self, keyPath: \.connectedSince) {}
        }
        if before.reconnectionCount != after.reconnectionCount {
            registrar.withMutation(of: self, keyPath: \.reconnectionCount) {}
        }
    }

    // MARK: Following

    private func follow(_ opening: Int, until end: AsyncStream<Never>) async {
        await withTaskGroup { group in
            group.addTask {
                let error = await self.stream(opening)
                guard !Task.isCancelled else { return }
                self.change { machine, now, _ in machine.ended(opening, error, now: now) }
            }
            group.addTask { for await _ in end {} }
            _ = await group.next()
            group.cancelAll()
        }
    }

    /// Opens the stream and reads it to its end.
    private func stream(_ opening: Int) async -> ConnectionError {
        guard let transport, let tokens else { return .closed }
        do {
            var token = try await tokens.token()
            let place = core.withLock { $0.sequencer.open() }
            let opened: OpenedStream
            do {
                opened = try await transport.open(StreamRequest(token: token, place: place))
            } catch let error as APIError where error.code.retry == .refreshed {
                token = try await tokens.token(insteadOf: token)
                opened = try await transport.open(StreamRequest(token: token, place: place))
            }
            clock.heard(opened.serverTime)
            return try await read(opened.items, opening)
        } catch let error as ConnectionError {
            return error
        } catch let error as TransportError {
            return .transport(error)
        } catch QuartetError.needsAuthentication {
            return .signedOut(nil)
        } catch QuartetError.refused(let error) {
            return .refused(error)
        } catch let error as APIError {
            if error.code == .malformedEventID { core.withLock { $0.sequencer.forgetAll() } }
            guard error.meansSignedOut else { return .refused(error) }
            try? await tokens.signedOut()
            return .signedOut(error.reason.flatMap { .init(rawValue: $0) })
        } catch {
            return .transport(.malformed("\(error)"))
        }
    }

    private func read(_ items: AsyncThrowingStream<StreamItem, any Error>, _ opening: Int) async throws
        -> ConnectionError
    {
        for try await item in items {
            let now = time.now()
            switch item {
            case .heartbeat(let place):
                let consumers = core.withLock { core in
                    core.heard = now
                    if core.stops[opening] != nil { core.sequencer.reach(place) }
                    return core.consumers
                }
                for consumer in consumers { consumer.heartbeat() }
            case .event(let event, let place): try deliver(event, place: place, opening, now)
            case .end(let end):
                guard end.reason == .signedOut else { return .ended(end.reason) }
                try await tokens?.signedOut()
                return .signedOut(end.why)
            }
        }
        return .closed
    }

    private func deliver(_ event: StreamEvent, place: String?, _ opening: Int, _ now: Duration) throws {
        let (verdict, consumers, hasBegun) = try core.withLock { core in
            // A stream that was closed has nothing more to say: somebody else may have signed in.
            guard core.stops[opening] != nil else { throw CancellationError() }
            core.heard = now
            do throws(ConnectionError) {
                let verdict = try core.sequencer.take(event, place: place)
                let hasBegun = core.sequencer.isLive && core.liveOpening != opening
                if hasBegun { core.liveOpening = opening }
                return (verdict, core.consumers, hasBegun)
            } catch {
                if case .outOfSequence(let name) = error { core.sequencer.forget(name) }
                throw error
            }
        }
        if verdict == .deliver, let name = event.sequence {
            for consumer in consumers where consumer.sequences.contains(name) {
                do { try consumer.take(event, opening: opening) } catch {
                    core.withLock { $0.sequencer.forget(name) }
                    throw ConnectionError.outOfSequence(name)
                }
            }
        }
        if case .snapshot(let name, let snapshot) = event, snapshot.isRefetched { eventReaders.send(.refetched(name)) }
        if hasBegun { change { machine, now, _ in machine.began(opening, now: now) } }
    }
}

extension StreamEvent {
    /// The sequence that it belongs to; nil if it isn't of the account. People belong to the contacts.
    var sequence: StreamName? {
        switch self {
        case .snapshot(let name, _), .resumed(let name), .event(let name, _): name
        case .person, .personEnded: .contacts
        case .begun, .groupEnded, .groups, .signal: nil
        }
    }
}
