import QuartetAPI
import TestKit
import Testing

@testable import QuartetClient

@Suite
struct ConnectionMachineTests {
    private static func machine(
        _ policy: ReconnectionPolicy = .standard, seed: UInt64 = 1
    ) -> ConnectionMachine {
        var settings = ConnectionMachine.Settings()
        settings.policy = policy
        return ConnectionMachine(settings, random: SeededRandom(seed: seed))
    }

    private static let broken = ConnectionError.transport(.interrupted("cut"))

    @Test(
        "the states of a connection that is made, lost, made again and given up, with the events of each step (T1, T4)")
    func story() {
        var machine = Self.machine(ReconnectionPolicy(attempts: 1, initial: .zero, maximum: .zero, multiplier: 1))
        #expect(machine.state == .disconnected && machine.state.canConnect)
        #expect(machine.connect(now: .zero) == [.report(.willConnect), .open(1)])
        #expect(machine.state == .connecting && machine.state.isTransitioning)
        #expect(machine.began(1, now: .seconds(1)) == [.report(.didConnect), .live])
        #expect(machine.state == .connected && machine.state.isConnected && machine.connectedSince == .seconds(1))

        #expect(
            machine.ended(1, Self.broken, now: .seconds(20)) == [
                .close(1), .report(.didDisconnect(Self.broken)), .report(.willReconnect(attempt: 1, delay: .zero)),
            ])
        #expect(machine.state == .reconnecting(attempt: 1) && machine.connectedSince == nil)
        #expect(machine.passed(now: .seconds(20), heard: .zero) == [.open(2)])
        #expect(machine.began(2, now: .seconds(21)) == [.report(.didReconnect(attempt: 1)), .live])
        #expect(machine.reconnectionCount == 1 && machine.lastError == nil)

        _ = machine.ended(2, Self.broken, now: .seconds(60))
        #expect(machine.passed(now: .seconds(60), heard: .zero) == [.open(3)])
        #expect(
            machine.ended(3, .closed, now: .seconds(61)) == [
                .close(3), .report(.didFail(.closed)), .report(.didGiveUp(attempts: 1)), .unavailable(.closed),
            ])
        #expect(machine.state == .failed(.closed) && machine.state.canConnect)
        #expect(machine.connect(now: .seconds(62)) == [.report(.willConnect), .open(4)])
        #expect(machine.disconnect() == [.close(4)] && machine.state == .disconnected)
    }

    @Test("a connection that is silent for 35 seconds is lost, one that hears something isn't (T2)")
    func silence() {
        var machine = Self.machine()
        _ = machine.connect(now: .zero)
        _ = machine.began(1, now: .zero)
        #expect(machine.deadline == .seconds(35))
        #expect(machine.passed(now: .seconds(35), heard: .seconds(15)) == [])
        #expect(machine.deadline == .seconds(50))
        let actions = machine.passed(now: .seconds(50), heard: .seconds(15))
        #expect(actions.prefix(2) == [.close(1), .report(.didDisconnect(.silent))])
    }

    @Test("what was live is old from the end of the connection that its app asked for (T2)")
    func disconnected() {
        var machine = Self.machine()
        _ = machine.connect(now: .zero)
        _ = machine.began(1, now: .zero)
        #expect(
            machine.disconnect(heard: .seconds(7)) == [
                .close(1), .report(.didDisconnect(nil)), .stale(since: .seconds(7)),
            ])
        // Also in the five seconds in which a lost one is not yet said to be old.
        _ = machine.connect(now: .seconds(10))
        _ = machine.began(2, now: .seconds(10))
        _ = machine.ended(2, Self.broken, now: .seconds(20))
        #expect(machine.disconnect().contains(.stale(since: .seconds(20))))
        #expect(machine.deadline == nil)
    }

    @Test("readers hear of an interruption after five seconds, and not at all of a shorter one (T2)")
    func grace() {
        var machine = Self.machine(.aggressive)
        _ = machine.connect(now: .zero)
        _ = machine.began(1, now: .zero)
        _ = machine.ended(1, Self.broken, now: .seconds(20))
        let opened = machine.passed(now: .seconds(22), heard: .zero)
        #expect(opened == [.open(2)])
        #expect(machine.began(2, now: .seconds(23)) == [.report(.didReconnect(attempt: 1)), .live])

        _ = machine.networkChanged(now: .seconds(60))
        #expect(machine.deadline == .seconds(65))
        #expect(machine.passed(now: .seconds(65), heard: .zero) == [.stale(since: .seconds(60))])
        #expect(machine.passed(now: .seconds(66), heard: .zero) == [])
    }

    @Test("attempts are counted on while connections break at once, and from one after one that held (T2)")
    func stability() {
        var machine = Self.machine()
        _ = machine.connect(now: .zero)
        var now = Duration.zero
        for attempt in 1...3 {
            _ = machine.began(machine.opening, now: now)
            _ = machine.ended(machine.opening, Self.broken, now: now + .seconds(1))
            #expect(machine.state == .reconnecting(attempt: attempt))
            now += .seconds(60)
            _ = machine.passed(now: now, heard: now)
        }
        _ = machine.began(machine.opening, now: now)
        _ = machine.ended(machine.opening, Self.broken, now: now + .seconds(10))
        #expect(machine.state == .reconnecting(attempt: 1))
    }

    @Test("a token that ends is replaced at once, and what the server says once more waits (T2, T19)")
    func tokenEnds() {
        var machine = Self.machine()
        _ = machine.connect(now: .zero)
        _ = machine.began(1, now: .zero)
        let actions = machine.ended(1, .ended(.tokenExpired), now: .seconds(900))
        #expect(actions.last == .open(2))
        let again = machine.ended(2, .ended(.tokenExpired), now: .seconds(900))
        #expect(!again.contains(.open(3)))
    }

    @Test("after a sleep a connection is opened again at once, and one that was heard lately is kept")
    func wake() {
        var machine = Self.machine()
        _ = machine.connect(now: .zero)
        _ = machine.began(1, now: .zero)
        #expect(machine.wake(now: .seconds(20), heard: .seconds(10)) == [])
        #expect(machine.wake(now: .seconds(7200), heard: .seconds(10)).last == .open(2))
        _ = machine.ended(2, Self.broken, now: .seconds(7201))
        #expect(machine.state == .reconnecting(attempt: 2))
        #expect(machine.wake(now: .seconds(7201), heard: .zero) == [.open(3)])
    }

    @Test("who is signed out stays so until they sign in (T1)")
    func signedOut() {
        var machine = Self.machine()
        _ = machine.connect(now: .zero)
        _ = machine.began(1, now: .zero)
        let why = ConnectionError.signedOut(.revoked)
        #expect(
            machine.ended(1, why, now: .seconds(1)) == [.close(1), .report(.didDisconnect(why)), .unavailable(why)])
        #expect(machine.state == .needsAuthentication && machine.deadline == nil)
        #expect(machine.connect(now: .seconds(2)) == [] && machine.networkChanged(now: .seconds(2)) == [])
        #expect(machine.signedIn(now: .seconds(3)) == [.report(.willConnect), .open(2)])
        // The same of a device on which nobody ever did, but for what it is called.
        #expect(
            machine.ended(2, .notSignedIn, now: .seconds(4)) == [.close(2), .unavailable(.notSignedIn)])
        #expect(machine.state == .notSignedIn && machine.isSignedOut && machine.deadline == nil)
        #expect(machine.connect(now: .seconds(5)) == [] && machine.networkChanged(now: .seconds(5)) == [])
        #expect(machine.signedIn(now: .seconds(6)) == [.report(.willConnect), .open(3)])
    }

    @Test("who signs in while a stream is being opened gets another one: that one was asked for before (T1)")
    func signedInMeanwhile() {
        var machine = Self.machine()
        #expect(machine.signedIn(now: .zero) == [] && machine.state == .disconnected)
        _ = machine.connect(now: .zero)
        #expect(machine.signedIn(now: .seconds(1)) == [.close(1), .open(2)])
        #expect(machine.ended(1, .signedOut(nil), now: .seconds(1)) == [] && machine.state == .connecting)
        _ = machine.ended(2, Self.broken, now: .seconds(1))
        #expect(machine.signedIn(now: .seconds(1)) == [.open(3)])
        _ = machine.began(3, now: .seconds(2))
        #expect(machine.signedIn(now: .seconds(3)) == [.close(3), .open(4)] && machine.state == .connected)
    }

    @Test("whatever happens in whatever order: one stream at a time, and never a state that nothing ends (T2)")
    func random() async throws {
        try await withRandom { random in
            for _ in 0..<Soak.count(300, long: 3000) {
                var machine = Self.machine(
                    [.standard, .aggressive, .disabled, .forever][Int.random(in: 0..<4, using: &random)],
                    seed: random.next())
                var (open, now): (Int?, Duration) = (nil, .zero)
                var reported: [ConnectionEvent] = []
                for _ in 0..<60 {
                    now += .milliseconds(Int.random(in: 0...20_000, using: &random))
                    let number = Int.random(in: 0...machine.opening, using: &random)
                    let actions: [ConnectionMachine.Action] =
                        switch Int.random(in: 0..<10, using: &random) {
                        case 0: machine.connect(now: now)
                        case 1: machine.disconnect()
                        case 2: machine.signedIn(now: now)
                        case 3: machine.wake(now: now, heard: .zero)
                        case 4: machine.networkChanged(now: now)
                        case 5: machine.ended(number, Self.broken, now: now)
                        case 6: machine.ended(machine.opening, .signedOut(nil), now: now)
                        case 7, 8: machine.began(machine.opening, now: now)
                        default: machine.passed(now: now, heard: .zero)
                        }
                    for action in actions {
                        switch action {
                        case .open(let number):
                            try #require(open == nil, "a second stream is opened")
                            open = number
                        case .close(let number):
                            try #require(open == number, "a stream is closed that isn't open")
                            open = nil
                        case .report(let event): reported.append(event)
                        case .live, .stale, .unavailable: break
                        }
                    }
                    try #require(open == nil || open == machine.opening)
                    try #require(!machine.state.isTransitioning || machine.deadline != nil)
                    try #require(machine.state != .connected || open == machine.opening)
                }
                let begun = reported.count {
                    if case .didConnect = $0 { true } else if case .didReconnect = $0 { true } else { false }
                }
                let ended = reported.count { if case .didDisconnect = $0 { true } else { false } }
                try #require(begun - ended == (machine.state == .connected ? 1 : 0))
            }
        }
    }
}
