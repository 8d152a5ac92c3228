import QuartetAPI
import QuartetClientTesting
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

@Suite("What is left of a group session", .timeLimit(.minutes(10)))
struct GroupEndTests {
    private typealias Setting = GroupClientTests

    /// A way out of a session.
    enum Exit: CaseIterable, Sendable {
        case left, removed, ended

        func happen(_ stream: ScriptedStream, _ session: GroupClientTests.Session) throws {
            let reason: GroupStreamEnded.Reason =
                switch self {
                case .left: .left
                case .removed: .removed
                case .ended: .ended
                }
            if self == .ended {
                let ended = GroupSessionEnded(
                    group: Setting.id, account: Setting.bob, reason: .ended, participants: [Setting.bob], invited: [],
                    at: Setting.start)
                try session.send(.group(.groupSessionEnded(ended)), stream, at: 20)
            }
            stream.send(.groupEnded(GroupStreamEnded(group: Setting.id, reason: reason)))
        }

        var standing: ReadOnlyGroupState.Standing {
            switch self {
            case .left: .invalidated(.left)
            case .removed: .invalidated(.removed)
            case .ended: .invalidated(.ended)
            }
        }
    }

    @Test(
        "after leaving a session, or its end, a device has nothing of it but why, also while it asks for a seat (P31)",
        arguments: Exit.allCases)
    func nothingIsLeft(exit: Exit) async throws {
        let server = Server()
        try await Setting.following(server) { connection, quartet, group, stream, session in
            try session.send(
                .group(
                    .participantsInvited(
                        ParticipantsInvited(
                            group: Setting.id, account: Server.account, invited: [Server.person(2)], at: Setting.start))
                ),
                stream, at: 11)
            try session.send(
                .game(.seatClaimed(SeatClaimed(group: Setting.id, account: Setting.bob, seat: 0, at: Setting.start))),
                stream, at: 12)
            try session.send(
                .game(
                    .gameStarted(
                        GameStarted(
                            group: Setting.id, account: Server.account, number: 1, version: 1, starts: Setting.start,
                            state: .object(["stones": .integer(1)]), at: Setting.start))), stream, at: 13)
            await group.state.values(of: \.game).wait { $0 != nil }
            let isOver = Observed(false)
            server.transport.answer { request in
                if request.endpoint == .command("ClaimSeat") { try await isOver.wait("the end") { $0 ? true : nil } }
                return try server.answer(request)
            }
            server.state.withLock { $0.replies = [.failure(APIError(.groupEnded))] }
            let claim = Task { try await quartet.groups.claimSeat(Setting.id, 1) }
            await group.state.values(of: \.claimedSeat).wait { $0 == 1 }

            try exit.happen(stream, session)
            await group.state.values(of: \.standing).wait { $0 == exit.standing }
            let state = group.state.value
            #expect(state.standing == exit.standing && !state.hasJoined && !state.isHost && !state.isMyTurn)
            #expect(state.participants.isEmpty && state.others.isEmpty && state.invited.isEmpty)
            #expect(state.activity == nil && state.creator == nil && state.host == nil && state.game == nil)
            #expect(state.seats.isEmpty && state.claimedSeat == nil && state.attachments.isEmpty)
            #expect(state.end?.by == (exit == .ended ? Setting.bob : nil))
            isOver.update { $0 = true }
            await #expect(throws: QuartetError.refused(APIError(.groupEnded))) { try await claim.value }
            #expect(group.state.value == state)
        }
    }

    @Test("whoever is let in again has the session again (P31, P6)")
    func again() async throws {
        let server = Server()
        try await Setting.following(server) { connection, quartet, group, stream, session in
            stream.send(.groupEnded(GroupStreamEnded(group: Setting.id, reason: .left)))
            await group.state.values(of: \.standing).wait { $0 == .invalidated(.left) }
            try await quartet.groups.join(Setting.id)
            let next = try #require(await server.transport.nextStream())
            next.resume()
            try session.begin(next)
            await group.state.values(of: \.standing).wait { $0 == .joined }
            #expect(group.state.others.map(\.id) == [Setting.bob])
        }
    }

    @Test("a session that isn't open to the account is over, also if nothing of it ever came (P31, P9)")
    func strange() async throws {
        let server = Server()
        let connection = server.connection()
        let quartet = Quartet.live(connection)
        try await whileRunning(connection) {
            try #require(await server.transport.nextStream()).begin()
            try await connection.ready()
            let group = try quartet.groups.open(Setting.id)
            let stream = try #require(await server.transport.nextStream())
            stream.resume()
            stream.send(.groupEnded(GroupStreamEnded(group: Setting.id, reason: .groupNotFound)))
            await group.state.values(of: \.standing).wait { $0 == .invalidated(.groupNotFound) }
        }
    }

    @Test("what a session plays that isn't open to the account is known to be nothing, not still loading (P31, P9)")
    func strangePlayback() async throws {
        let server = Server()
        let connection = server.connection()
        let quartet = Quartet.live(connection)
        try await whileRunning(connection) {
            try #require(await server.transport.nextStream()).begin()
            try await connection.ready()
            let music = try quartet.playback.open(Setting.id)
            let stream = try #require(await server.transport.nextStream())
            stream.resume()
            stream.send(.groupEnded(GroupStreamEnded(group: Setting.id, reason: .groupNotFound)))
            await music.state.phases.wait { $0 == .ready }
            #expect(music.state.item == nil && !music.state.isPlaying)
        }
    }

    @Test("what a session played is gone with it (P31)")
    func playback() async throws {
        let server = Server()
        let connection = server.connection()
        let quartet = Quartet.live(connection)
        try await whileRunning(connection) {
            try #require(await server.transport.nextStream()).begin()
            try await connection.ready()
            let music = try quartet.playback.open(Setting.id)
            let stream = try #require(await server.transport.nextStream())
            stream.resume()
            let session = Setting.Session()
            try session.begin(stream)
            let playback = Playback(
                version: 1, author: Setting.bob, item: PlaybackItem(id: .new(), title: "Notturno"), isPlaying: true,
                anchor: Setting.start)
            try session.send(
                .playback(
                    .itemStarted(
                        ItemStarted(group: Setting.id, account: Setting.bob, playback: playback, at: Setting.start))),
                stream, at: 11)
            await music.state.values(of: \.title).wait { $0 == "Notturno" }
            stream.send(.groupEnded(GroupStreamEnded(group: Setting.id, reason: .left)))
            await music.state.values(of: \.item).wait { $0 == nil }
            let state = music.state.value
            #expect(!state.isPlaying && state.author == nil && state.queue.isEmpty && state.version == 0)
        }
    }
}
