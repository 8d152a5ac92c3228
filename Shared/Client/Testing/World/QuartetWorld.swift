import Foundation
public import QuartetClient
package import QuartetContactsContract
package import QuartetNotificationsContract
package import QuartetSessionContract
public import QuartetVocabulary
import Synchronization
import Testing

/// Quartet inside a unit test: the services' own rules and policies, apps with the clients that the real ones have, a clock that
/// stands still until the test moves it, and networks and devices that fail when the test says so.
///
/// ```swift
/// let world = QuartetWorld(seed: 7)
/// let (anna, bob) = try await world.people("anna", "bob")
/// try await world.befriend(anna, bob)
/// world.cut(bob, for: .hours(2))
/// try await anna.contacts.sendPing(bob.id)
/// await world.settle()
/// #expect(bob.contacts.contacts.incomingPings.count == 1)
/// ```
///
/// Time passes only where a test lets it, and while a call of an app's waits for time because its network fails: such a call returns
/// as it would from a real server, after the seconds that its attempts take. An event that a command causes reaches the app that sent it
/// before the reply or some time after it, as the seed says.
///
/// It can't say anything that the server doesn't: it is the same code, on rows in memory. It lacks what isn't in the rules: limits of
/// the edge, pictures, attachments, phones and signals, and people in a group session are present whether or not they look.
public final class QuartetWorld: Sendable {
    let edge: WorldEdge
    let executor: WorldExecutor
    private let start: Instant
    private let seed: UInt64
    private let everybody = Mutex<[WorldPerson]>([])
    /// The devices that several people share, by their names.
    let shared = Mutex<[String: WorldSharedDevice]>([:])

    /// - Parameters:
    ///   - seed: The same gives the same accounts, group sessions and pauses, in a test that makes them in the same order.
    ///   - start: The time at which it begins.
    public init(seed: UInt64, start: Instant = Instant(microseconds: 1_800_000_000_000_000)) {
        self.start = start
        self.seed = seed
        edge = WorldEdge(seed: seed, start: start, clock: VirtualClock())
        executor = WorldExecutor(edge)
    }

    deinit {
        for person in everybody.withLock({ $0 }) { person.life.end() }
        for device in shared.withLock({ Array($0.values) }) { device.end() }
    }

    /// The time at the server.
    public var now: Instant { start + Interval(edge.clock.now) }

    // MARK: People

    /// Signs somebody up, whose app is connected from now on.
    /// - Parameter store: What their device keeps.
    public func person(
        _ handle: String, store: any LocalStore = InMemoryLocalStore()
    ) async throws(QuartetError) -> WorldPerson {
        let person = makePerson(handle, WorldDevice(handle, store, edge.clock))
        try await person.signUp()
        everybody.withLock { $0.append(person) }
        await settle()
        return person
    }

    /// Signs somebody in on another device of theirs, whose app is connected from now on.
    /// - Parameter store: What this device keeps.
    public func device(
        of person: WorldPerson, store: any LocalStore = InMemoryLocalStore()
    ) async throws(QuartetError) -> WorldPerson {
        let count = everybody.withLock { $0.count { $0.handle == person.handle } }
        let another = makePerson(person.handle, WorldDevice("\(person.handle)/\(count + 1)", store, edge.clock))
        try await another.signIn()
        everybody.withLock { $0.append(another) }
        await settle()
        return another
    }

    private func makePerson(_ handle: String, _ device: WorldDevice) -> WorldPerson {
        let app = makeApp(device)
        run(app)
        return WorldPerson(handle, device, app)
    }

    /// An app on what its device has.
    private func makeApp(_ device: WorldDevice) -> WorldPerson.App {
        let life = WorldLife()
        let connection = Connection(
            name: device.name, transport: WorldTransport(edge: edge, device: device.name, life: life),
            tokens: WorldTokenStore(device: device, life: life),
            store: WorldStore(device: device, life: life, executor: executor), policy: .forever,
            time: timekeeper(of: device.name), surroundings: nil)
        return WorldPerson.App(connection: connection, quartet: .live(connection), life: life)
    }

    func timekeeper(of device: String) -> Timekeeper {
        var time = edge.clock.timekeeper
        time.workplace = executor
        time.epoch = device
        // A world's streams end with an error, and are quiet where there is nothing to say.
        time.silence = .seconds(1000 * 86_400)
        time.wall = { [start, edge] in start + Interval(edge.clock.now) }
        // Of one's own, so that it makes no difference whose pause is drawn first.
        let random = Mutex(WorldRandom(seed: device.utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) }))
        time.draws = Draws { random.withLock { $0.next() } }
        return time
    }

    private func run(_ app: WorldPerson.App) {
        let connection = app.connection
        let task = Task(executorPreference: executor) { await connection.run() }
        app.life.atEnd { [edge] in
            task.cancel()
            edge.disconnect(connection.name)
        }
    }

    /// Signs two people up.
    public func people(
        _ one: String, _ two: String
    ) async throws(QuartetError) -> (WorldPerson, WorldPerson) {
        (try await person(one), try await person(two))
    }

    /// Signs three people up.
    public func people(
        _ one: String, _ two: String, _ three: String
    ) async throws(QuartetError) -> (WorldPerson, WorldPerson, WorldPerson) {
        (try await person(one), try await person(two), try await person(three))
    }

    /// Makes two people each other's contacts, responders both ways.
    public func befriend(_ one: WorldPerson, _ other: WorldPerson) async throws(QuartetError) {
        let code = other.contacts.contacts.value.code
        try await one.contacts.add(AddContactRequest(code: code, isMyResponder: true, iAmResponder: true))
        await settle()
    }

    /// Begins what somebody does in their app and doesn't wait for how it ends: returns when no app can go on without time.
    ///
    /// ```swift
    /// let ping = await world.begin { try? await anna.contacts.sendPing(bob.id) }
    /// await world.kill(anna)
    /// ```
    @discardableResult
    public func begin<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Task<Value, Never> {
        let task = executor.begin(body)
        await executor.wait(.zero) { false }
        return task
    }

    // MARK: Apps

    /// Kills somebody's app: it does nothing any more, and its calls end without effect. What is on the device stays.
    /// - Parameter steps: After so many more times that it writes to the device, asks the server or hears from either. 0 is at the next
    ///   one, and nil now.
    public func kill(_ person: WorldPerson, afterSteps steps: Int? = nil) async {
        await begin { if let steps { person.life.end(after: steps) } else { person.life.end() } }
    }

    /// Starts somebody's app on what its device has, which is killed first if it runs.
    public func restart(_ person: WorldPerson) async {
        await kill(person)
        let app = makeApp(person.device)
        person.use(app)
        await begin {
            self.run(app)
            // Fails only on a device that is locked, where the app tries again.
            try? await app.quartet.session.restore()
        }
    }

    // MARK: Devices

    /// Fills somebody's device: for so long it can write nothing.
    public func fillDisk(of person: WorldPerson, for time: Interval) {
        person.device.fill(until: edge.clock.now + time.duration)
    }

    /// Locks somebody's device, as after its start: for so long nobody can read what it is signed in with.
    public func lock(_ person: WorldPerson, for time: Interval) {
        person.device.lock(until: edge.clock.now + time.duration)
    }

    /// Has the server believe that somebody copied the device's refresh token and used it. When the device shows it again, the server
    /// signs it out.
    public func stealToken(of person: WorldPerson) throws { try edge.steal(person.device.tokens.load()) }

    // MARK: The network

    /// Cuts somebody off.
    public func cut(_ person: WorldPerson, for time: Interval) {
        edge.cut(person.device.name, until: edge.clock.now + time.duration)
    }

    /// Something goes wrong with somebody's next requests.
    /// - Parameter count: With how many.
    public func trouble(_ trouble: WorldTrouble, for person: WorldPerson, count: Int = 1) {
        edge.trouble(person.device.name, Array(repeating: trouble, count: count))
    }

    /// Loses the answers to somebody's next commands. What they asked for happens.
    public func loseAnswers(to person: WorldPerson, count: Int = 1) { trouble(.lostAnswer, for: person, count: count) }

    /// Ends what is wrong with somebody's device and network, and kills their app no more. One that was killed has to be started again.
    public func mend(_ person: WorldPerson) async {
        await begin {
            person.life.end(after: nil)
            person.device.mend()
            self.edge.mend(person.device.name)
        }
    }

    // MARK: Time

    /// Lets time pass. What falls due on the way happens when it is due, and every app hears of it.
    public func advance(by time: Interval) async { await executor.wait(time.duration) { false } }

    /// Lets time pass until nobody is cut off, every app is connected and has heard of everything, and nothing waits to be sent.
    ///
    /// A test fails if that takes a week of the world's time.
    public func settle() async {
        guard await !executor.wait(WorldExecutor.limit, until: { self.isSettled }), !Task.isCancelled else { return }
        Issue.record("The world didn't settle: \(everybody.withLock { $0.map(\.trouble) })")
    }

    /// Asked when every app has dealt with what has arrived.
    private var isSettled: Bool {
        executor.isIdle
            && everybody.withLock { people in
                people.allSatisfy { person in
                    person.device.troubleEnd == nil && !edge.isTroubled(person.device.name)
                        && person.isSettled(edge.isFollowed(person.device.name))
                }
            }
            && shared.withLock { devices in
                devices.allSatisfy { name, device in !edge.isTroubled(name) && device.isSettled(edge.isFollowed(name)) }
            }
    }

    /// How often time has passed, from one thing that happens to the next.
    package var steps: Int { executor.steps }

    /// Whether some app works without end, so that no time passes any more.
    package var isStuck: Bool { executor.isSpinning }

    // MARK: What the server knows

    /// What became of the commands that apps sent, in the order in which that was decided.
    package var decisions: [WorldDecision] { edge.state.withLock { $0.services.decisions } }

    /// What the services have of somebody.
    package func state(
        of person: WorldPerson
    ) -> (account: AccountState, contacts: ContactsState, notifications: NotificationsState) {
        let id = person.id
        return edge.state.withLock { state in
            (
                state.services.accounts[id] ?? AccountState(account: id),
                state.services.contactStates[id] ?? ContactsState(account: id),
                state.services.notificationStates[id] ?? NotificationsState(account: id)
            )
        }
    }

    /// What somebody's device keeps.
    package func kept(on person: WorldPerson) async throws -> LocalAccount {
        try await person.device.store.load(person.id)
    }

    /// Is called with each request of an app's as it leaves the device.
    package func onRequest(_ body: @escaping @Sendable (_ device: String, TransportRequest) -> Void) {
        edge.state.withLock { $0.onRequest = body }
    }
}
