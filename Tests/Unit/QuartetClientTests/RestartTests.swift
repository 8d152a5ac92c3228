import Dispatch
import Foundation
import Observation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

@Suite(.timeLimit(.minutes(10)))
struct RestartTests {
    private static let one = OutboxApp.one

    /// What a device has after the app was killed: a store with the same content.
    private static func killed(_ store: InMemoryLocalStore) -> InMemoryLocalStore {
        let (copy, kept) = (InMemoryLocalStore(), store.load(Server.account))
        for item in kept.items { copy.save(item, of: Server.account) }
        copy.save(kept.copies, finishing: [], of: Server.account)
        return copy
    }

    /// Waits for what is written without anybody being told.
    private static func wait(for store: InMemoryLocalStore, until isMeant: (LocalAccount) -> Bool) async throws {
        while !isMeant(store.load(Server.account)) { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// When the app is killed.
    enum Kill: CaseIterable { case betweenEventAndReply, afterTheReply }

    @Test(
        "killed at any point around a change's reply, an app shows the server's state after a restart, and no old change over it (S20, S22)",
        arguments: Kill.allCases)
    func betweenEventAndReply(_ kill: Kill) async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let first = OutboxApp(server, store)
        let command = CommandID.new()
        let ping = PingSent(account: Server.account, contact: Self.one, at: Instant(microseconds: 3))
        let after = Mutex<InMemoryLocalStore?>(nil)
        try await first.connected(server) { stream in
            server.transport.answer { request in
                guard case .command = request.endpoint else { return try server.answer(request) }
                // As the server usually does it: the event first, and then the reply.
                try stream.send(ping, at: 11, by: command)
                await first.contacts.contacts.values.wait { $0.lastSync != nil }
                stream.send(.heartbeat())
                try await Self.wait(for: store) { $0.copies.contains { $0.place.hasSuffix("/11") } }
                if kill == .betweenEventAndReply { after.withLock { $0 = Self.killed(store) } }
                return TransportReply(
                    .success(Server.accepted(command, event: ping)), serverTime: server.state.withLock { $0.time() })
            }
            try await first.contacts.sendPing(Self.one)
            if kill == .afterTheReply { after.withLock { $0 = Self.killed(store) } }
        }

        let kept = try #require(after.withLock { $0 })
        #expect(kept.load(Server.account).items.count == 1)
        server.transport.answer { request in
            guard case .command = request.endpoint else { return try server.answer(request) }
            // The same id: the same answer.
            return TransportReply(
                .success(Server.accepted(command, event: ping)), serverTime: server.state.withLock { $0.time() })
        }
        let second = OutboxApp(server, kept)
        try await whileRunning(second.connection) {
            let stream = try #require(await server.transport.nextStream())
            #expect(stream.request.place?.contains("contacts=contacts.log@7-1/3/11") == true)
            stream.resume()
            await second.waitUntilSent()
            // It is answered.
            let answer = PingAnswered(
                account: Server.account, contact: Self.one, direction: .outgoing, sent: ping.at,
                at: Instant(microseconds: 4))
            try stream.send(answer, at: 12)
            for _ in 0..<3 { stream.send(.heartbeat()) }
            try await Self.wait(for: kept) { $0.copies.contains { $0.place.hasSuffix("/12") } }
        }
        #expect(kept.load(Server.account).items.isEmpty)
        #expect(second.contacts.contacts.outgoingPings.isEmpty)
    }

    @Test("a copy that release 0.1.0 kept is shown (S22)")
    func earlierCopies() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let first = OutboxApp(server, store)
        try await first.connected(server) { _ in }
        // The state alone.
        let copies = try store.load(Server.account).copies.map { copy in
            // What no client copies is empty.
            guard !copy.state.isEmpty else { return copy }
            var copy = copy
            let kept = try JSONSerialization.jsonObject(with: copy.state) as? [String: Any]
            copy.state = try JSONSerialization.data(withJSONObject: try #require(kept?["state"]))
            return copy
        }
        store.save(copies, finishing: [], of: Server.account)
        let second = OutboxApp(server, store)
        try await second.connection.restore()
        #expect(second.contacts.contacts.count == 3 && second.user.user.name == "Anna")
    }

    @Test(
        "reminders that an earlier version of the app kept without their texts are loaded again before anything follows (S22, S39)",
        arguments: [false, true]
    )
    func remindersWithoutTexts(isDelivered: Bool) async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        func app() -> (connection: Connection, client: NotificationsClient) {
            let connection = Connection(
                transport: server.transport, tokens: server.tokens, store: store, policy: .forever,
                time: server.clock.timekeeper)
            return (connection, .live(service: connection))
        }
        let reminder = ScheduleReminder(text: "Tea", due: Instant(microseconds: 1_900_000_000_000_000)).scheduled
        let first = app()
        try await whileRunning(first.connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await first.connection.ready()
        }
        // As 0.1.0 kept it.
        let waiting = ScheduledNotification(id: reminder.id, kind: .system, details: .none, due: reminder.due)
        let told = QuartetNotification(id: reminder.id, kind: .system, details: .none, created: reminder.due)
        let former = NotificationsState(
            account: Server.account, notifications: isDelivered ? [told] : [],
            scheduled: isDelivered ? [] : Ordered([waiting]))
        var copy = try #require(store.load(Server.account).copies.first { $0.sequence == "notifications" })
        copy.state = try JSONEncoder().encode(former)
        store.save([copy], finishing: [], of: Server.account)
        let second = app()
        try await whileRunning(second.connection) {
            let next = try #require(await server.transport.nextStream())
            #expect(next.request.place?.contains("notifications=") == false)
            #expect(next.request.place?.contains("contacts=") == true)
            // Without a network they show as they were kept.
            #expect(second.client.notifications.scheduled.map(\.id) == (isDelivered ? [] : [reminder.id]))
            #expect(second.client.notifications.history.map(\.id) == (isDelivered ? [reminder.id] : []))
            try next.begin(
                .notifications, NotificationsState(account: Server.account, scheduled: Ordered([reminder])))
            let told = QuartetNotification(
                id: reminder.id, kind: .system, details: reminder.details.withoutReminder, created: reminder.due)
            try next.send(
                NotificationDelivered(account: Server.account, notification: told, unread: 1), .notifications, at: 11)
            for name in [StreamName.account, .contacts, .operations] { next.send(.resumed(name)) }
            try await second.connection.ready()
            #expect(second.client.notifications.history.first?.details.reminder == "Tea")
        }
        // What has its texts goes on where it was.
        let third = app()
        try await whileRunning(third.connection) {
            let stream = try #require(await server.transport.nextStream())
            stream.resume()
            try await third.connection.ready()
            #expect(third.client.notifications.history.first?.details.reminder == "Tea")
        }
    }

    @Test("a copy that is kept again, though nothing arrived since, is as old as before (S22)")
    func stamp() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let first = OutboxApp(server, store)
        try await first.connected(server) { _ in
            // Its event doesn't come, so it is kept.
            let ping = PingSent(account: Server.account, contact: Self.one, at: Instant(microseconds: 3))
            server.state.withLock { $0.replies = [.success(Server.accepted(event: ping))] }
            try await first.contacts.sendPing(Self.one)
        }
        let kept = store.load(Server.account)
        #expect(kept.items.count == 1 && Set(kept.copies.map(\.asOf)) == [server.state.withLock { $0.time() }])
        server.clock.advance(by: .seconds(3600))
        server.transport.refuseStream(TransportError.unreachable("no network"))
        let second = OutboxApp(server, store)
        try await whileRunning(second.connection) {
            await second.connection.wait { $0 == .reconnecting(attempt: 1) }
        }
        let again = store.load(Server.account)
        #expect(again.items == kept.items && again.copies.count == kept.copies.count)
        #expect(Set(again.copies.map(\.asOf)) == Set(kept.copies.map(\.asOf)))
    }

    @Test(
        "a change whose event never comes is ended by a snapshot that the app asks for, in a stream that was resumed, too (S20)"
    )
    func overdue() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let first = OutboxApp(server, store)
        try await first.connected(server) { _ in }
        let second = OutboxApp(server, store)
        try await whileRunning(second.connection) {
            let stream = try #require(await server.transport.nextStream())
            stream.resume()
            try await second.connection.ready()
            let ping = PingSent(account: Server.account, contact: Self.one, at: Instant(microseconds: 3))
            server.state.withLock { $0.replies = [.success(Server.accepted(event: ping))] }
            try await second.contacts.sendPing(Self.one)
            #expect(second.contacts.contacts.outgoingPings.count == 1)
            for _ in 0..<8 { stream.send(.heartbeat()) }
            let next = try #require(await server.transport.nextStream())
            // The other sequences go on where they are.
            let place = try #require(next.request.place)
            #expect(!place.contains("contacts=") && place.contains("account="))
            try next.begin(.contacts, ContactsState(account: Server.account, contacts: Ordered([Contact(Self.one)])))
            await second.contacts.contacts.values.wait { $0.outgoingPings.isEmpty }
        }
    }

    @Test(
        "restoring what the device kept doesn't hold up the caller's thread: it is decoded and shown elsewhere (S22)")
    @MainActor
    func mainActor() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let first = OutboxApp(server, store)
        try await first.connected(server) { _ in }
        let app = OutboxApp(server, store)
        let main = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: main, value: true)
        // Observers are called where the state is replaced.
        let isOnMain = Mutex<Bool?>(nil)
        withObservationTracking {
            _ = app.contacts.contacts.count
        } onChange: {
            isOnMain.withLock { $0 = DispatchQueue.getSpecific(key: main) == true }
        }
        #expect(DispatchQueue.getSpecific(key: main) == true)
        try await app.connection.restore()
        #expect(isOnMain.withLock { $0 } == false)
    }

    /// Is given what the device kept where the clients' copies decode it, in the order in which they were attached.
    private final class Witness: StreamConsumer {
        let sequences: Set<StreamName> = [.contacts]
        private let restoring: @Sendable () -> Void

        init(restoring: @escaping @Sendable () -> Void) { self.restoring = restoring }

        func restore(_ encoded: Data, asOf time: Instant) -> Bool {
            restoring()
            return true
        }

        func begins(_ opening: Int) {}
        func take(_ events: [StreamEvent], opening: Int) {}
        func heartbeat() -> Bool { false }
        func liveness(_ liveness: Liveness) {}
        func reset(opening: Int) {}
    }

    @Test("while an account of 10,000 contacts is restored, the main actor does other work (S22)")
    @MainActor
    func largeAccount() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let contacts = (1...10_000).map { Contact(Server.person($0)) }
        let first = OutboxApp(server, store)
        try await whileRunning(first.connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(contacts: contacts)
            try await first.connection.ready()
        }
        let connection = Connection(
            transport: server.transport, tokens: server.tokens, store: store, time: server.clock.timekeeper)
        let isAsked = Mutex(false)
        let turn = DispatchSemaphore(value: 0)
        let hadTurns = Mutex<[Bool]>([])
        let client = ContactsClient.live(service: connection)
        // Asked after the client's copy, where that was decoded.
        connection.attach(
            Witness {
                isAsked.withLock { $0 = true }
                // On the main actor, none comes.
                let hadTurn = turn.wait(timeout: .now() + .seconds(60)) == .success
                hadTurns.withLock { $0.append(hadTurn) }
            })
        let other = Task { @MainActor in
            while !Task.isCancelled {
                if isAsked.withLock({ $0 }) { turn.signal() }
                await Task.yield()
            }
        }
        defer { other.cancel() }
        try await connection.restore()
        #expect(hadTurns.withLock { $0 } == [true])
        #expect(client.contacts.count == contacts.count)
    }
}
