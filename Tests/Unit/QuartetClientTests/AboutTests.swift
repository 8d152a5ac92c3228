import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

/// What a change says it is about, so that it does nothing to something newer; and servers that don't know that yet.
@Suite(.timeLimit(.minutes(10)))
struct AboutTests {
    private static let alarm = AlarmID(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0000_0007)
    private static let start = Instant(microseconds: 1_800_000_000_000_000)

    private static func raised(at time: Instant = start) -> AlertRaised {
        AlertRaised(account: Server.account, alarm: alarm, at: time)
    }

    @Test(
        "an all-clear says which alarm its person saw, and when they ended it, also when it is sent after a restart (S22, S34)",
        arguments: [true, false])
    func afterRestart(knowsTime: Bool) async throws {
        let server = Server()
        let store = FailingStore()
        // The device's clock, which is all that an app knows before it has heard the server's time.
        var time = server.clock.timekeeper
        time.wall = { [clock = server.clock] in Self.start + Interval(clock.now) }
        let first = OutboxApp(server, store, time: time)
        let pressed = Mutex<Instant?>(nil)
        @Sendable func press(_ app: OutboxApp) async {
            pressed.withLock { $0 = server.state.withLock { $0.time() } }
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await server.passingTime { try await app.user.clearAlert() }
            }
        }
        try await first.connected(server) { stream in
            try stream.send(Self.raised(), .account, at: 11)
            await first.user.user.values.wait { $0.alertAlarm == Self.alarm }
            stream.send(.heartbeat())
            while !store.kept.copies.contains(where: { $0.place.hasSuffix("/11") }) {
                try await Task.sleep(for: .milliseconds(1))
            }
            server.goOffline()
            if knowsTime { await press(first) }
        }
        if !knowsTime {
            // It was started again without a network.
            let again = OutboxApp(server, store, time: time)
            try await again.connection.restore()
            await press(again)
        }
        #expect(store.kept.items.map(\.command) == ["ClearAlert"])
        // The app was killed, and the device finds out late that it has a network.
        server.clock.advance(by: .seconds(3600))
        server.goOnline()
        let second = OutboxApp(server, store, time: time)
        try await second.offline(server) {
            await second.waitUntilSent()
        }
        let sent = try #require(server.commands.last)
        let command = try ClearAlert.decoded(from: sent.body)
        #expect(sent.name == "ClearAlert" && command.alarm == Self.alarm)
        #expect(try abs(#require(command.pressed) - #require(pressed.withLock { $0 })) < .seconds(1))
    }

    @Test(
        "an all-clear for one's own call for help, which nobody has decided, comes after it by both their times (S34)")
    func own() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.offline(server) {
            server.state.withLock { $0.lost = [.interrupted("after it was sent")] }
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            // What the server says of its time goes back a little.
            server.state.withLock { state in
                let time = state.time
                state.time = { time() - Interval(microseconds: 900_000) }
            }
            try await app.contacts.unblock(OutboxApp.two)
            await #expect(throws: QuartetError.self) { try await app.user.clearAlert() }
            await server.passTime { app.connection.outbox.items.value.isEmpty }
        }
        let sent = server.commands.filter { $0.name != "UnblockContact" }
        #expect(sent.map(\.name) == ["RaiseAlert", "RaiseAlert", "ClearAlert"] && sent[0].body == sent[1].body)
        let (raise, clear) = (try RaiseAlert.decoded(from: sent[1].body), try ClearAlert.decoded(from: sent[2].body))
        let (cleared, raised) = (try #require(clear.pressed), try #require(raise.pressed))
        #expect(clear.alarm == nil && cleared >= raised)
    }

    @Test("an answer to a ping says which one its person saw (S27)")
    func ping() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { stream in
            let ping = PingReceived(account: Server.account, contact: OutboxApp.one, at: Self.start)
            try stream.send(ping, at: 11)
            await app.contacts.contacts.values.wait { !$0.incomingPings.isEmpty }
            try await app.contacts.respondToPing(OutboxApp.one)
            try await app.contacts.respondToPing(OutboxApp.two)
        }
        let sent = try server.commands.map { try RespondToPing.decoded(from: $0.body) }
        #expect(sent.map(\.contact) == [OutboxApp.one, OutboxApp.two] && sent.map(\.sent) == [Self.start, nil])
        #expect(sent.allSatisfy { $0.pressed != nil })
    }

    @Test(
        "whoever answers all pings answers those that they saw, and none that came later (S14, S27)",
        arguments: [0, 1, 2])
    func allPings(shown: Int64) async throws {
        let server = Server()
        let app = OutboxApp(server)
        let session = SessionClient.live(service: app.connection)
        let times = [Self.start + .seconds(5), Self.start]
        try await app.connected(server) { stream in
            for (contact, at) in zip([OutboxApp.one, OutboxApp.two], times).prefix(Int(shown)) {
                try stream.send(
                    PingReceived(account: Server.account, contact: contact, at: at),
                    at: contact == OutboxApp.one ? 11 : 12)
            }
            await app.contacts.contacts.values.wait { $0.incomingPings.count == shown }
            let done = Self.answered
            let refusal = APIError(.malformed, field: "upTo")
            server.state.withLock { $0.replies = [.success(done), .success(done), .failure(refusal), .success(done)] }
            _ = try await session.clearAllReceivedPings(true)
            _ = try await session.respondToAllPings()
            // A server of an earlier release knows no such thing.
            _ = try await session.respondToAllPings()
        }
        let sent = server.transport.requests.filter { if case .operation = $0.endpoint { true } else { false } }.map(
            \.body)
        // Where none shows, one that comes just now isn't answered either.
        let newest = shown > 0 ? times[0] : Instant(microseconds: 0)
        #expect(sent.count == 4)
        #expect(
            try ClearAllReceivedPingsRequest.decoded(from: sent[0])
                == ClearAllReceivedPingsRequest(checkIn: true, upTo: newest))
        #expect(
            try sent.dropFirst().map { try RespondToAllPingsRequest.decoded(from: $0).upTo }
                == [newest, newest, nil])
    }

    /// The `upTo` of each answer to all pings that arrived.
    private static func answers(_ server: Server) throws -> [Instant?] {
        try server.transport.requests.filter { if case .operation = $0.endpoint { true } else { false } }
            .map { try RespondToAllPingsRequest.decoded(from: $0.body).upTo }
    }

    private static let answered = Array(
        #"{"id":"\#(GroupID.new())","type":"x","state":"done","result":{"contacts":[]}}"#.utf8)

    @Test("an answer to all pings is about those that the person has answered just before, too (S14, S27)")
    func answeredBefore() async throws {
        let server = Server()
        let app = OutboxApp(server)
        let session = SessionClient.live(service: app.connection)
        try await app.connected(server) { stream in
            try stream.send(PingReceived(account: Server.account, contact: OutboxApp.one, at: Self.start), at: 11)
            await app.contacts.contacts.values.wait { !$0.incomingPings.isEmpty }
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await server.passingTime { try await app.contacts.respondToPing(OutboxApp.one) }
            }
            #expect(app.contacts.contacts.incomingPings.isEmpty && app.connection.state.isConnected)
            server.transport.answer { [unowned server] request in
                if case .operation = request.endpoint {
                    return TransportReply(.success(Self.answered), serverTime: Self.start)
                }
                return try server.answer(request)
            }
            _ = try await session.respondToAllPings()
        }
        #expect(try Self.answers(server) == [Self.start])
    }

    @Test(
        "an answer to all pings is about those that made an alert, or came by a push, though the contacts don't show them (S14, S27)",
        arguments: [true, false])
    func elsewhere(isPush: Bool) async throws {
        let server = Server()
        let app = OutboxApp(server)
        let session = SessionClient.live(service: app.connection)
        let notifications = NotificationsClient.live(service: app.connection)
        let later = Self.start + .seconds(9)
        try await app.connected(server) { stream in
            try stream.send(PingReceived(account: Server.account, contact: OutboxApp.one, at: Self.start), at: 11)
            await app.contacts.contacts.values.wait { !$0.incomingPings.isEmpty }
            if isPush {
                let notification = QuartetNotification(
                    id: NotificationID(high: 1, low: 1), kind: .pingReceived, subject: OutboxApp.two,
                    details: .init(at: later), created: later)
                try stream.send(
                    NotificationDelivered(account: Server.account, notification: notification, unread: 1),
                    .notifications, at: 11)
                await notifications.notifications.values.wait { $0.hasUnread }
            } else {
                // Its sender has taken it back since.
                let ping = UnansweredPing(contact: OutboxApp.two, sent: later, recorded: later)
                try stream.send(
                    AlertRaised(account: Server.account, alarm: Self.alarm, pings: [ping], at: later), .account, at: 11)
                await app.user.user.values.wait { $0.unanswered != nil }
            }
            server.state.withLock { $0.replies = [.success(Self.answered)] }
            _ = try await session.respondToAllPings()
        }
        #expect(try Self.answers(server) == [later])
    }

    @Test("while the contacts may be behind, an answer to all pings is about whatever waits (S14, S27)")
    func behind() async throws {
        let server = Server()
        let app = OutboxApp(server)
        let session = SessionClient.live(service: app.connection)
        try await app.connected(server) { stream in
            try stream.send(PingReceived(account: Server.account, contact: OutboxApp.one, at: Self.start), at: 11)
            await app.contacts.contacts.values.wait { !$0.incomingPings.isEmpty }
            app.connection.disconnect()
            #expect(!app.contacts.contacts.incomingPings.isEmpty)
            server.state.withLock { $0.replies = [.success(Self.answered)] }
            _ = try await session.respondToAllPings()
        }
        #expect(try Self.answers(server) == [nil])
    }

    @Test(
        "what is marked as read or cleared without a network is what its person saw, and nothing that came later (S13, S22)"
    )
    func notifications() async throws {
        let notification = { @Sendable (number: Int64) in
            QuartetNotification(
                id: NotificationID(high: 1, low: UInt64(number)), kind: .alertRaised, details: .none,
                created: Instant(microseconds: number))
        }
        let server = Server()
        let app = OutboxApp(server)
        let client = NotificationsClient.live(service: app.connection)
        try await whileRunning(app.connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(notifications: [notification(2), notification(1)])
            try await app.connection.ready()
            server.goOffline()
            app.connection.disconnect()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await client.markAllRead() }
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await client.clear(NotificationSelection(everything: true))
            }
            #expect(!client.notifications.hasUnread && client.notifications.notifications.isEmpty)
            app.connection.connect()
            let next = try #require(await server.transport.nextStream())
            try next.begin(notifications: [notification(3), notification(2), notification(1)])
            try await app.connection.ready()
            #expect(client.notifications.unreadCount == 1)
            #expect(client.notifications.notifications.map(\.id) == [notification(3).id])
            server.goOnline()
            app.connection.outbox.retry()
            await app.waitUntilSent()
        }
        let sent = { (name: String) in server.commands.last { $0.name == name }?.body ?? [] }
        let seen = Instant(microseconds: 2)
        #expect(try MarkAllRead.decoded(from: sent("MarkAllRead")) == MarkAllRead(upTo: seen))
        #expect(
            try ClearNotifications.decoded(from: sent("ClearNotifications"))
                == ClearNotifications(selection: .init(occurredBy: seen, everything: true)))
    }

    @Test(
        "what a server of an earlier release refuses is sent once more without what came later, under a new key (S22, F3)",
        arguments: ["alarm", "pressed", "at"])
    func earlierServer(field: String) async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { stream in
            try stream.send(Self.raised(), .account, at: 11)
            await app.user.user.values.wait { $0.alertAlarm == Self.alarm }
            let refusal = APIError(.malformed, "there is no such field", field: field)
            server.state.withLock { $0.replies = [.failure(refusal)] }
            // Not what this release knows to have come later: that is the end of it.
            guard field != "at" else {
                await #expect(throws: QuartetError.refused(refusal)) { try await app.user.clearAlert() }
                return
            }
            try await app.user.clearAlert()
            server.state.withLock { $0.replies = [.failure(refusal), .failure(refusal)] }
            // Once: it has no such field then.
            await #expect(throws: QuartetError.refused(refusal)) { try await app.user.clearAlert() }
        }
        let sent = server.commands
        #expect(sent.count == (field == "at" ? 1 : 4) && Set(sent.map(\.key)).count == sent.count)
        for (number, command) in sent.enumerated() {
            #expect((command.body == Array("{}".utf8)) == (number % 2 == 1))
        }
    }

    @Test("a request without what servers before its fields don't know has all others (S22)")
    func older() throws {
        let refusal = APIError(.malformed, field: "upTo")
        let body = try ClearAllReceivedPingsRequest(checkIn: true, upTo: Self.start).encoded()
        let type = ClearAllReceivedPingsRequest.self
        #expect(Requests.older(body: body, of: type, refusedWith: refusal) == Array(#"{"checkIn":true}"#.utf8))
        for (body, code, field) in [
            (body, APIError.Code.invalidField, "upTo"), (body, .malformed, "checkIn"), (body, .malformed, nil),
            (Array(#"{"checkIn":true}"#.utf8), .malformed, "upTo"),
        ] {
            #expect(Requests.older(body: body, of: type, refusedWith: APIError(code, field: field)) == nil)
        }
        #expect(Requests.older(body: body, of: CheckIn.self, refusedWith: refusal) == nil)
    }
}

private func abs(_ interval: Interval) -> Interval { Interval(max(interval.duration, .zero - interval.duration)) }
