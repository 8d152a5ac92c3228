import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

/// What is replaced as a whole, for a version that its person saw, while other changes of the same are under way.
@Suite(.timeLimit(.minutes(10)))
struct ReplacingTests {
    private static func tiers(_ minutes: Int64) -> [ResponderTier] {
        [ResponderTier(after: .minutes(minutes), responders: [OutboxApp.one])]
    }

    private static func set(_ minutes: Int64, version: Int64) -> ResponderTiersSet {
        ResponderTiersSet(
            account: Server.account, tiers: tiers(minutes), version: version, at: Instant(microseconds: 2))
    }

    /// The server holds up commands.
    private static func hold(_ server: Server) -> Gate {
        let gate = Gate()
        server.transport.answer { request in
            if case .command = request.endpoint { await gate.pass() }
            return try server.answer(request)
        }
        return gate
    }

    private static func versions(_ server: Server) throws -> [Int64?] {
        try server.commands.filter { $0.name == "SetResponderTiers" }.map {
            try JSONDecoder().decode(SetResponderTiers.self, from: Data($0.body)).expectedVersion
        }
    }

    @Test("tiers of another device show, with their version, though this one's own ones still wait (T26, S22)")
    func seen() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            server.goOffline()
            app.connection.disconnect()
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await app.contacts.replaceResponderTiers(Self.tiers(5), 0)
            }
            #expect(app.contacts.contacts.responderTiers == Self.tiers(5))
            server.state.withLock { $0.replies = [.failure(APIError(.staleVersion))] }
            let gate = Self.hold(server)
            app.connection.connect()
            let stream = try #require(await server.transport.nextStream())
            let state = ContactsState(
                account: Server.account, contacts: [Contact(OutboxApp.one)], responderTiers: Self.tiers(30),
                responderTiersVersion: 1)
            for name in [StreamName.account, .notifications, .operations] { stream.send(.resumed(name)) }
            try stream.begin(.contacts, state)
            await app.contacts.contacts.values.wait { $0.responderTiersVersion == 1 }
            #expect(app.contacts.contacts.responderTiers == Self.tiers(30))
            #expect(app.connection.outbox.items.value.count == 1)
            gate.open()
            await app.waitUntilSent()
            #expect(app.contacts.contacts.responderTiers == Self.tiers(30))
            // It was tried without a network, too.
            #expect(try Set(Self.versions(server)) == [0])
        }
    }

    @Test("one's own change before it, decided or not, doesn't have a later one refused (T26, S22)")
    func ownBefore() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { stream in
            server.state.withLock {
                $0.replies = [
                    .success(Server.accepted(event: Self.set(5, version: 1))),
                    .success(Server.accepted(event: Self.set(10, version: 2))),
                    .success(Server.accepted(event: Self.set(15, version: 3))),
                ]
            }
            let gate = Self.hold(server)
            let first = Task { try await app.contacts.replaceResponderTiers(Self.tiers(5), 0) }
            try await gate.reached()
            let second = Task { try await app.contacts.replaceResponderTiers(Self.tiers(10), 0) }
            await app.connection.outbox.items.values.wait { $0.count == 2 }
            #expect(app.contacts.contacts.responderTiers == Self.tiers(10))
            gate.open()
            try await first.value
            try await second.value
            // Their events are still to come.
            #expect(app.contacts.contacts.responderTiersVersion == 0)
            #expect(app.contacts.contacts.responderTiers == Self.tiers(10))
            try await app.contacts.replaceResponderTiers(Self.tiers(15), 0)
            #expect(try Self.versions(server) == [0, 1, 2])
            #expect(app.contacts.contacts.responderTiers == Self.tiers(15))
            // Another device has replaced these.
            try stream.send(Self.set(30, version: 4), at: 11)
            await app.contacts.contacts.values.wait { $0.responderTiersVersion == 4 }
            #expect(app.contacts.contacts.responderTiers == Self.tiers(30))
        }
    }

    @Test(
        "nor does it after a restart, whether or not its event has come by then (T26, S22)", arguments: [false, true])
    func ownBeforeRestart(hasEvent: Bool) async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let first = OutboxApp(server, store)
        try await first.connected(server) { stream in
            let command = CommandID.new()
            server.state.withLock { $0.replies = [.success(Server.accepted(command, event: Self.set(5, version: 1)))] }
            let (gate, tried) = (Gate(), Gate())
            tried.open()
            server.transport.answer { request in
                guard case .command = request.endpoint else { return try server.answer(request) }
                if server.state.withLock({ $0.replies.isEmpty }) {
                    await tried.pass()
                    throw TransportError.unreachable("no network")
                }
                await gate.pass()
                return try server.answer(request)
            }
            let one = Task { try await first.contacts.replaceResponderTiers(Self.tiers(5), 0) }
            try await gate.reached()
            let other = Task { try await first.contacts.replaceResponderTiers(Self.tiers(10), 0) }
            await first.connection.outbox.items.values.wait { $0.count == 2 }
            gate.open()
            try await one.value
            try await tried.reached()
            await first.connection.outbox.items.values.wait { $0.count == 1 && $0.allSatisfy(\.canCancel) }
            if hasEvent {
                try stream.send(Self.set(5, version: 1), at: 11, by: command)
                await first.contacts.contacts.values.wait { $0.responderTiersVersion == 1 }
            }
            other.cancel()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await other.value }
        }
        #expect(store.load(Server.account).items.compactMap(\.made) == [1])

        let second = OutboxApp(server, store)
        try await second.connection.restore()
        #expect(second.contacts.contacts.responderTiers == Self.tiers(10))
        let command = CommandID.new()
        server.state.withLock { $0.replies = [.success(Server.accepted(command, event: Self.set(10, version: 2)))] }
        server.goOnline()
        try await whileRunning(second.connection) {
            let stream = try #require(await server.transport.nextStream())
            if hasEvent {
                stream.resume()
            } else {
                let state = ContactsState(
                    account: Server.account, contacts: [Contact(OutboxApp.one)], responderTiers: Self.tiers(5),
                    responderTiersVersion: 1)
                try stream.begin(.contacts, state)
            }
            await second.waitUntilSent()
            try stream.send(Self.set(10, version: 2), at: 12, by: command)
            await second.contacts.contacts.values.wait { $0.responderTiersVersion == 2 }
        }
        let last = try #require(try Self.versions(server).last)
        #expect(last == 1)
        #expect(second.contacts.contacts.responderTiers == Self.tiers(10))
        // Nothing stands on the first one any more.
        #expect(store.load(Server.account).items == [])
    }

    @Test("what is kept stands on what the device changed before, though that event is still to come (T26, S22)")
    func kept() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            server.state.withLock { $0.replies = [.success(Server.accepted(event: Self.set(5, version: 1)))] }
            try await app.contacts.replaceResponderTiers(Self.tiers(5), 0)
            server.goOffline()
            app.connection.disconnect()
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await app.contacts.replaceResponderTiers(Self.tiers(10), 0)
            }
            let kept = try #require(app.connection.outbox.items.value.first)
            #expect(String(decoding: kept.edit, as: UTF8.self).contains(#""expectedVersion":1"#))
        }
    }

    @Test("what another process learns of a change includes the version that it made (T26, S22)")
    func decided() throws {
        let reply = CommandReply(command: .new(), event: SetResponderTiers.type)
        let decision = OutboxDecision(.success(reply), made: 3).encoded
        #expect(StoreUpdate.Outcome.gone(decision).made == 3)
        #expect(StoreUpdate.Outcome.gone(OutboxDecision(.success(reply)).encoded).made == nil)
    }

    @Test("what stands on a change of one's own that was refused is refused like it (T26, S22)")
    func refusedBefore() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            let stale: Result<[UInt8], APIError> = .failure(APIError(.staleVersion))
            server.state.withLock { $0.replies = [stale, stale] }
            let gate = Self.hold(server)
            let first = Task { try await app.contacts.replaceResponderTiers(Self.tiers(5), 0) }
            try await gate.reached()
            let second = Task { try await app.contacts.replaceResponderTiers(Self.tiers(10), 0) }
            await app.connection.outbox.items.values.wait { $0.count == 2 }
            gate.open()
            for call in [first, second] {
                await #expect {
                    try await call.value
                } throws: {
                    ($0 as? QuartetError)?.code == .staleVersion
                }
            }
            #expect(try Self.versions(server) == [0, 0])
        }
    }

    @Test("an interval that this device has set doesn't have its daily times refused (T26, A6)")
    func interval() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            let set = CheckInIntervalSet(
                account: Server.account, interval: .hours(8), version: 1, at: Instant(microseconds: 2))
            server.state.withLock { $0.replies = [.success(Server.accepted(event: set))] }
            try await app.user.replaceCheckInInterval(.hours(8), 0)
            let times = DailyTimes(times: [480], weekdays: Weekday.allCases, zone: "UTC")
            try await app.user.replaceDailyCheckIns(times, 0)
            let sent = server.commands
            #expect(sent.map(\.name) == ["SetCheckInInterval", "SetDailyCheckIns"])
            let interval = try JSONDecoder().decode(SetCheckInInterval.self, from: Data(sent[0].body))
            let daily = try JSONDecoder().decode(SetDailyCheckIns.self, from: Data(sent[1].body))
            #expect(interval.expectedVersion == 0 && daily.expectedVersion == 1)
        }
    }
}
