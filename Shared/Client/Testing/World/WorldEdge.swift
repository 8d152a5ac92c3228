import Foundation
import QuartetAPI
import QuartetClient
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// Carries requests and streams to the services of a world, as far as its network lets them through.
final class WorldEdge: Sendable {
    struct Caller: Sendable {
        let account: AccountID
        let device: DeviceID
        var end: Instant?
    }

    struct State: Sendable {
        var services: WorldServices
        var followers: [Int: (device: String, follower: WorldFollower)] = [:]
        var networks: [String: WorldNetwork] = [:]
        var access: [String: Caller] = [:]
        /// All there ever were. Which of them is good, the service knows.
        var refresh: [String: Caller] = [:]
        var next = 0
        /// What was drawn for a request: the same when it is sent again.
        var drawn: [ID<RequestSubject>: UInt64] = [:]
        var heartbeat: Duration = .zero
        /// Draws what the network does.
        var random: WorldRandom
        var onRequest: (@Sendable (String, TransportRequest) -> Void)?

        /// Sends every stream what it lacks, unless it is behind.
        mutating func deliver() {
            for number in followers.keys.sorted() {
                guard let device = followers[number]?.device, networks[device]?.heldUntil == nil else { continue }
                followers[number]?.follower.send(from: services)
            }
            followers = followers.filter { $0.value.follower.outlet.isOpen }
        }

        /// Whether a device is signed in.
        func isSignedIn(_ caller: Caller) -> Bool { services.accounts[caller.account]?.devices[caller.device] != nil }
    }

    let clock: VirtualClock
    let start: Instant
    let state: Mutex<State>

    init(seed: UInt64, start: Instant, clock: VirtualClock) {
        self.clock = clock
        self.start = start
        state = Mutex(
            State(
                services: WorldServices(random: WorldRandom(seed: seed), time: start),
                random: WorldRandom(seed: ~seed)))
    }

    // MARK: The world

    /// Lets time pass until something happens by itself: somebody's sleep ends, something falls due at the services, a heartbeat.
    /// - Parameter end: It doesn't pass beyond this, nor if that has come.
    func passTime(until end: Duration?) {
        let now = clock.now
        let next = state.withLock { state in
            let due = state.services.nextDue.map { ($0 - start).duration }
            let isQuiet = state.followers.values.allSatisfy(\.follower.isQuiet)
            let heartbeat = isQuiet ? nil : state.heartbeat + Self.pulse
            let networks = state.networks.values.flatMap { [$0.cutUntil, $0.heldUntil] }
            return ([due, heartbeat, end, clock.nextDue] + networks)
                .compactMap(\.self).min() ?? now + Self.pulse
        }
        advance(by: max(next - now, .zero))
    }

    /// How often a stream that is quiet says that it lives.
    private static let pulse: Duration = .seconds(15)

    private func advance(by step: Duration) {
        clock.advance(by: step)
        let now = clock.now
        state.withLock { state in
            state.services.advance(to: start + Interval(now))
            for (name, network) in state.networks {
                if let end = network.cutUntil, end <= now { state.networks[name]?.cutUntil = nil }
                if let end = network.heldUntil, end <= now { state.networks[name]?.heldUntil = nil }
            }
            state.deliver()
            guard now >= state.heartbeat + Self.pulse else { return }
            state.heartbeat = now
            for number in state.followers.keys.sorted() {
                guard let device = state.followers[number]?.device, state.networks[device]?.heldUntil == nil else {
                    continue
                }
                state.followers[number]?.follower.pulse()
            }
        }
    }

    func cut(_ device: String, until end: Duration) {
        state.withLock { $0.networks[device, default: WorldNetwork()].cutUntil = end }
        disconnect(device)
    }

    /// Ends a device's streams.
    func disconnect(_ device: String) {
        let former = state.withLock { state in
            defer { state.followers = state.followers.filter { $0.value.device != device } }
            return state.followers.values.filter { $0.device == device }
        }
        for (_, follower) in former { follower.outlet.end(throwing: TransportError.interrupted("the network is cut")) }
    }

    func isCut(_ device: String) -> Bool { state.withLock { $0.networks[device]?.cutUntil != nil } }

    func trouble(_ device: String, _ troubles: [WorldTrouble]) {
        state.withLock { $0.networks[device, default: WorldNetwork()].troubles += troubles }
    }

    func mend(_ device: String) {
        state.withLock { state in
            state.networks[device] = nil
            state.deliver()
        }
    }

    /// Whether something is on its way that a device will hear of.
    func isTroubled(_ device: String) -> Bool {
        state.withLock { state in
            let network = state.networks[device]
            return network?.cutUntil != nil || network?.heldUntil != nil || state.services.isUndecided
        }
    }

    /// Whether a stream follows a device's account.
    func isFollowed(_ device: String) -> Bool {
        state.withLock { state in
            state.followers.values.contains { $0.device == device && $0.follower.outlet.isOpen }
        }
    }

    // MARK: Requests

    func send(_ request: TransportRequest, from device: String) async throws -> TransportReply {
        let onRequest = state.withLock { state in
            for (number, other) in state.followers where other.device == device {
                state.followers[number]?.follower.wake()
            }
            return state.onRequest
        }
        onRequest?(device, request)
        guard !isCut(device) else { throw TransportError.unreachable("the network is cut") }
        let trouble = state.withLock { state -> WorldTrouble? in
            guard let isCommand = request.isCommand else { return nil }
            return state.networks[device]?.takeTrouble(isCommand: isCommand)
        }
        switch trouble {
        case .unreachable: throw TransportError.unreachable("nothing listens")
        case .lostRequest: throw TransportError.interrupted("the request was lost")
        case .foreignAnswer: throw TransportError.malformed("status 404 comes from somewhere on the way to it")
        case .refusedToken: state.withLock { $0.access[request.token ?? ""] = nil }
        case .late(let time): await clock.wait(until: clock.now + time.duration)
        case .lostAnswer, .slow, .overloaded, .tooManyCommands, .undecided, .failed, nil: break
        }
        let result: Result<[UInt8], APIError>
        do { result = .success(try await answer(request, device, trouble)) } catch let error as APIError {
            result = .failure(error)
        } catch let rejection as Rejection {
            result = .failure(APIError(rejection))
        }
        deliver(replyingTo: request, from: device)
        if case .slow(let time) = trouble { try await clock.timekeeper.sleep(clock.now + time.duration) }
        guard trouble != .lostAnswer, !isCut(device) else { throw TransportError.interrupted("the answer was lost") }
        return TransportReply(result, serverTime: state.withLock { $0.services.time })
    }

    /// The events of a command reach the app that sent it before the reply, or later.
    private func deliver(replyingTo request: TransportRequest, from device: String) {
        state.withLock { state in
            if request.isCommand == true, state.random.next() % 2 == 0 {
                let pause = Duration.milliseconds(1 + Int64(state.random.next() % 3000))
                state.networks[device, default: WorldNetwork()].heldUntil = clock.now + pause
            }
            state.deliver()
        }
    }

    private func answer(
        _ request: TransportRequest, _ device: String, _ trouble: WorldTrouble?
    ) async throws -> [UInt8] {
        switch trouble {
        case .overloaded: throw APIError(.overloaded, retryAfter: 1)
        case .tooManyCommands: throw APIError(.tooManyCommands, retryAfter: 2)
        default: break
        }
        switch request.endpoint {
        case .serverTime: return []
        case .time:
            let now = state.withLock { $0.services.time }
            return try Encoded(ServerTimeReply(received: now, sent: now)).json
        case .drill: return try drill(request)
        case .signUp: return try signUp(SignUpRequest.decoded(from: request.body), try key(of: request))
        case .signIn: return try signIn(SignInRequest.decoded(from: request.body), try key(of: request))
        case .token: return try exchange(TokenRequest.decoded(from: request.body), try key(of: request))
        case .command(let name): return try command(name, request, device, trouble)
        case .operation(let name): return try await operation(name, request)
        case .signOut: return try signOut(SignOutRequest.decoded(from: request.body), request)
        default: throw APIError(.notFound, "A world has no \(request.endpoint).")
        }
    }

    /// An id that follows from the world's seed.
    /// - Parameter key: The request's.
    func id<Subject>(_ what: String, for key: ID<RequestSubject>) -> ID<Subject> {
        state.withLock { state in
            let drawn = state.drawn[key] ?? state.services.draw()
            state.drawn[key] = drawn
            return .derived(at: start, from: Array(what.utf8), Array("\(drawn)".utf8))
        }
    }

    func key(of request: TransportRequest) throws -> ID<RequestSubject> {
        guard let key = request.key else { throw APIError(.invalidIdempotencyKey) }
        return key
    }

    func caller(_ request: TransportRequest) throws -> Caller { try caller(token: request.token) }

    private func caller(token: String?) throws -> Caller {
        try state.withLock { state in
            guard let caller = state.access[token ?? ""], caller.end.map({ state.services.time < $0 }) ?? true else {
                throw APIError(.invalidToken)
            }
            guard state.isSignedIn(caller) else { throw APIError(.deviceSignedOut) }
            return caller
        }
    }

    func ask(
        _ domain: Domain, _ body: any CommandBody, _ key: ID<RequestSubject>, _ account: AccountID?
    ) throws -> (CommandID, CausedEvent?) {
        let id = commandID(domain, key, account)
        return (id, try Self.event(state.withLock { $0.services.ask(domain, body, id: id, account: account) }))
    }

    func commandID(_ domain: Domain, _ key: ID<RequestSubject>, _ account: AccountID?) -> CommandID {
        .derived(at: key.time ?? start, from: Array("command/\(domain)".utf8), key.bytes, account?.bytes ?? [])
    }

    static func event(_ outcome: Outcome) throws -> CausedEvent? {
        switch outcome {
        case .accepted(let event): return event
        case .rejected(let rejection): throw rejection
        case .failed(let code): throw APIError(.failed, code)
        }
    }

    // MARK: Streams

    func open(_ request: StreamRequest, from device: String) throws -> OpenedStream {
        let caller = try caller(token: request.token)
        let outlet = WorldOutlet()
        let (isCut, time) = state.withLock { state in
            guard state.networks[device]?.cutUntil == nil else { return (true, state.services.time) }
            state.next += 1
            state.followers[state.next] = (
                device,
                WorldFollower(caller, outlet, at: request.place, groups: request.groups, in: state.services)
            )
            return (false, state.services.time)
        }
        guard !isCut else { throw TransportError.unreachable("the network is cut") }
        return OpenedStream(items: outlet.items, serverTime: time)
    }
}

extension TransportRequest {
    /// Whether it is a command; nil for what needs no token and gets none.
    fileprivate var isCommand: Bool? {
        switch endpoint {
        case .command: true
        case .serverTime, .time, .signUp, .signIn: nil
        default: false
        }
    }
}
