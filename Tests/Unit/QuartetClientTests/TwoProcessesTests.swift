import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetSessionContract
import QuartetStorage
import QuartetVocabulary
import Synchronization
import Testing

@testable import QuartetClient

/// Two processes of an app: each has a connection, and a store of its own on one file. They have the same tokens.
@Suite(.timeLimit(.minutes(10)))
struct TwoProcessesTests {
    private static func withFile(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "processes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appending(path: "store"))
    }

    /// One clock for all processes, which the test moves.
    private static func time(_ server: Server) -> Timekeeper {
        var time = server.clock.timekeeper
        let clock = server.clock
        time.wall = { Instant(microseconds: 1_800_000_000_000_000) + Interval(clock.now) }
        return time
    }

    private static func process(_ server: Server, _ file: URL, of device: Server? = nil) throws -> OutboxApp {
        let device = device ?? server
        return OutboxApp(server, try DatabaseStore(file), tokens: device.tokens, time: time(device))
    }

    private static func keeps(_ server: Server, _ change: @escaping @Sendable () async throws -> Void) async {
        await #expect(throws: QuartetError.willBeSentWhenOnline) { try await server.passingTime(change) }
    }

    @Test("what a widget keeps without a network shows in the app, which sends it with its own, each once (F9, S22)")
    func drained() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, widget) = (try Self.process(server, file), try Self.process(server, file))
            try await app.offline(server) {
                server.goOffline()
                await Self.keeps(server) { try await app.contacts.sendPing(OutboxApp.one) }
                await Self.keeps(server) { try await widget.user.raiseAlert() }
                await server.passTime { app.connection.outbox.items.value.count == 2 }
                #expect(app.user.user.alertRaised != nil)
                let ids = app.connection.outbox.items.value.map(\.id)
                #expect(ids == ids.sorted() && Set(ids).count == 2)
                let before = server.commands.count
                server.goOnline()
                app.connection.outbox.retry()
                await server.passTime { app.connection.outbox.items.value.isEmpty }
                let sent = server.commands.dropFirst(before)
                #expect(sent.map(\.name).sorted() == ["RaiseAlert", "SendPing"] && Set(sent.map(\.key)).count == 2)
            }
            #expect(try await DatabaseStore(file).load(Server.account).items.isEmpty)
        }
    }

    @Test("four changes of two processes of which one is killed are decided once each, and both hear of it (F9, S22)")
    func killed() async throws {
        try await Self.withFile { file in
            // The app has no network, the other process has one.
            let (server, other) = (Server(), Server())
            let app = try Self.process(server, file)
            let widget = try Self.process(other, file, of: server)
            try await app.offline(server) {
                server.goOffline()
                await Self.keeps(server) { try await app.contacts.sendPing(OutboxApp.one) }
                await Self.keeps(server) { try await app.user.setCheckInInterval(.hours(7)) }
                try await server.passingTime { try await widget.user.checkIn() }
                try await server.passingTime { try await widget.contacts.sendPing(OutboxApp.two) }
            }
            server.goOnline()
            let again = try Self.process(server, file)
            let before = server.commands.count
            try await again.connected(server) { _ in
                await server.passTime { again.connection.outbox.items.value.isEmpty }
            }
            let sent = other.commands + server.commands.dropFirst(before)
            // Sent again under its key, the server knows it.
            let names = Dictionary(sent.map { ($0.key, $0.name) }) { $1 }.values.sorted()
            #expect(names == ["CheckIn", "SendPing", "SendPing", "SetCheckInInterval"])
            #expect(try await DatabaseStore(file).load(Server.account).items.isEmpty)
        }
    }

    @Test("whoever keeps a change hears what became of it when another process has sent it (F9, S22)")
    func told() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, widget) = (try Self.process(server, file), try Self.process(server, file))
            let refusal = APIError(.pingsOff)
            try await app.offline(server) {
                server.goOffline()
                await Self.keeps(server) { try await app.contacts.sendPing(OutboxApp.one) }
                let events = app.connection.outbox.events
                // The other process sends it, and gets the answer.
                let store = try DatabaseStore(file)
                let item = try #require(try await store.load(Server.account).items.first)
                let decision = OutboxDecision(.failure(.refused(refusal)))
                try await store.end(item.id, deciding: decision.encoded, of: Server.account)
                await server.passTime { app.connection.outbox.items.value.isEmpty }
                let event = await events.first { _ in true }
                #expect(event?.item.id == item.id && event?.error == .refused(refusal))
                #expect(app.contacts.contacts.outgoingPings.isEmpty)
                // Nothing writes it back.
                let before = server.commands.count
                server.goOnline()
                app.connection.outbox.retry()
                try await server.passingTime { try await widget.user.checkIn() }
                #expect(server.commands.dropFirst(before).map(\.name) == ["CheckIn"])
            }
            #expect(try await DatabaseStore(file).load(Server.account).items.isEmpty)
        }
    }

    /// Has a process that was killed while it sent the only item that is kept.
    private static func sending(_ file: URL, _ server: Server) async throws -> OutboxItem {
        let store = try DatabaseStore(file)
        var item = try #require(try await store.load(Server.account).items.first)
        let now = time(server).wall()
        _ = item.key.minted(at: now)
        item.body = Data("{}".utf8)
        let update = SharedUpdate(holder: "killed", now: now, until: now + SharedUpdate.hold)
        #expect(try await store.update(item, update, of: Server.account) == .done)
        return item
    }

    @Test("what a process was sending when it was killed is left to it for a while, then sent under its key (F9, S22)")
    func takenOver() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, widget) = (try Self.process(server, file), try Self.process(server, file))
            server.goOffline()
            await Self.keeps(server) { try await widget.contacts.sendPing(OutboxApp.one) }
            let item = try await Self.sending(file, server)
            server.goOnline()
            let (began, before) = (server.clock.now, server.commands.count)
            try await app.connected(server) { _ in
                #expect(app.contacts.contacts.outgoingPings.map(\.account) == [OutboxApp.one])
                await server.passTime { app.connection.outbox.items.value.isEmpty }
            }
            let sent = server.commands.dropFirst(before)
            #expect(sent.map(\.name) == ["SendPing"] && sent.first?.key == item.key.id)
            #expect(server.clock.now - began >= .seconds(14))
        }
    }

    @Test("an all-clear of one process comes after the call for help that another has tried to send (F9, S22, S27)")
    func order() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, widget) = (try Self.process(server, file), try Self.process(server, file))
            server.goOffline()
            await Self.keeps(server) { try await widget.user.raiseAlert() }
            let item = try await Self.sending(file, server)
            server.goOnline()
            try await app.connected(server) { _ in
                let before = server.commands.count
                do { try await server.passingTime { try await app.user.clearAlert() } } catch {
                    #expect((error as? QuartetError)?.isPending == true)
                }
                await server.passTime { app.connection.outbox.items.value.isEmpty }
                let sent = server.commands.dropFirst(before)
                #expect(sent.map(\.name) == ["RaiseAlert", "ClearAlert"] && sent.first?.key == item.key.id)
            }
        }
    }

    @Test("a sign-out in one process ends the other, which shows nothing more and writes nothing (F9, S17)")
    func signedOut() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, other) = (try Self.process(server, file), try Self.process(server, file))
            let session = SessionClient.live(service: other.connection)
            try await app.connected(server) { _ in
                try await other.connection.restore()
                try await session.signOut()
                await server.passTime { app.connection.state == .needsAuthentication }
                #expect(app.contacts.contacts.count == 0 && app.connection.lastError == .signedOut(.signedOut))
                await #expect(throws: QuartetError.needsAuthentication) {
                    try await app.contacts.sendPing(OutboxApp.one)
                }
            }
            let kept = try Data(contentsOf: file)
            #expect(kept.range(of: Data("\(Server.account)".utf8)) == nil)
        }
    }

    @Test("a process that does nothing else hears of the other's sign-out with its next change (F9, S17)")
    func signedOutWidget() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, widget) = (try Self.process(server, file), try Self.process(server, file))
            try await widget.connection.restore()
            let session = SessionClient.live(service: app.connection)
            try await session.signOut()
            await #expect(throws: QuartetError.needsAuthentication) { try await widget.user.raiseAlert() }
            #expect(widget.user.user.alertRaised == nil)
            #expect(try await DatabaseStore(file).load(Server.account) == LocalAccount())
        }
    }

    @Test("without a store and without anybody who runs it, no change is promised to be sent (F9, S22)")
    func noPromise() async throws {
        let server = Server()
        server.goOffline()
        let widget = OutboxApp(server)
        await #expect(throws: QuartetError.offline) {
            try await server.passingTime { try await widget.user.raiseAlert() }
        }
        #expect(widget.user.user.alertRaised == nil && widget.connection.outbox.items.value.isEmpty)
    }

    @Test("numbers grow, also where the clock was set back, and two processes make no same ones (F9)")
    func numbers() {
        var (one, two) = (Outbox.State(), Outbox.State())
        let start = Instant(microseconds: 1_800_000_000_000_000)
        var made: [Int64] = []
        for step in 0..<2000 as Range<Int64> {
            let wall = step == 1000 ? start - .days(400) : start + Interval(microseconds: step * 700)
            made.append(one.makeNumber(wall))
            made.append(two.makeNumber(wall))
        }
        let (ones, twos) = (made.indices.filter { $0 % 2 == 0 }.map { made[$0] }, made.indices.filter { $0 % 2 == 1 })
        #expect(ones == ones.sorted() && twos.map { made[$0] } == twos.map { made[$0] }.sorted())
        #expect(Set(made).count == made.count)
        // Those that 0.1.0 made are smaller.
        #expect(made.allSatisfy { $0 > start.microseconds })
    }
}
