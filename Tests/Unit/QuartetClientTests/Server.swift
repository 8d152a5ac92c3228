import Foundation
import QuartetAPI
import QuartetClient
import QuartetClientTesting
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// A server that knows one account: it exchanges tokens, says the time, and begins streams.
final class Server: Sendable {
    static let account = AccountID(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0000_0001)
    static let device = DeviceID(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0000_0002)

    struct State: Sendable {
        var exchanges = 0
        /// What the next answers to commands are; accepted without an event where there is none.
        var replies: [Result<[UInt8], APIError>] = []
        /// Fails before the answer arrives.
        var lost: [TransportError] = []
        var time: @Sendable () -> Instant
        var life: Int64 = 900
    }

    let transport: ScriptedTransport
    let clock = VirtualClock()
    let tokens: InMemoryTokenStore
    let state: Mutex<State>

    /// - Parameter time: The server's time at the clock's zero.
    init(time: Instant = Instant(microseconds: 1_800_000_000_000_000), isSignedIn: Bool = true) {
        let clock = clock
        tokens = InMemoryTokenStore(
            isSignedIn ? Credentials(account: Self.account, device: Self.device, refreshToken: "refresh-0") : nil)
        state = Mutex(State(time: { time + Interval(clock.now) }))
        transport = ScriptedTransport { _ in throw TransportError.unreachable("the test has just begun") }
        transport.answer { [weak self] request in
            // What a connection has left behind may begin when its test is over.
            guard let self else { throw TransportError.unreachable("the test is over") }
            return try self.answer(request)
        }
    }

    func connection(_ policy: ReconnectionPolicy = .forever) -> Connection {
        Connection(transport: transport, tokens: tokens, policy: policy, time: clock.timekeeper)
    }

    func answer(_ request: TransportRequest) throws -> TransportReply {
        try state.withLock { state in
            if request.endpoint != .serverTime, !state.lost.isEmpty { throw state.lost.removeFirst() }
            let time = state.time()
            switch request.endpoint {
            case .serverTime: return TransportReply(.success([]), serverTime: time)
            case .token, .signIn, .signUp:
                state.exchanges += 1
                let reply = SignedIn(
                    account: Self.account, device: Self.device, accessToken: "access-\(state.exchanges)",
                    expiresIn: state.life, refreshToken: "refresh-\(state.exchanges)")
                return TransportReply(.success(try Encoded(reply).json), serverTime: time)
            default:
                let reply = state.replies.isEmpty ? .success(Self.accepted()) : state.replies.removeFirst()
                return TransportReply(reply, serverTime: time)
            }
        }
    }

    /// The answer to a command that was accepted.
    static func accepted(_ command: CommandID = .new(), event: (any EventBody)? = nil) -> [UInt8] {
        guard let event, let body = try? event.encoded() else {
            return Array(#"{"outcome":"accepted","command":"\#(command)"}"#.utf8)
        }
        let head = #"{"outcome":"accepted","command":"\#(command)","event":"\#(type(of: event).type)","result":"#
        return Array(head.utf8) + body + Array("}".utf8)
    }

    /// An id that nobody else has: these don't depend on the machine's clock.
    static func person(_ number: UInt64) -> AccountID {
        AccountID(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0001_0000 + number)
    }
}

extension Contact {
    init(_ account: AccountID, nickname: String = "", version: Int64 = 1) {
        self.init(
            account: account, nickname: nickname, notes: "", isMyResponder: true, iAmResponder: true, sendPings: true,
            receivePings: true, notifyOnCheckIn: true, notifyOnMissedCheckIn: true, added: Instant(microseconds: 1),
            updated: Instant(microseconds: 1), version: version)
    }
}

extension ScriptedStream {
    /// Begins all sequences with snapshots.
    func begin(
        contacts: [Contact] = [], notifications: [QuartetNotification] = [], scheduled: [ScheduledNotification] = []
    ) throws {
        try begin(.account, AccountState(account: Server.account, handle: "anna", name: "Anna", profileVersion: 1))
        try begin(.contacts, ContactsState(account: Server.account, contacts: Ordered(contacts)))
        try begin(
            .notifications,
            NotificationsState(
                account: Server.account, unread: notifications.count(where: \.isUnread), notifications: notifications,
                scheduled: Ordered(scheduled)))
        try begin(.operations, OperationsPage?.none)
    }

    func begin(_ name: StreamName, _ state: some Encodable, isRefetched: Bool = false) throws {
        send(
            .snapshot(name, StreamSnapshot(isRefetched: isRefetched, state: try Encoded(state).json)),
            place: place(name, 10))
    }

    func resume() {
        for name in [StreamName.account, .contacts, .notifications, .operations] { send(.resumed(name)) }
    }

    func send(_ event: some EventBody, _ name: StreamName = .contacts, at position: Int, by command: CommandID? = nil)
        throws
    {
        send(
            .event(
                name,
                StreamedEvent(
                    type: type(of: event).type, version: type(of: event).version, at: Instant(microseconds: 2),
                    command: command, body: try event.encoded())), place: place(name, position))
    }

    private func place(_ name: StreamName, _ position: Int) -> String {
        "\(name)=\(name).log@7-1/3/\(position)"
    }
}

/// Runs `body` while a connection runs, and then sees that nothing of it is left.
@discardableResult
func whileRunning<Result: Sendable>(
    _ connection: Connection, _ body: @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask {
            await connection.run()
            return nil
        }
        defer { group.cancelAll() }
        return try await body()
    }
}

extension Connection {
    /// Waits for a state.
    func wait(until isMeant: @Sendable (ConnectionState) -> Bool) async {
        for await state in states where isMeant(state) { return }
    }
}

extension SharedValues {
    /// Waits for a value.
    @discardableResult
    func wait(until isMeant: @Sendable (Element) -> Bool) async -> Element? {
        for await value in self where isMeant(value) { return value }
        return nil
    }
}
