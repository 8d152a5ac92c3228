import API
import ContactsContract
import Foundation
import NotificationsContract
import QuartetClient
import SessionClientOrchestration
import SessionContract
import Synchronization
import Vocabulary

/// Carries requests and streams to the services of a world, as far as its network lets them through.
final class WorldEdge: Sendable {
    /// What one device's network does.
    struct Network: Sendable {
        /// Until when nothing gets through.
        var cutUntil: Duration?
        /// So many answers to commands get lost; what was asked happens.
        var lostAnswers = 0
    }

    struct Caller: Sendable {
        let account: AccountID
        let device: DeviceID
        var end: Instant?
    }

    struct State: Sendable {
        var services: WorldServices
        var followers: [Int: (device: String, follower: WorldFollower)] = [:]
        var networks: [String: Network] = [:]
        var access: [String: Caller] = [:]
        var refresh: [String: Caller] = [:]
        var next = 0
        /// What was drawn for a request: the same when it is sent again.
        var drawn: [ID<RequestSubject>: UInt64] = [:]
        var heartbeat: Duration = .zero

        /// Sends every stream what it lacks.
        mutating func deliver() {
            for number in followers.keys { followers[number]?.follower.send(from: services) }
        }
    }

    let clock: VirtualClock
    let start: Instant
    let state: Mutex<State>

    init(seed: UInt64, start: Instant, clock: VirtualClock) {
        self.clock = clock
        self.start = start
        state = Mutex(State(services: WorldServices(random: WorldRandom(seed: seed), time: start)))
    }

    // MARK: The world

    /// Lets time pass until something happens by itself: somebody's sleep ends, something falls due at the services, a heartbeat.
    /// - Parameter end: It doesn't pass beyond this, nor if that has come.
    func passTime(until end: Duration?) {
        let now = clock.now
        let next = state.withLock { state in
            let due = state.services.nextDue.map { ($0 - start).duration }
            let heartbeat = state.followers.isEmpty ? nil : state.heartbeat + Self.pulse
            return ([due, heartbeat, end, clock.nextDue] + state.networks.values.map(\.cutUntil))
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
            }
            state.followers = state.followers.filter { $0.value.follower.outlet.isOpen }
            if now >= state.heartbeat + Self.pulse {
                state.heartbeat = now
                for follower in state.followers.values { follower.follower.outlet.send(.heartbeat()) }
            }
            state.deliver()
        }
    }

    func cut(_ device: String, until end: Duration) {
        state.withLock { state in
            state.networks[device, default: Network()].cutUntil = end
            for follower in state.followers.values where follower.device == device {
                follower.follower.outlet.end(throwing: TransportError.interrupted("the network is cut"))
            }
            state.followers = state.followers.filter { $0.value.device != device }
        }
    }

    func isCut(_ device: String) -> Bool { state.withLock { $0.networks[device]?.cutUntil != nil } }

    func loseAnswers(_ device: String, _ count: Int) {
        state.withLock { $0.networks[device, default: Network()].lostAnswers += count }
    }

    /// Whether a stream follows a device's account.
    func isFollowed(_ device: String) -> Bool {
        state.withLock { state in
            state.followers.values.contains { $0.device == device && $0.follower.outlet.isOpen }
        }
    }

    // MARK: Requests

    func send(_ request: TransportRequest, from device: String) async throws -> TransportReply {
        guard !isCut(device) else { throw TransportError.unreachable("the network is cut") }
        let result: Result<[UInt8], APIError>
        do { result = .success(try await answer(request)) } catch let error as APIError {
            result = .failure(error)
        } catch let rejection as Rejection {
            result = .failure(APIError(rejection))
        }
        let (time, isLost) = state.withLock { state in
            state.deliver()
            guard case .command = request.endpoint, let count = state.networks[device]?.lostAnswers, count > 0 else {
                return (state.services.time, false)
            }
            state.networks[device]?.lostAnswers = count - 1
            return (state.services.time, true)
        }
        if isLost { throw TransportError.interrupted("the answer was lost") }
        return TransportReply(result, serverTime: time)
    }

    private func answer(_ request: TransportRequest) async throws -> [UInt8] {
        switch request.endpoint {
        case .serverTime: return []
        case .time:
            let now = state.withLock { $0.services.time }
            return try Encoded(ServerTimeReply(received: now, sent: now)).json
        case .signUp: return try signUp(SignUpRequest.decoded(from: request.body), try key(of: request))
        case .signIn: return try signIn(SignInRequest.decoded(from: request.body), try key(of: request))
        case .token: return try exchange(TokenRequest.decoded(from: request.body))
        case .command(let name): return try command(name, request)
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
        let (caller, time) = state.withLock { ($0.access[token ?? ""], $0.services.time) }
        guard let caller, caller.end.map({ time < $0 }) ?? true else { throw APIError(.invalidToken) }
        return caller
    }

    func ask(
        _ domain: Domain, _ body: any CommandBody, _ key: ID<RequestSubject>, _ account: AccountID?
    ) throws -> (CommandID, CausedEvent?) {
        let id = CommandID.derived(
            at: key.time ?? start, from: Array("command/\(domain)".utf8), key.bytes, account?.bytes ?? [])
        switch state.withLock({ $0.services.ask(domain, body, id: id, account: account) }) {
        case .accepted(let event): return (id, event)
        case .rejected(let rejection): throw rejection
        case .failed(let code): throw APIError(.failed, code)
        }
    }

    // MARK: Commands and operations

    private func command(_ name: String, _ request: TransportRequest) throws -> [UInt8] {
        let caller = try caller(request)
        guard let type = appCommands[name], let domain = Domain.ofAppCommands[name] else {
            throw APIError(.unknownCommand)
        }
        let (body, key) = (try Self.decoded(type, from: request.body), try key(of: request))
        let command = try command(for: body, key, caller)
        do {
            let (id, event) = try ask(domain, command, key, caller.account)
            guard let event, event.type != "Accepted" else {
                return Array(#"{"outcome":"accepted","command":"\#(id)"}"#.utf8)
            }
            let head = #"{"outcome":"accepted","command":"\#(id)","event":"\#(event.type)","result":"#
            return Array(head.utf8) + event.body + Array("}".utf8)
        } catch let rejection as Rejection where rejection.code == .staleVersion {
            var error = APIError(rejection)
            error.current = try current(for: command, caller.account)
            throw error
        }
    }

    private static func decoded<Body: MessageBody>(_ type: Body.Type, from body: [UInt8]) throws -> any MessageBody {
        do { return try Body.decoded(from: body) } catch { throw APIError(.malformed, "\(error)") }
    }

    /// What the edge makes of a request.
    private func command(
        for body: any MessageBody, _ key: ID<RequestSubject>, _ caller: Caller
    ) throws -> any CommandBody {
        let push = PushDeviceID(caller.device)
        switch body {
        case let body as any PublicCommandBody: return body
        case let body as UpdateSecurityRequest:
            return UpdateSecurity(
                isSingleDevice: body.isSingleDevice, isConfirmationRequired: body.isConfirmationRequired,
                by: caller.device)
        case is RemovePhoneRequest: return RemovePhone(by: caller.device)
        case is ResetContactCodeRequest:
            return ResetContactCode(code: id("code", for: key))
        case let body as AddContactRequest:
            let owner = body.handle.flatMap { handle in
                state.withLock { $0.services.accounts.values.first { $0.handle == handle }?.account }
            }
            guard body.code != nil || owner != nil else { throw APIError(.notFound, field: "handle") }
            return AddContact(
                code: body.code, contact: body.code == nil ? owner : nil, isMyResponder: body.isMyResponder ?? false,
                iAmResponder: body.iAmResponder ?? false, nickname: body.nickname)
        case let body as ShowNotificationsRequest:
            return ShowNotifications(ids: body.ids, device: push, shown: body.shown)
        case let body as RegisterPushRequest:
            return RegisterPush(device: push, token: body.token, platform: body.platform)
        case is UnregisterPushRequest: return UnregisterPush(device: push)
        case let body as CreateGroupSessionRequest:
            return CreateGroupSession(
                group: id("group", for: key), activity: body.activity,
                capacity: body.capacity, seats: body.seats, isOpenToContacts: body.isOpenToContacts)
        case let body as ActivateGroupSessionRequest:
            let contacts = state.withLock { $0.services.contactStates[caller.account]?.contacts ?? [] }
            guard body.contacts.allSatisfy({ contacts[$0] != nil }) else {
                throw APIError(.notContact, field: "contacts")
            }
            return ActivateGroupSession(group: body.group, contacts: body.contacts)
        case let body as JoinGroupSessionRequest:
            let host = state.withLock { state -> AccountID? in
                guard let group = state.services.groups[body.group]?.state, group.isOpenToContacts else { return nil }
                return group.host.flatMap { state.services.contactStates[caller.account]?.contacts[$0]?.account }
            }
            return JoinGroupSession(group: body.group, contactOf: host)
        default: throw APIError(.unknownCommand)
        }
    }

    private func current(for command: any CommandBody, _ account: AccountID) throws -> [UInt8]? {
        let services = state.withLock { $0.services }
        switch command {
        case is UpdateProfile: return try services.accounts[account].map { try Encoded($0).json }
        case let command as UpdateContact:
            return try services.contactStates[account]?.contacts[command.contact].map {
                try Encoded(ContactCard($0, services.accounts[command.contact])).json
            }
        case let command as any GroupCommandBody:
            return try services.groups[command.group]?.state.game.map { try Encoded($0).json }
        default: return nil
        }
    }

    private func operation(_ name: String, _ request: TransportRequest) async throws -> [UInt8] {
        let (caller, key) = (try caller(request), try key(of: request))
        let steps = WorldSteps(
            edge: self, id: id("operation", for: key), account: caller.account,
            startedAt: key.time ?? start)
        func run(_ saga: some Saga) async throws -> [UInt8] {
            do {
                let result = try await saga.run(steps)
                return Self.ended(steps.id, "done", try Encoded(result).json)
            } catch let rejection as Rejection {
                return Self.ended(steps.id, "rejected", Array(#"{"code":"\#(rejection.code.rawValue)"}"#.utf8), name)
            }
        }
        switch name {
        case ClearAllReceivedPingsSaga.type:
            return try await run(ClearAllReceivedPingsSaga(.decoded(from: request.body)))
        case RespondToAllPingsSaga.type:
            return try await run(RespondToAllPingsSaga(.decoded(from: request.body)))
        case CloseAccountSaga.type: return try await run(CloseAccountSaga(by: caller.device))
        default: throw APIError(.unknownOperation)
        }
    }

    private static func ended(
        _ id: ID<OperationSubject>, _ state: String, _ result: [UInt8], _ type: String = "Operation"
    ) -> [UInt8] {
        Array(#"{"id":"\#(id)","type":"\#(type)","state":"\#(state)","result":"#.utf8) + result + Array("}".utf8)
    }

    fileprivate func ask(_ domain: Domain, _ body: any CommandBody, id: CommandID, for account: AccountID) -> Outcome {
        state.withLock { $0.services.ask(domain, body, id: id, account: account) }
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
                WorldFollower(
                    caller.account, outlet, at: request.place, groups: request.groups, in: state.services)
            )
            return (false, state.services.time)
        }
        guard !isCut else { throw TransportError.unreachable("the network is cut") }
        return OpenedStream(items: outlet.items, serverTime: time)
    }
}

/// A saga's steps: each is decided at once.
private struct WorldSteps: SagaSteps {
    let edge: WorldEdge
    let id: ID<OperationSubject>
    let account: AccountID
    let startedAt: Instant

    func ask(_ name: String, _ body: some CommandBody, of domain: Domain, for account: AccountID) async -> Outcome {
        edge.ask(domain, body, id: command(of: name), for: account)
    }

    func askAnew(_ name: String) async {}
    func reportClosure() async {}
}

/// One device's way to the world.
struct WorldTransport: Transport {
    let edge: WorldEdge
    let device: String

    func send(_ request: TransportRequest) async throws -> TransportReply { try await edge.send(request, from: device) }
    func open(_ request: StreamRequest) async throws -> OpenedStream { try edge.open(request, from: device) }
}
