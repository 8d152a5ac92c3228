public import Observation
import QuartetAPI
public import QuartetVocabulary
import Synchronization

/// The connection to one server: its state, its events, and the stream that keeps shared state live.
///
/// It is connected while ``run()`` runs and ``connect()`` was the last word. Its properties are observable, each by itself.
public final class Connection: Observable, Sendable {
    /// For logs and for choosing among several. Of those of one app no two have the same: the device's notifications of one are found by it.
    public let name: String
    let clock: KnownServerTime
    let time: Timekeeper
    /// Changes that the server hasn't decided.
    public let outbox: Outbox
    let transport: (any Transport)?
    let tokens: AccessTokens?
    let store: AccountStore
    let copies: CopyKeeper
    /// Signing in and beginning to run, one after the other: what is kept must not replace what has arrived since, and no
    /// stream may be opened for somebody who is only half signed in.
    let entering = Lane()
    /// What the device kept couldn't be read, or may be readable by now.
    let unread = Broadcast<Void>()
    /// Somebody signed out without the server's knowledge.
    let leaving = Broadcast<Void>()
    /// The app came to the foreground, or the device has another network.
    let wakes = Broadcast<Void>()
    /// Who is signed in, as this process last heard.
    let session = SharedState<ReadOnlySessionState>()
    let timeKicks = Broadcast<Void>()
    let timeAnswers = Broadcast<Void>()
    private let registrar = ObservationRegistrar()
    let eventReaders = Broadcast<ConnectionEvent>()
    private let stateReaders = Broadcast<ConnectionState>()
    let core: Mutex<ConnectionCore>
    let parts = Mutex(ClientParts())
    /// Has one caller of ``run()`` after the other run it.
    private let running = Lane()
    let surroundings: (any Surroundings)?
    /// Where the device has several accounts; nil where it has this connection's alone.
    let home = Mutex<AccountHome?>(nil)
    let notices: UnsentNotices?
    /// Held while events are numbered and taken in: with it, copies are where the sequencer is. Observers are called meanwhile, so
    /// nothing may take it that an observer can call and that doesn't suspend.
    let delivery = Mutex(())

    /// - Parameters:
    ///   - transport: Nil while there is no server to connect to.
    ///   - tokens: Where the device keeps what it is signed in with.
    ///   - store: Where the device keeps changes and copies, for when there is no network or the app was ended.
    ///   - time: The clock to wait on.
    ///   - surroundings: The device that it runs on; nil where nothing is known of it, as on Linux.
    public convenience init(
        name: String = "default", transport: (any Transport)?, tokens: any TokenStore = InMemoryTokenStore(),
        store: any LocalStore = InMemoryLocalStore(), policy: ReconnectionPolicy = .forever, time: Timekeeper = .live,
        surroundings: (any Surroundings)? = Connection.systemSurroundings
    ) {
        var settings = ConnectionMachine.Settings()
        (settings.policy, settings.silence) = (policy, time.silence)
        self.init(
            name: name, transport: transport, tokens: tokens, store: store,
            machine: ConnectionMachine(settings, random: time.draws),
            time: time, surroundings: surroundings)
    }

    init(
        name: String, transport: (any Transport)?, tokens credentials: any TokenStore,
        store: any LocalStore = InMemoryLocalStore(), machine: ConnectionMachine, time: Timekeeper,
        surroundings: (any Surroundings)? = nil
    ) {
        let transport = transport.map { ReleasingTransport(inner: $0, time: time) }
        self.name = name
        self.transport = transport
        self.time = time
        self.surroundings = surroundings
        let clock = KnownServerTime(time)
        let tokens = transport.map { AccessTokens(transport: $0, store: credentials, clock: clock, time: time) }
        let account = AccountStore(store, time.workplace)
        if let tokens { account.isSignedIn.withLock { $0 = { await tokens.isLast($0) } } }
        self.clock = clock
        self.tokens = tokens
        self.store = account
        let outbox = Outbox(store: account, clock: clock, time: time)
        self.outbox = outbox
        notices = surroundings.map { UnsentNotices($0, of: outbox, connection: name) }
        copies = CopyKeeper(account, time.workplace) { outbox.noteFinished($0, isWritten: $1) }
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

    /// Whether the network reached the server when that was last found out: by a stream that began, broke or couldn't be opened. Nil before
    /// the first one. It is true of a server that refuses.
    public var isNetworkConnected: Bool? {
        registrar.access(self, keyPath: \.isNetworkConnected)
        return core.withLock { $0.info.isNetworkConnected }
    }

    /// When that was last found out, or something arrived, by the server's clock where that is known. It isn't observable.
    public var lastNetworkCheck: Instant? {
        core.withLock { $0.lastNetworkCheck }.map { checked in
            clock.at(checked) ?? time.wall() - Interval(time.now() - checked)
        }
    }

    /// What happens from now on. Each sequence gets everything; one that isn't read keeps the newest 100.
    public var events: AsyncStream<ConnectionEvent> { eventReaders.subscribe(keeping: 100) }

    /// The state now and each one that follows. One that isn't read keeps the newest 100.
    public var states: AsyncStream<ConnectionState> { stateReaders.subscribe(keeping: 100) { stateNow } }

    var stateNow: ConnectionState {
        transport == nil ? .notConfigured : core.withLock { $0.machine.state }
    }

    /// Waits until it is connected.
    /// - Throws: `CancellationError`.
    public func ready() async throws {
        for await state in states where state.isConnected { return }
        throw CancellationError()
    }

    // MARK: What the app wants

    /// Connects and stays connected until the task is cancelled; then nothing of it is left, no task and no socket, unless its transport
    /// can't be cancelled within a second, and but for what its ``Surroundings`` still have to tell. A second call at the same time waits
    /// until the first has ended, and goes on.
    public func run() async {
        guard transport != nil else { return }
        // Fails only for a task that is cancelled while it waits.
        try? await running.run { () async throws(QuartetError) in await runNow() }
    }

    private func runNow() async {
        let work = begin()
        await withDiscardingTaskGroup { group in
            // A call for help is sent while what the device kept is still being read.
            group.addTask { await self.outbox.run { self.requests } }
            try? await entering.run { () async throws(QuartetError) in
                // What can't be read from the device is loaded from the server, and read later.
                do throws(QuartetError) { try await restoreNow() } catch {}
                connect()
            }
            group.addTask { await self.copies.run() }
            group.addTask { await self.keepTime() }
            group.addTask { await self.keepRestoring() }
            group.addTask { await self.finishLeaving() }
            group.addTask { await self.heedForgetting() }
            group.addTask { await self.heedSigningIn() }
            if let surroundings { group.addTask { await self.heed(surroundings) } }
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
        // From here on whoever changes something sends it.
        core.withLock { $0.work = nil }
        keepCopies(time.now(), atOnce: true)
        await copies.finish()
        store.noteRunning(false)
    }

    private func begin() -> AsyncStream<ConnectionCore.Work> {
        store.noteRunning(true)
        return core.withLock { core in
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
    public func disconnect() { change { machine, _, heard in machine.disconnect(heard: heard) } }

    /// Begins again after the policy has given up, or where what the device is signed in with couldn't be read and now can.
    public func retry() {
        connect()
        wakes.send(())
    }

    /// Call it when the app comes to the foreground: a connection that died while the device slept, waits for its next attempt or was
    /// given up is opened again at once.
    public func wake() {
        change { $0.wake(now: $1, heard: $2) }
        hurry()
    }

    /// Call it when the device has another network.
    public func networkChanged() {
        change { machine, now, _ in machine.networkChanged(now: now) }
        hurry()
    }

    /// Nothing waits for a pause, or for what the former network may have swallowed.
    private func hurry() {
        tokens?.networkChanged()
        forgetTime()
        outbox.networkChanged()
        unread.send(())
        leaving.send(())
        wakes.send(())
    }

    // MARK: Deciding

    /// Asks the machine and does what it says. What readers hear of it, they hear in the order in which it was decided, and when no
    /// lock is held.
    /// - Parameter count: What ``ConnectionCore/accountCount`` has to be, for what is about whoever was signed in then; nil for any.
    func change(
        ifAccountCount count: Int? = nil,
        _ decide: (inout ConnectionMachine, Duration, Duration) -> [ConnectionMachine.Action]
    ) {
        guard transport != nil else { return }
        let now = time.now()
        core.withLock { core in
            guard count == nil || core.accountCount == count else { return }
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
                case .stale(let since):
                    // A loss may be noticed long after something last arrived: after sleep, for instance.
                    let heard = min(since, core.heard)
                    core.notes.append(.liveness(.stale(since: clock.at(heard) ?? time.wall())))
                case .unavailable(let error):
                    core.notes.append(.liveness(.unavailable(error, since: clock.at(core.heard) ?? time.wall())))
                case .report(let event):
                    reports.append(event)
                    core.noteNetwork(event, now)
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
        if before.isNetworkConnected != after.isNetworkConnected {
            registrar.withMutation(of: self, keyPath: \.isNetworkConnected) {}
        }
        if before.reconnectionCount != after.reconnectionCount {
            registrar.withMutation(of: self, keyPath: \.reconnectionCount) {}
        }
    }
}
