import Foundation
public import QuartetClient
import Synchronization
import Testing
public import Vocabulary

/// Quartet inside a unit test: the services' own rules and policies, apps with the clients that the real ones have, a clock that
/// stands still until the test moves it, and a network that the test cuts.
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
/// as it would from a real server, after the seconds that its attempts take.
///
/// It can't say anything that the server doesn't: it is the same code, on rows in memory. It lacks what isn't in the rules: limits of
/// the edge, pictures, attachments, phones and signals, and people in a group session are present whether or not they look.
public final class QuartetWorld: Sendable {
    private let edge: WorldEdge
    private let executor: WorldExecutor
    private let start: Instant
    private let seed: UInt64
    private let everybody = Mutex<[WorldPerson]>([])

    /// - Parameters:
    ///   - seed: The same gives the same accounts, group sessions and pauses, in a test that makes them in the same order.
    ///   - start: The time at which it begins.
    public init(seed: UInt64, start: Instant = Instant(microseconds: 1_800_000_000_000_000)) {
        self.start = start
        self.seed = seed
        edge = WorldEdge(seed: seed, start: start, clock: VirtualClock())
        executor = WorldExecutor(edge)
    }

    deinit { for person in everybody.withLock({ $0 }) { person.end() } }

    /// The time at the server.
    public var now: Instant { start + Interval(edge.clock.now) }

    // MARK: People

    /// Signs somebody up, whose app is connected from now on.
    /// - Parameter store: What their device keeps.
    public func person(
        _ handle: String, store: any LocalStore = InMemoryLocalStore()
    ) async throws(QuartetError) -> WorldPerson {
        var time = edge.clock.timekeeper
        time.workplace = executor
        // Of one's own, so that it makes no difference whose pause is drawn first.
        let random = Mutex(WorldRandom(seed: handle.utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) }))
        time.draws = Draws { random.withLock { $0.next() } }
        let person = WorldPerson(
            handle,
            Connection(
                name: handle, transport: WorldTransport(edge: edge, device: handle),
                store: WorldStore(store: store, executor: executor), policy: .forever, time: time),
            executor)
        try await person.signUp()
        everybody.withLock { $0.append(person) }
        await settle()
        return person
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

    // MARK: The network

    /// Cuts somebody off.
    public func cut(_ person: WorldPerson, for time: Interval) {
        edge.cut(person.handle, until: edge.clock.now + time.duration)
    }

    /// Loses the answers to somebody's next commands. What they asked for happens.
    public func loseAnswers(to person: WorldPerson, count: Int = 1) { edge.loseAnswers(person.handle, count) }

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
        executor.calls == 0
            && everybody.withLock { people in
                people.allSatisfy { !edge.isCut($0.handle) && $0.isSettled(edge.isFollowed($0.handle)) }
            }
    }
}

/// Somebody in a world, with an app on one device.
public final class WorldPerson: Sendable {
    public let handle: String
    public let connection: Connection
    /// All clients of the app.
    public let quartet: Quartet
    private let task: Task<Void, Never>

    fileprivate init(_ handle: String, _ connection: Connection, _ executor: WorldExecutor) {
        self.handle = handle
        self.connection = connection
        quartet = .live(connection)
        task = Task(executorPreference: executor) { await connection.run() }
    }

    public var id: AccountID { quartet.session.session.value.account ?? AccountID(high: 0, low: 0) }
    public var session: SessionClient { quartet.session }
    public var user: UserClient { quartet.user }
    public var contacts: ContactsClient { quartet.contacts }
    public var notifications: NotificationsClient { quartet.notifications }
    public var groups: GroupSessionClient { quartet.groups }
    public var playback: PlaybackClient { quartet.playback }

    fileprivate func signUp() async throws(QuartetError) {
        _ = try await session.signUp(
            SignUpRequest(handle: handle, password: "correct horse battery", name: handle.capitalized))
    }

    fileprivate func end() { task.cancel() }

    fileprivate func isSettled(_ isFollowed: Bool) -> Bool {
        let isConnected = connection.state == .connected && isFollowed
        return (isConnected || !session.session.value.isSignedIn) && connection.outbox.items.value.isEmpty
    }

    fileprivate var trouble: String {
        "\(handle) is \(connection.state), with \(connection.outbox.items.value.count) changes to send"
    }
}
