import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

/// A device that a test plays. What it tells outlives the connections that asked for it.
final class ScriptedSurroundings: Surroundings {
    let changes: AsyncStream<Void>
    let change: AsyncStream<Void>.Continuation
    /// How often the app asked to go on in the background, and whether it is given the time now.
    let awake = Observed<(count: Int, isNow: Bool)>((0, false))

    /// What it was to tell: a card, or a change that waits.
    struct Told: Equatable {
        let change: UnsentChange
        let delay: Duration
        let isLoud: Bool
    }

    let told = Observed<[Told]>([])
    /// What it tells, or is to tell.
    let shown = Observed<[UnsentChange.ID: Told]>([:])
    /// Of which it tells no longer.
    let withdrawn = Observed<Set<UnsentChange.ID>>([])
    /// What has to be opened before it has told anything, and before it has withdrawn a single change.
    private let gates: (telling: Gate?, withdrawing: Gate?)

    init(_ gate: Gate? = nil, withdrawing: Gate? = nil) {
        (changes, change) = AsyncStream<Void>.makeStream()
        gates = (gate, withdrawing)
    }

    func networkChanges() -> AsyncStream<Void> { changes }

    func stayAwake(_ reason: String, while body: @Sendable () async -> Void) async {
        awake.update { $0 = ($0.count + 1, true) }
        await body()
        awake.update { $0.isNow = false }
    }

    func tell(_ change: UnsentChange, of connection: String, after delay: Duration, isLoud: Bool) async {
        await gates.telling?.pass()
        let new = Told(change: change, delay: delay, isLoud: isLoud)
        withdrawn.update { _ = $0.remove(change.id) }
        shown.update { $0[change.id] = new }
        told.update { $0.append(new) }
    }

    func withdraw(_ change: UnsentChange.ID, of connection: String) async {
        await gates.withdrawing?.pass()
        shown.update { $0[change] = nil }
        withdrawn.update { _ = $0.insert(change) }
    }

    func withdraw(allBut changes: Set<UnsentChange.ID>, of connection: String) async {
        let gone = shown.update { shown in
            let gone = Set(shown.keys).subtracting(changes)
            shown = shown.filter { changes.contains($0.key) }
            return gone
        }
        withdrawn.update { $0.formUnion(gone) }
    }

    func cards(_ count: Int) async throws -> [Told] {
        try await told.wait("\(count) that are told") { told in
            let told = told.filter { $0.delay == .zero }
            return told.count < count ? nil : told
        }
    }

    /// What it is to tell of a change that waits, if that isn't sent by then.
    func plan(_ command: String) async throws -> Told {
        try await told.wait("a plan for \(command)") { told in
            told.first { $0.change.command == command && $0.delay > .zero }
        }
    }

    func withdraws(_ id: UnsentChange.ID) async throws {
        try await withdrawn.wait("\(id) is withdrawn") { $0.contains(id) ? true : nil }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct ConnectionLifeTests {
    @Test(
        "however often clients are made of a connection, they show one state, a refusal is taken back in all of them, and the stream is opened once (S1, S24)"
    )
    func clientsOnce() async throws {
        let server = Server()
        let connection = server.connection()
        let first = Quartet.live(connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(contacts: [Contact(OutboxApp.one)])
            try await connection.ready()
            let second = Quartet.live(connection)
            #expect(connection.state.isConnected && server.transport.openStreams == 1)
            server.state.withLock { $0.replies = [.failure(APIError(.pingsOff))] }
            await #expect(throws: QuartetError.refused(APIError(.pingsOff))) {
                try await first.contacts.sendPing(OutboxApp.one)
            }
            for quartet in [first, second] {
                #expect(quartet.contacts.contacts.count == 1 && quartet.contacts.contacts.outgoingPings.isEmpty)
            }
            #expect(connection.core.withLock { $0.consumers.count } == 4)
            // Two group sessions of one name are one, too, while somebody holds it.
            let group = GroupID.new()
            let (one, other) = (try first.groups.open(group), try second.groups.open(group))
            #expect(one.state === other.state)
        }
    }

    @Test("when the clients that a change was made with are gone, those that are made next send it (S22)")
    func clientsAgain() async throws {
        let server = Server()
        let connection = server.connection()
        try await whileRunning(connection) {
            var contacts: ContactsClient? = .live(service: connection)
            let shared = try #require(contacts?.contacts)
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(contacts: [Contact(OutboxApp.one)])
            try await connection.ready()
            server.goOffline()
            connection.disconnect()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await contacts?.sendPing(OutboxApp.one) }
            contacts = nil
            server.goOnline()
            connection.outbox.retry()
            let next = ContactsClient.live(service: connection)
            #expect(next.contacts === shared && next.contacts.outgoingPings.count == 1)
            await connection.outbox.items.values.wait { $0.isEmpty }
            #expect(server.commands.last?.name == "SendPing")
        }
    }

    @Test(
        "cancelled and run again at once, a connection is made; of two that run it, one goes on when the other ends (T1)"
    )
    func runAgain() async throws {
        let server = Server()
        let connection = server.connection()
        // What the first one still writes when the second one comes.
        let first = Task { await connection.run() }
        let stream = try #require(await server.transport.nextStream())
        try stream.begin()
        try await connection.ready()
        first.cancel()
        let second = Task { await connection.run() }
        let next = try #require(await server.transport.nextStream())
        next.resume()
        try await connection.ready()
        let third = Task { await connection.run() }
        second.cancel()
        let last = try #require(await server.transport.nextStream())
        last.resume()
        try await connection.ready()
        third.cancel()
        for task in [first, second, third] { await task.value }
        #expect(connection.state == .disconnected && server.transport.openStreams == 0)
    }

    @Test("another network opens the connection at once, without waiting for the next attempt (T2)")
    func networks() async throws {
        let server = Server()
        let surroundings = ScriptedSurroundings()
        let connection = Connection(
            transport: server.transport, tokens: server.tokens, time: server.clock.timekeeper,
            surroundings: surroundings)
        server.transport.refuseStream(TransportError.unreachable("no network"))
        try await whileRunning(connection) {
            await connection.wait { $0 == .reconnecting(attempt: 1) }
            // The clock stands, so only the network's change can open it.
            surroundings.change.yield(())
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await connection.ready()
            // It has held for long enough to count as a new one.
            server.clock.advance(by: .seconds(10))
            surroundings.change.yield(())
            let next = try #require(await server.transport.nextStream())
            next.resume()
        }
    }

    @Test(
        "while something waits to be sent the app asks to go on in the background, for half a minute; for what is urgent again and again (S22, S27)"
    )
    func background() async throws {
        let server = Server()
        let surroundings = ScriptedSurroundings()
        let connection = Connection(
            transport: server.transport, tokens: server.tokens, time: server.clock.timekeeper,
            surroundings: surroundings)
        let user = UserClient.live(service: connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await connection.ready()
            #expect(surroundings.awake.value.count == 0)
            server.goOffline()
            connection.disconnect()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.setCheckInInterval(.hours(3)) }
            try await surroundings.awake.wait("asked for time") { $0.isNow ? true : nil }
            let asked = server.clock.now
            await server.passTime { !surroundings.awake.value.isNow }
            #expect(server.clock.now >= asked + .seconds(30))
            let count = surroundings.awake.value.count
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.raiseAlert() }
            // Whenever the app goes to the background, it has asked half a minute ago at most.
            let pressed = server.clock.now
            await server.passTime { server.clock.now >= pressed + .seconds(150) }
            #expect(surroundings.awake.value.count >= count + 4)
            try await surroundings.awake.wait("asked again") { $0.isNow ? true : nil }
            // What is sent ends it earlier.
            server.goOnline()
            connection.outbox.retry()
            // An attempt that was under way may fail first, and rest.
            await server.passTime { connection.outbox.items.value.isEmpty }
            try await surroundings.awake.wait("time given back") { $0.isNow ? nil : true }
        }
    }

    @Test(
        "the device tells of each urgent change that ended unsent, once, until that was read, and not again after a restart (S22)"
    )
    func unsent() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        for start in 1...2 {
            let surroundings = ScriptedSurroundings()
            let connection = Connection(
                transport: server.transport, tokens: server.tokens, store: store, time: server.clock.timekeeper,
                surroundings: surroundings)
            let user = UserClient.live(service: connection)
            try await whileRunning(connection) {
                let stream = try #require(await server.transport.nextStream())
                try stream.begin()
                try await connection.ready()
                let kept = connection.outbox.unsent.value
                #expect(kept.count == start - 1)
                server.goOffline()
                connection.disconnect()
                await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.raiseAlert() }
                await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.clearAlert() }
                let told = try await surroundings.cards(1)
                let new = connection.outbox.unsent.value.filter { !kept.contains($0) }
                #expect(told.map(\.change) == new && new.map(\.reason) == [.superseded])
                // Its person knows what they did just now.
                #expect(told.map(\.isLoud) == [false])
                guard start == 1 else {
                    // What the former start told.
                    try await connection.outbox.markRead(try #require(kept.first).id)
                    try await surroundings.withdraws(kept[0].id)
                    return
                }
                server.clock.advance(by: .seconds(86_401))
                server.goOnline()
                connection.outbox.retry()
                let both = try await surroundings.cards(2)
                #expect(both.map(\.change) == connection.outbox.unsent.value)
                #expect(both.map(\.change.reason) == [.superseded, .expired] && both.map(\.isLoud) == [false, true])
                try await connection.outbox.markRead(both[0].change.id)
                try await surroundings.withdraws(both[0].change.id)
            }
            server.goOnline()
        }
    }

    @Test(
        "should the app not run when an urgent change that waits has expired, the device tells that nobody knows, unless it arrives before (S22)"
    )
    func planned() async throws {
        let server = Server()
        let surroundings = ScriptedSurroundings()
        let connection = Connection(
            transport: server.transport, tokens: server.tokens, time: server.clock.timekeeper,
            surroundings: surroundings)
        let user = UserClient.live(service: connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await connection.ready()
            server.goOffline()
            connection.disconnect()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.setCheckInInterval(.hours(3)) }
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.raiseAlert() }
            let plan = try await surroundings.plan("RaiseAlert")
            #expect(plan.change.reason == .unknown && plan.isLoud)
            #expect(plan.delay > .seconds(86_400) && plan.delay <= .seconds(86_460))
            server.goOnline()
            connection.outbox.retry()
            // An attempt that was under way may fail first, and rest.
            await server.passTime { connection.outbox.items.value.isEmpty }
            try await surroundings.withdraws(plan.change.id)
            // Nothing else is planned, and nothing has ended unsent.
            #expect(surroundings.told.value == [plan])
        }
    }

    @Test(
        "a device whose person signed out tells nothing of theirs, also of what that dropped, which shows in the app until somebody else signs in (S17, S22)"
    )
    func someoneElse() async throws {
        let server = Server()
        let surroundings = ScriptedSurroundings()
        let connection = Connection(
            transport: server.transport, tokens: server.tokens, time: server.clock.timekeeper,
            surroundings: surroundings)
        let user = UserClient.live(service: connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await connection.ready()
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await server.passingTime { try await user.raiseAlert() }
            }
            let plan = try await surroundings.plan("RaiseAlert")
            try await SessionClient.live(service: connection).signOutLocally()
            #expect(connection.outbox.unsent.value.map(\.id) == [plan.change.id])
            #expect(surroundings.shown.value.isEmpty && surroundings.told.value == [plan])
            server.goOnline()
            try await connection.signedIn(Self.other, asked: server.clock.now)
            #expect(connection.outbox.unsent.value.isEmpty)
            await connection.notices?.update().value
            #expect(surroundings.shown.value.isEmpty && surroundings.told.value == [plan])
        }
    }

    @Test(
        "a process that finds its person signed out, by one that asks nothing of the device, takes back what it had the device tell (S17, S22)"
    )
    func signedOutElsewhere() async throws {
        let server = Server()
        let surroundings = ScriptedSurroundings()
        let connection = Connection(
            transport: server.transport, tokens: server.tokens, time: server.clock.timekeeper,
            surroundings: surroundings)
        let user = UserClient.live(service: connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await connection.ready()
            server.goOffline()
            connection.disconnect()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.raiseAlert() }
            let plan = try await surroundings.plan("RaiseAlert")
            let other = Connection(
                transport: server.transport, tokens: server.tokens, time: server.clock.timekeeper)
            try await SessionClient.live(service: other).signOutLocally()
            try await connection.restore()
            await connection.notices?.update().value
            #expect(connection.outbox.unsent.value.map(\.id) == [plan.change.id])
            #expect(surroundings.shown.value.isEmpty)
        }
    }

    private static let other = SignedIn(
        account: OutboxApp.two, device: Server.device, accessToken: "access", expiresIn: 900, refreshToken: "other")

    /// How it comes that what a device is to tell isn't so any more when the next process begins.
    enum Between: CaseIterable {
        case sent, signedOutByIntent, signedInByIntent, withoutTokens
    }

    @Test(
        """
        what the device was to tell of a change that another process sent meanwhile, or of somebody who isn't signed in any more, it \
        doesn't, though the process that planned it is gone; what is still so it tells (S17, S22)
        """, arguments: Between.allCases)
    func outlived(_ between: Between) async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let surroundings = ScriptedSurroundings()
        let connection = { (surroundings: (any Surroundings)?) in
            Connection(
                transport: server.transport, tokens: server.tokens, store: store, time: server.clock.timekeeper,
                surroundings: surroundings)
        }
        let first = connection(surroundings)
        let user = UserClient.live(service: first)
        try await whileRunning(first) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await first.ready()
            server.goOffline()
            first.disconnect()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.raiseAlert() }
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.clearAlert() }
            _ = try await surroundings.plan("ClearAlert")
            _ = try await surroundings.cards(1)
        }
        let plan = try await surroundings.plan("ClearAlert")
        let card = try await surroundings.cards(1)[0]
        try #require(Set(surroundings.shown.value.keys) == [plan.change.id, card.change.id])
        switch between {
        case .sent:
            server.goOnline()
            let other = connection(nil)
            let client = UserClient.live(service: other)
            try await whileRunning(other) {
                let stream = try #require(await server.transport.nextStream())
                try stream.begin()
                try await other.ready()
                await server.passTime { other.outbox.items.value.isEmpty }
                #expect(client.user.account == Server.account)
            }
            #expect(server.commands.last?.name == "ClearAlert")
            let last = connection(surroundings)
            try await whileRunning(last) {
                try await surroundings.withdraws(plan.change.id)
                #expect(Array(surroundings.shown.value.keys) == [card.change.id])
                #expect(last.outbox.unsent.value.map(\.id) == [card.change.id])
            }
        case .signedOutByIntent:
            try await SessionClient.live(service: connection(surroundings)).signOutLocally()
            #expect(surroundings.shown.value.isEmpty)
        case .signedInByIntent:
            server.goOnline()
            try await connection(surroundings).signedIn(Self.other, asked: server.clock.now)
            try await surroundings.withdraws(plan.change.id)
            #expect(surroundings.shown.value.isEmpty)
        case .withoutTokens:
            server.tokens.save(nil)
            try await whileRunning(connection(surroundings)) {
                try await surroundings.withdraws(plan.change.id)
                #expect(surroundings.shown.value.isEmpty)
            }
        }
    }

    @Test("the app stays awake until the device has taken back what it was to tell of a change that arrived (S22)")
    func awakeUntilWithdrawn() async throws {
        let server = Server()
        let gate = Gate()
        defer { gate.open() }
        let surroundings = ScriptedSurroundings(withdrawing: gate)
        let connection = Connection(
            transport: server.transport, tokens: server.tokens, time: server.clock.timekeeper,
            surroundings: surroundings)
        let user = UserClient.live(service: connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await connection.ready()
            server.goOffline()
            connection.disconnect()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.raiseAlert() }
            _ = try await surroundings.plan("RaiseAlert")
            server.goOnline()
            connection.outbox.retry()
            await server.passTime { connection.outbox.items.value.isEmpty }
            try await gate.reached()
            // Enough for whoever wouldn't wait.
            for _ in 0..<1000 { await Task.yield() }
            #expect(surroundings.awake.value.isNow)
            gate.open()
            try await surroundings.awake.wait("time given back") { $0.isNow ? nil : true }
            #expect(surroundings.shown.value.isEmpty)
        }
    }

    @Test("a process that runs no connection tells of what ends there unsent, before its call ends (S22)")
    func unsentWithoutRunning() async throws {
        let server = Server()
        let surroundings = ScriptedSurroundings()
        let connection = Connection(
            transport: server.transport, tokens: server.tokens, time: server.clock.timekeeper,
            surroundings: surroundings)
        let user = UserClient.live(service: connection)
        server.goOffline()
        await #expect(throws: QuartetError.self) { try await server.passingTime { try await user.raiseAlert() } }
        let told = try await surroundings.cards(1)
        #expect(told.map(\.change) == connection.outbox.unsent.value && told.count == 1)
        // It can't withdraw what it would plan.
        #expect(surroundings.told.value == told)
    }

    @Test(
        "a device that doesn't answer holds up neither a call for help nor the end of a run, and is told the rest later (S22, S24)"
    )
    func stuckDevice() async throws {
        let server = Server()
        let gate = Gate()
        let surroundings = ScriptedSurroundings(gate)
        let connection = Connection(
            transport: server.transport, tokens: server.tokens, time: server.clock.timekeeper,
            surroundings: surroundings)
        let user = UserClient.live(service: connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await connection.ready()
            server.goOffline()
            connection.disconnect()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.raiseAlert() }
            try await gate.reached()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.clearAlert() }
        }
        server.goOnline()
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            stream.resume()
            try await connection.ready()
            #expect(surroundings.told.value.isEmpty)
            gate.open()
            let told = try await surroundings.cards(1)
            #expect(told.map(\.change.reason) == [.superseded])
            await connection.notices?.update().value
            #expect(surroundings.shown.value[told[0].change.id]?.delay == .zero)
        }
    }

    @Test("only apps and their extensions ask for notifications: the system ends any other process that does (P9)")
    func bundles() throws {
        let folder = "/Applications/Quartet"
        for (path, identifier, isApp) in [
            ("\(folder).app", "example.quartet", true), ("\(folder).app/PlugIns/Widget.appex", "example.widget", true),
            ("\(folder).app", nil, false), ("/usr/local/bin", nil, false),
            ("/Xcode.app/Contents/Developer/usr/bin", "com.apple.dt.xctest.tool", false),
        ] as [(String, String?, Bool)] {
            #expect(
                AppBundle.hasNotifications(URL(filePath: path, directoryHint: .isDirectory), identifier: identifier)
                    == isApp)
        }
        let source = try String(
            contentsOf: Products.package.appending(
                path: "Shared/Client/QuartetClient/Connection/SystemSurroundings.swift"), encoding: .utf8)
        let asked = source.components(separatedBy: "UNUserNotificationCenter.current()")
        #expect(asked.count == 2 && asked[0].contains("guard AppBundle.hasNotifications("))
    }

    @Test("a stream that was closed before it was opened begins nothing: the one that is open goes on (F9, T14)")
    func closedBefore() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            let (end, stop) = AsyncStream<Never>.makeStream()
            let isOpened = await withTaskGroup(of: Bool.self) { group in
                // Its number is that of none that is open.
                group.addTask {
                    await app.connection.follow(0, until: end)
                    return false
                }
                group.addTask { await server.transport.nextStream() != nil }
                defer { group.cancelAll() }
                return await group.next()
            }
            stop.finish()
            #expect(isOpened == false && app.connection.core.withLock { $0.sequencer.isLive })
        }
    }
}
