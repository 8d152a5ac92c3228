import QuartetAPI
import QuartetClientTesting
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

@Suite("Starting a group session", .timeLimit(.minutes(10)))
struct GroupStartTests {
    private static let id = GroupID(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0002_0000)
    private static let request = CreateGroupSessionRequest(
        activity: GroupSessionActivity(identifier: "org.example.four", title: "Four"))

    private static var created: [UInt8] {
        Server.accepted(
            event: GroupSessionCreated(
                group: id, account: Server.account, activity: request.activity, capacity: 8, seats: 0,
                isOpenToContacts: false, at: Instant(microseconds: 1)))
    }

    /// Runs `body` with a server that answers a start once `decide` is called.
    private static func withStarts(
        _ body: @Sendable (Server, Quartet, _ decide: @Sendable () -> Void) async throws -> Void
    ) async throws {
        let server = Server()
        let connection = server.connection()
        let quartet = Quartet.live(connection)
        let decided = Observed(0)
        let asked = Mutex(0)
        server.transport.answer { request in
            if request.endpoint == .command("CreateGroupSession") {
                let number = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                try await decided.wait("the decision") { $0 >= number ? true : nil }
            }
            return try server.answer(request)
        }
        try await quartet.session.restore()
        try await body(server, quartet) { decided.update { $0 += 1 } }
    }

    @Test("while a session is being started that shows, and why it failed until the next start (P3)")
    func starting() async throws {
        try await Self.withStarts { server, quartet, decide in
            let starting = quartet.groups.starting
            #expect(!starting.isStarting && starting.error == nil)
            server.state.withLock { $0.replies = [.failure(APIError(.alreadyInSession)), .success(Self.created)] }
            let refused = Task { try await quartet.groups.create(Self.request) }
            await starting.values(of: \.isStarting).wait { $0 }
            #expect(starting.error == nil)
            decide()
            await #expect(throws: QuartetError.refused(APIError(.alreadyInSession))) { try await refused.value }
            #expect(!starting.isStarting && starting.error?.code == .alreadyInSession)
            let accepted = Task { try await quartet.groups.create(Self.request) }
            await starting.values(of: \.isStarting).wait { $0 }
            #expect(starting.error == nil)
            decide()
            let group = try await accepted.value
            #expect(group == Self.id)
            #expect(!starting.isStarting && starting.error == nil)
        }
    }

    @Test("a start that its caller gives up is no error; of two at once it shows that one is still under way (P3)")
    func several() async throws {
        try await Self.withStarts { server, quartet, decide in
            let starting = quartet.groups.starting
            server.state.withLock { $0.replies = [.success(Self.created)] }
            let given = Task { try await quartet.groups.create(Self.request) }
            await starting.values.wait { $0.underway.count == 1 }
            let other = Task { try await quartet.groups.create(Self.request) }
            await starting.values.wait { $0.underway.count == 2 }
            given.cancel()
            _ = await given.result
            #expect(starting.isStarting && starting.error == nil)
            decide()
            decide()
            let group = try await other.value
            #expect(group == Self.id)
            #expect(!starting.isStarting)
        }
    }

    @Test("of two starts at once, the one that succeeds leaves it to be read why the other one failed (P3)")
    func success() async throws {
        try await Self.withStarts { server, quartet, decide in
            let starting = quartet.groups.starting
            server.state.withLock { $0.replies = [.failure(APIError(.alreadyInSession)), .success(Self.created)] }
            let one = Task { try await quartet.groups.create(Self.request) }
            let other = Task { try await quartet.groups.create(Self.request) }
            await starting.values.wait { $0.underway.count == 2 }
            decide()
            await starting.values.wait { $0.underway.count == 1 }
            #expect(starting.error?.code == .alreadyInSession)
            decide()
            let results = [await one.result, await other.result]
            #expect(results.filter { (try? $0.get()) == Self.id }.count == 1)
            #expect(!starting.isStarting && starting.error?.code == .alreadyInSession)
        }
    }

    @Test("whoever signs in next hears nothing of a start before (P3, R12)")
    func nextAccount() async throws {
        try await Self.withStarts { server, quartet, decide in
            let starting = quartet.groups.starting
            let start = Task { try await quartet.groups.create(Self.request) }
            await starting.values(of: \.isStarting).wait { $0 }
            try await quartet.session.signOutLocally()
            #expect(!starting.isStarting)
            server.state.withLock { $0.replies = [.failure(APIError(.alreadyInSession))] }
            decide()
            _ = await start.result
            #expect(!starting.isStarting && starting.error == nil)
        }
    }
}
