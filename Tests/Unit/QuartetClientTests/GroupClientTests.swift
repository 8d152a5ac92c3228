import QuartetAPI
import QuartetClientTesting
import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

@Suite(.timeLimit(.minutes(10)))
struct GroupClientTests {
    static let id = GroupID(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0002_0000)
    static let bob = Server.person(1)
    static let start = Instant(microseconds: 1_800_000_000_000_000)

    /// A session that the account hosts, with Bob in it.
    private static let state = GroupState(
        group: id, creator: Server.account,
        activity: GroupSessionActivity(identifier: "org.example.four", title: "Four"),
        capacity: 4, seats: 3, host: Server.account,
        participants: [
            GroupParticipant(id: Server.account, ordinal: 1, joined: start),
            GroupParticipant(id: bob, ordinal: 2, joined: start),
        ], created: start)

    /// The session's stream, as the server folds it.
    final class Session: Sendable {
        let state = Mutex(HashedGroupState(GroupClientTests.state))

        func begin(_ stream: ScriptedStream) throws {
            let hashed = state.withLock { $0 }
            stream.send(
                .snapshot(
                    .group(id),
                    StreamSnapshot(isRefetched: false, hash: "\(hashed.hash)", state: try Encoded(hashed.state).json)),
                place: "group/\(id)=session.log@7-1/3/10")
        }

        func send(
            _ event: SessionEvent, _ stream: ScriptedStream, at position: Int, by command: CommandID? = nil
        ) throws {
            let hash = state.withLock { state in
                state.apply(event)
                return "\(state.hash)"
            }
            let body = event.body
            stream.send(
                .event(
                    .group(id),
                    StreamedEvent(
                        type: type(of: body).type, version: type(of: body).version, at: start, command: command,
                        hash: hash, body: try body.encoded())),
                place: "group/\(id)=session.log@7-1/3/\(position)")
        }
    }

    /// Runs `body` in a session that the app follows.
    static func following(
        _ server: Server,
        _ body: @Sendable (Connection, Quartet, RemoteGroup, ScriptedStream, Session) async throws -> Void
    ) async throws {
        let connection = server.connection()
        let quartet = Quartet.live(connection)
        try await whileRunning(connection) {
            let first = try #require(await server.transport.nextStream())
            #expect(first.request.groups.isEmpty)
            try first.begin()
            try await connection.ready()
            let states = connection.states
            let group = try quartet.groups.open(id)
            let stream = try #require(await server.transport.nextStream())
            #expect(stream.request.groups == [id] && stream.request.place != nil)
            stream.resume()
            let session = Session()
            try session.begin(stream)
            await group.state.phases.wait { $0 == .ready }
            // Following something else isn't losing the connection.
            var iterator = states.makeAsyncIterator()
            #expect(await iterator.next() == .connected && connection.reconnectionCount == 0)
            try await body(connection, quartet, group, stream, session)
        }
    }

    @Test(
        "a session is followed while somebody holds it, on the one stream, and seen as the server folds it (P9, P10, T8, T9)"
    )
    func following() async throws {
        let server = Server()
        try await Self.following(server) { connection, quartet, group, stream, session in
            #expect(group.state.standing == .joined && group.state.isHost && group.state.others.map(\.id) == [Self.bob])
            let again = try quartet.groups.open(Self.id)
            #expect(again.state === group.state)
            let claimed = SeatClaimed(group: Self.id, account: Self.bob, seat: 1, at: Self.start)
            try session.send(.game(.seatClaimed(claimed)), stream, at: 11)
            await group.state.values(of: \.freeSeats).wait { $0 == [0, 2] }
            #expect(group.state.value.occupant(of: 1) == Self.bob)
        }
        // Nobody holds it any more.
        #expect(server.transport.openStreams == 0)
    }

    @Test("letting go of a session stops following it, and the account's stream goes on (T9, P32)")
    func release() async throws {
        let server = Server()
        let connection = server.connection()
        let quartet = Quartet.live(connection)
        try await whileRunning(connection) {
            try #require(await server.transport.nextStream()).begin()
            try await connection.ready()
            do {
                let group = try quartet.groups.open(Self.id)
                let stream = try #require(await server.transport.nextStream())
                stream.resume()
                try Session().begin(stream)
                await group.state.phases.wait { $0 == .ready }
            }
            let last = try #require(await server.transport.nextStream())
            #expect(last.request.groups.isEmpty && last.request.place?.contains("group/") == false)
        }
    }

    @Test("one stream follows eight sessions, and says so when there are more (T9)")
    func limit() throws {
        let quartet = Quartet.live(Server().connection())
        let held = try (1...8).map { try quartet.groups.open(GroupID(high: 1, low: $0)) }
        #expect(throws: QuartetError.refused(APIError(.tooManyGroups))) {
            try quartet.groups.open(GroupID(high: 1, low: 9))
        }
        #expect(Set(held.map(\.id)).count == 8)
    }

    @Test("a seat shows as claimed at once, and is taken back with the reason if somebody was quicker (P16, P18)")
    func seats() async throws {
        let server = Server()
        try await Self.following(server) { connection, quartet, group, stream, session in
            let isDecided = Observed(false)
            server.transport.answer { request in
                if request.endpoint == .command("ClaimSeat") {
                    try await isDecided.wait("the decision") { $0 ? true : nil }
                }
                return try server.answer(request)
            }
            server.state.withLock { $0.replies = [.failure(APIError(.seatTaken))] }
            let seats = group.state.values(of: \.freeSeats)
            let claim = Task { try await quartet.groups.claimSeat(Self.id, 1) }
            await seats.wait { $0 == [0, 2] }
            #expect(group.state.localParticipant?.seat == 1)
            isDecided.update { $0 = true }
            await #expect(throws: QuartetError.refused(APIError(.seatTaken))) { try await claim.value }
            #expect(group.state.freeSeats == [0, 1, 2])
        }
    }

    @Test(
        """
        a seat that was asked for differs from one that is won, until its event is here; somebody else's event in between takes it \
        (P18)
        """
    )
    func claims() async throws {
        let server = Server()
        try await Self.following(server) { connection, quartet, group, stream, session in
            let decided = Observed(0)
            server.transport.answer { request in
                if request.endpoint == .command("ClaimSeat") {
                    try await decided.wait("the decision") { $0 > 0 ? true : nil }
                }
                return try server.answer(request)
            }
            let command = CommandID.new()
            let won = SeatClaimed(group: Self.id, account: Server.account, seat: 1, at: Self.start)
            server.state.withLock {
                $0.replies = [.success(Server.accepted(command, event: won)), .failure(APIError(.seatTaken))]
            }
            #expect(group.state.value.seat(1) == .free && group.state.claimedSeat == nil)
            let claim = Task { try await quartet.groups.claimSeat(Self.id, 1) }
            await group.state.values(of: \.claimedSeat).wait { $0 == 1 }
            #expect(group.state.value.seat(1) == .claimed && group.state.localParticipant?.seat == 1)
            decided.update { $0 = 1 }
            try await claim.value
            // The outcome came first.
            #expect(group.state.value.seat(1) == .claimed)
            try session.send(.game(.seatClaimed(won)), stream, at: 11, by: command)
            await group.state.values(of: \.claimedSeat).wait { $0 == nil }
            #expect(group.state.value.seat(1) == .taken(by: Server.account))

            decided.update { $0 = 0 }
            let move = Task { try await quartet.groups.claimSeat(Self.id, 2) }
            await group.state.values(of: \.claimedSeat).wait { $0 == 2 }
            let lost = SeatClaimed(group: Self.id, account: Self.bob, seat: 2, at: Self.start)
            try session.send(.game(.seatClaimed(lost)), stream, at: 12)
            await group.state.values(of: \.claimedSeat).wait { $0 == nil }
            #expect(group.state.value.seat(2) == .taken(by: Self.bob))
            #expect(group.state.value.seat(1) == .taken(by: Server.account))
            decided.update { $0 = 1 }
            await #expect(throws: QuartetError.refused(APIError(.seatTaken))) { try await move.value }
        }
    }

    @Test("one's own move isn't applied twice, whether its event or its outcome comes first (P23, T14)")
    func moves() async throws {
        let server = Server()
        try await Self.following(server) { connection, quartet, group, stream, session in
            let started = GameStarted(
                group: Self.id, account: Server.account, number: 1, version: 1, starts: Self.start,
                state: .object(["stones": .integer(0)]), at: Self.start)
            try session.send(.game(.gameStarted(started)), stream, at: 11)
            await group.state.values(of: \.game).wait { $0 != nil }
            let command = CommandID.new()
            let updated = GameUpdated(
                group: Self.id, account: Server.account, version: 2, patch: .object(["stones": .integer(1)]),
                at: Self.start)
            server.state.withLock { $0.replies = [.success(Server.accepted(command, event: updated))] }
            try await quartet.groups.updateGame(
                UpdateGame(group: Self.id, expectedVersion: 1, patch: .object(["stones": .integer(1)])))
            #expect(group.state.game?.state == .object(["stones": .integer(1)]) && group.state.game?.version == 1)
            try session.send(.game(.gameUpdated(updated)), stream, at: 12, by: command)
            await group.state.values(of: \.game).wait { $0?.version == 2 }
            #expect(group.state.game?.state == .object(["stones": .integer(1)]))
        }
    }

    @Test("a copy whose hash differs from the server's is replaced by a snapshot (T14, T15)")
    func divergence() async throws {
        let server = Server()
        try await Self.following(server) { connection, quartet, group, stream, session in
            // An event that the app never gets.
            session.state.withLock {
                $0.apply(.game(.seatClaimed(SeatClaimed(group: Self.id, account: Self.bob, seat: 0, at: Self.start))))
            }
            let claimed = SeatClaimed(group: Self.id, account: Server.account, seat: 2, at: Self.start)
            try session.send(.game(.seatClaimed(claimed)), stream, at: 12)
            let next = try #require(await server.transport.nextStream())
            #expect(
                next.request.place?.contains("contacts=") == true && next.request.place?.contains("group/") == false)
            next.resume()
            try session.begin(next)
            await group.state.values(of: \.freeSeats).wait { $0 == [1] }
        }
    }

    @Test("messages arrive in their order and signals as they come; the end of a session says why (P24, P25, P26, P31)")
    func messages() async throws {
        let server = Server()
        try await Self.following(server) { connection, quartet, group, stream, session in
            let (messages, signals) = (group.messages, group.signals)
            for number in 1...3 as ClosedRange<Int64> {
                let sent = GroupMessageSent(
                    group: Self.id, account: Self.bob, number: number, type: "text",
                    data: .object(["text": .string("\(number)")]), at: Self.start)
                try session.send(.message(.groupMessageSent(sent)), stream, at: 10 + Int(number))
            }
            stream.send(
                .signal(
                    SignalEvent(
                        group: Self.id, account: Self.bob, to: nil, topic: "cursor", data: Array(#"{"x":1}"#.utf8),
                        at: Self.start)))
            var numbers: [Int64] = []
            for await message in messages {
                numbers.append(message.number)
                if numbers.count == 3 { break }
            }
            #expect(numbers == [1, 2, 3])
            let signal = await signals.first { _ in true }
            #expect(signal?.topic == "cursor" && signal?.data == .object(["x": .integer(1)]))
            stream.send(.groupEnded(GroupStreamEnded(group: Self.id, reason: .removed)))
            await group.state.values(of: \.standing).wait { $0 == .invalidated(.removed) }
        }
    }

    @Test("the events of group sessions are read as the server writes them (P9)")
    func parsing() throws {
        let id = Self.id
        let text = """
            id: group/\(id)=s/1
            event: group.snapshot
            data: {"group":"\(id)","refetched":false,"hash":"00000000000000ff","state":{"a":1}}

            event: group.resumed
            data: {"group":"\(id)"}

            event: group.ended
            data: {"group":"\(id)","reason":"left"}

            event: groups
            data: {"groups":[]}

            event: signal
            data: {"group":"\(id)","account":"\(Self.bob)","topic":"typing","at":5,"data":{"a":"b"}}


            """
        var parser = ServerSentEventParser()
        let items = try parser.read(Array(text.utf8)).compactMap { try StreamItem($0) }
        let snapshot = StreamSnapshot(isRefetched: false, hash: "00000000000000ff", state: Array(#"{"a":1}"#.utf8))
        let signal = SignalEvent(
            group: id, account: Self.bob, to: nil, topic: "typing", data: Array(#"{"a":"b"}"#.utf8),
            at: Instant(microseconds: 5))
        #expect(items.count == 5)
        #expect(items.first == .event(.snapshot(.group(id), snapshot), place: "group/\(id)=s/1"))
        #expect(items.contains(.event(.groupEnded(GroupStreamEnded(group: id, reason: .left)), place: nil)))
        guard case .event(.signal(let read), _)? = items.last else {
            Issue.record("there is no signal")
            return
        }
        #expect(read.topic == signal.topic && read.account == signal.account && read.group == signal.group)
    }
}
