import Foundation
import Observation
import QuartetAPI
import QuartetClientTesting
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

@Suite(.timeLimit(.minutes(10)))
struct PushTests {
    private static let ping = QuartetNotification(
        id: NotificationID(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0000_0007), kind: .pingReceived,
        subject: Server.person(1), details: .none, created: Instant(microseconds: 7))

    static func message(_ account: AccountID = Server.account) throws -> PushMessage {
        // As the server hands it to the system that sends pushes.
        let notification = String(decoding: try JSONEncoder().encode(ping), as: UTF8.self)
        let json = """
            {"id": "\(Server.person(9))", "account": "\(account)", "device": "\(Server.device)", "token": "t", "platform": "ios",
             "notification": \(notification), "unread": 1}
            """
        return try PushMessage(json: Data(json.utf8))
    }

    /// Collects how many notifications there are, now and whenever they change. It looks while the change is made, so
    /// that none is too short to be seen.
    private final class Counter: Sendable {
        private let counts = Mutex<[Int]>([])

        var values: [Int] { counts.withLock { $0 } }

        func observe(_ shown: SharedState<ReadOnlyNotificationsState>) {
            let count = withObservationTracking {
                shown.history.count
            } onChange: { [self] in
                observe(shown)
            }
            counts.withLock { $0.append(count) }
        }
    }

    private static func commands(_ server: Server) -> [TransportRequest] {
        server.transport.requests.filter { if case .command = $0.endpoint { true } else { false } }
    }

    @Test(
        """
        a push shows at once without network, is recorded as shown when there is one, once, and stays when the server's own event \
        arrives (P29, S22)
        """)
    func shown() async throws {
        let server = Server()
        let connection = server.connection()
        let client = NotificationsClient.live(service: connection)
        let shown = client.notifications
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await connection.ready()
            connection.disconnect()
            server.transport.answer { _ in throw TransportError.unreachable("no network") }
            try await client.handle(QuartetPush.notification(Self.message()))
            #expect(shown.unreadNotifications == [Self.ping] && shown.unreadCount == 1)

            let counter = Counter()
            counter.observe(shown)
            let command = CommandID.new()
            let event = NotificationsShown(
                account: Server.account, ids: [Self.ping.id], device: PushDeviceID(high: 1, low: 2),
                shown: Instant(microseconds: 8),
                at: Instant(microseconds: 8))
            server.state.withLock { $0.replies = [.success(Server.accepted(command, event: event))] }
            let before = Self.commands(server).count
            server.transport.answer { try server.answer($0) }
            connection.connect()
            let next = try #require(await server.transport.nextStream())
            next.resume()
            await connection.outbox.items.values.wait { $0.isEmpty }
            let sent = Self.commands(server).dropFirst(before)
            #expect(sent.map(\.endpoint) == [.command("ShowNotifications")])
            let body = String(decoding: sent.last?.body ?? [], as: UTF8.self)
            #expect(body.contains("\(Self.ping.id)"))
            try next.send(
                NotificationDelivered(account: Server.account, notification: Self.ping, unread: 1), .notifications,
                at: 11)
            try next.send(event, .notifications, at: 12, by: command)
            try next.send(
                NotificationRead(account: Server.account, id: Self.ping.id, at: Instant(microseconds: 9), unread: 0),
                .notifications, at: 13)
            await shown.values(of: \.unreadCount).wait { $0 == 0 }
            #expect(shown.history.count == 1)
            #expect(!counter.values.isEmpty && counter.values.allSatisfy { $0 == 1 }, "\(counter.values)")
        }
    }

    @Test(
        """
        a test push adds nothing to what is shown, counts nothing and is reported to nobody; nor does one that had no room for its \
        notification, but it wakes the connection (A14)
        """)
    func withoutNotification() async throws {
        let server = Server()
        let connection = server.connection()
        let client = NotificationsClient.live(service: connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await connection.ready()
            // The device slept, so the stream is dead without anybody's knowing.
            server.clock.advance(by: .seconds(7200))
            try await client.handle(QuartetPush.test(Server.account))
            await #expect(throws: QuartetError.needsAuthentication) {
                try await client.handle(QuartetPush.news(Server.person(1)))
            }
            #expect(server.transport.openStreams == 1)
            try await client.handle(QuartetPush.news(Server.account))
            try #require(await server.transport.nextStream()).resume()
            try await connection.ready()
            #expect(client.notifications.history.isEmpty && client.notifications.unreadCount == 0)
            #expect(Self.commands(server).isEmpty)
        }
    }

    @Test("a push for somebody who isn't signed in here shows nothing; one that can't be read says so (S10)")
    func strangers() async throws {
        let server = Server()
        let connection = server.connection()
        let client = NotificationsClient.live(service: connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await connection.ready()
            await #expect(throws: QuartetError.needsAuthentication) {
                try await client.handle(push: Self.message(Server.person(1)))
            }
            #expect(client.notifications.history.isEmpty && Self.commands(server).isEmpty)
        }
        #expect(throws: QuartetError.self) { try PushMessage(json: Data(#"{"account": 1}"#.utf8)) }
        #expect(throws: QuartetError.self) { try PushMessage(userInfo: ["aps": ["badge": 1]]) }
        let object = try #require(
            try JSONSerialization.jsonObject(with: JSONEncoder().encode(Self.message())) as? [String: Any])
        #expect(try PushMessage(userInfo: ["aps": ["badge": 1], "quartet": object]) == Self.message())
    }

    @Test("a widget checks in by one call, without a connection that runs (P30)")
    func widget() async throws {
        let server = Server()
        try await UserClient.live(service: server.connection()).checkIn()
        #expect(Self.commands(server).map(\.endpoint) == [.command("CheckIn")])
        #expect(server.transport.openStreams == 0)
    }
}
