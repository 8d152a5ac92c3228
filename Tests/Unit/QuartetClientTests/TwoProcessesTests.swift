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
    static func withFile(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "processes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appending(path: "store"))
    }

    /// One clock for all processes, which the test moves.
    static func time(_ server: Server) -> Timekeeper {
        var time = server.clock.timekeeper
        let clock = server.clock
        time.wall = { Instant(microseconds: 1_800_000_000_000_000) + Interval(clock.now) }
        return time
    }

    static func process(_ server: Server, _ file: URL, of device: Server? = nil) throws -> OutboxApp {
        let device = device ?? server
        return OutboxApp(server, try DatabaseStore(file), tokens: device.tokens, time: time(device))
    }

    static func keeps(_ server: Server, _ change: @escaping @Sendable () async throws -> Void) async {
        await #expect(throws: QuartetError.willBeSentWhenOnline) { try await server.passingTime(change) }
    }

    /// The same while no time passes.
    static func keepsAtOnce(_ change: @escaping @Sendable () async throws -> Void) async {
        await #expect(throws: QuartetError.willBeSentWhenOnline) { try await change() }
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
                // The device removes them a moment later.
                let stored = try DatabaseStore(file)
                while try await !stored.load(Server.account).items.isEmpty {
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
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
                try await Self.decide(item.id, .failure(.refused(refusal)), in: file)
                await server.passTime { app.connection.outbox.items.value.isEmpty }
                let event = await events.first { _ in true }
                #expect(event?.item.id == item.id && event?.error == .refused(refusal))
                #expect(app.contacts.contacts.outgoingPings.isEmpty)
                // Nothing writes it back.
                let before = server.commands.count
                server.goOnline()
                app.connection.outbox.retry()
                try await server.passingTime { try await widget.user.checkIn() }
                // Whoever sends it, also both, sends the same.
                let later = server.commands.dropFirst(before)
                #expect(Set(later.map(\.name)) == ["CheckIn"] && Set(later.map(\.key)).count == 1)
            }
            #expect(try await DatabaseStore(file).load(Server.account).items.isEmpty)
        }
    }

    /// Has another process send the only item that is kept, and be killed then.
    /// - Returns: The item as everybody has to send it.
    private static func sending(_ file: URL, _ server: Server, body: String = "{}") async throws -> OutboxItem {
        let store = try DatabaseStore(file)
        var item = try #require(try await store.load(Server.account).items.last)
        _ = item.key.minted(at: time(server).wall())
        item.body = Data(body.utf8)
        switch try await store.update(item, StoreUpdate(.prepare, by: "killed"), of: Server.account) {
        case .done: return item
        // A process that is tested was quicker.
        case .other(let stored): return stored
        case .gone, .behind: throw QuartetError.unknown
        }
    }

    /// Has another process hear from the server what became of an item.
    private static func decide(
        _ item: OutboxItem.ID, _ result: Result<CommandReply, QuartetError>, in file: URL
    ) async throws {
        let decision = OutboxDecision(result).encoded
        let outcome = try await DatabaseStore(file).end(item, knownAs: nil, deciding: decision, of: Server.account)
        #expect(outcome == .done)
    }

    @Test("what a process was sending when it was killed is sent by another under its key, once (F9, S22)")
    func takenOver() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, widget) = (try Self.process(server, file), try Self.process(server, file))
            server.goOffline()
            await Self.keeps(server) { try await widget.contacts.sendPing(OutboxApp.one) }
            let item = try await Self.sending(file, server)
            server.goOnline()
            let before = server.commands.count
            try await app.connected(server) { _ in
                #expect(app.contacts.contacts.outgoingPings.map(\.account) == [OutboxApp.one])
                await server.passTime { app.connection.outbox.items.value.isEmpty }
            }
            let sent = server.commands.dropFirst(before)
            #expect(sent.map(\.name) == ["SendPing"] && sent.first?.key == item.key.id)
        }
    }

    @Test("a call for help that another process sends goes out under its key from one that has it as unsent (F9, S22)")
    func sentMeanwhile() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, widget) = (try Self.process(server, file), try Self.process(server, file))
            try await app.offline(server) {
                server.goOffline()
                await Self.keeps(server) { try await widget.user.raiseAlert() }
                await server.passTime { app.connection.outbox.items.value.count == 1 }
                let item = try await Self.sending(file, server)
                // Nothing more comes from the one that was killed.
                let before = server.commands.count
                server.goOnline()
                app.connection.outbox.retry()
                await server.passTime { app.connection.outbox.items.value.isEmpty }
                let sent = server.commands.dropFirst(before)
                #expect(Set(sent.map(\.key)) == [item.key.id] && sent.first?.body == item.body.map(Array.init))
                #expect(app.connection.outbox.unsent.value.isEmpty)
            }
        }
    }

    @Test("what another process sends can't be taken back, and stays as it is sent (F9, S21)")
    func cancelling() async throws {
        try await Self.withFile { file in
            let server = Server()
            let app = try Self.process(server, file)
            server.goOffline()
            await Self.keeps(server) { try await app.contacts.sendPing(OutboxApp.one) }
            let item = try await Self.sending(file, server)
            let outbox = app.connection.outbox
            #expect(outbox.items.value.map(\.canCancel) == [true])
            #expect(try await outbox.cancel(item.id) == false)
            #expect(outbox.items.value.first?.isSame(as: item) == true)
            #expect(try await DatabaseStore(file).load(Server.account).items.first?.isSame(as: item) == true)
            await Self.keeps(server) { try await app.contacts.sendPing(OutboxApp.two) }
            let other = try #require(outbox.items.value.last)
            #expect(try await outbox.cancel(other.id))
            #expect(outbox.items.value.map(\.id) == [item.id])
            let changes = try await DatabaseStore(file).changes(of: Server.account)
            let decision = try #require(changes.decisions[other.id].flatMap { OutboxDecision($0) })
            #expect(changes.ids == [item.id] && decision.result.isCancelled)
        }
    }

    @Test("an edit doesn't join one that another process is sending: both arrive (F9, P33)")
    func joinedTooLate() async throws {
        try await Self.withFile { file in
            let server = Server()
            let app = try Self.process(server, file)
            try await app.offline(server) {
                server.goOffline()
                await Self.keeps(server) { try await JoiningTests.edit(app.user, note: "one") }
                let first = try await Self.sending(file, server)
                await Self.keeps(server) { try await JoiningTests.edit(app.user, name: "two") }
                #expect(app.user.user.emergencyNote == "one" && app.user.user.name == "two")
                #expect(try await DatabaseStore(file).load(Server.account).items.count == 2)
                let before = server.commands.count
                server.goOnline()
                app.connection.outbox.retry()
                await server.passTime { app.connection.outbox.items.value.isEmpty }
                let sent = Array(server.commands.dropFirst(before))
                #expect(sent.count == 2 && sent.first?.key == first.key.id)
                let second = try JSONDecoder().decode(UpdateProfile.self, from: Data(try #require(sent.last).body))
                #expect(second.name == "two" && second.emergencyNote == nil)
            }
        }
    }

    @Test(
        "an edit doesn't join one that another process had accepted: its own is sent, each end is said right (F9, P33)")
    func joinedAfterwards() async throws {
        try await Self.withFile { file in
            let server = Server()
            let app = try Self.process(server, file)
            server.goOffline()
            try await app.connection.restore()
            await Self.keeps(server) { try await JoiningTests.edit(app.user, note: "one") }
            let first = try #require(app.connection.outbox.items.value.first)
            let events = app.connection.outbox.events
            try await Self.decide(first.id, .success(CommandReply(command: .new())), in: file)
            await Self.keeps(server) { try await JoiningTests.edit(app.user, name: "two") }
            let event = await events.first { _ in true }
            #expect(event?.item.id == first.id && event?.error == nil)
            let kept = try await DatabaseStore(file).load(Server.account).items
            #expect(kept.count == 1 && app.connection.outbox.items.value.map(\.id) == kept.map(\.id))
            let edit = try #require(kept.first.map { String(decoding: $0.edit, as: UTF8.self) })
            #expect(edit.contains("two") && !edit.contains("one"), "\(edit)")
        }
    }

    @Test("whose edit another process joined hears that it is refused, also if the rest is accepted (F9, P33)")
    func partlyRefused() async throws {
        try await Self.withFile { file in
            // The app has a network, the other process has none.
            let (server, other) = (Server(), Server())
            let app = try Self.process(server, file)
            let widget = try Self.process(other, file, of: server)
            let refusal = try JoiningTests.refusal(name: "Anna", note: "theirs")
            other.goOffline()
            try await app.offline(server) {
                server.goOffline()
                try await widget.connection.restore()
                let first = Task { try await JoiningTests.edit(widget.user, note: "one") }
                await server.passTime { app.connection.outbox.items.value.count == 1 }
                let second = Task { try await JoiningTests.edit(app.user, name: "two") }
                await app.connection.outbox.items.values.wait { items in
                    items.last.map { String(decoding: $0.edit, as: UTF8.self).contains("two") } == true
                }
                #expect(app.connection.outbox.items.value.count == 1)
                server.state.withLock { $0.replies = [.failure(refusal)] }
                server.goOnline()
                app.connection.outbox.retry()
                try await server.passingTime {
                    let error = await #expect(throws: QuartetError.self) { try await first.value }
                    #expect(error?.code == .staleVersion)
                    try await second.value
                }
                #expect(try JoiningTests.profile(after: server.commands.suffix(1).map(\.body)) == ("two", nil))
            }
        }
    }

    @Test("each maker of edits that another process joins hears what became of all (F9, P33)")
    func joinedByAnother() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, other) = (try Self.process(server, file), try Self.process(server, file))
            try await app.offline(server) {
                server.goOffline()
                let first = Task { try await JoiningTests.edit(other.user, note: "one") }
                await server.passTime { app.connection.outbox.items.value.count == 1 }
                let second = Task { try await JoiningTests.edit(app.user, name: "two") }
                await app.connection.outbox.items.values.wait { items in
                    items.last.map { String(decoding: $0.edit, as: UTF8.self).contains("two") } == true
                }
                server.goOnline()
                app.connection.outbox.retry()
                try await server.passingTime {
                    try await first.value
                    try await second.value
                }
                let end = try JoiningTests.profile(after: server.commands.map(\.body))
                #expect(end == ("two", "one") && app.connection.outbox.items.value.isEmpty)
            }
        }
    }

    @Test("a call for help that another process had accepted is never said to be unsent (F9, R12)")
    func acceptedElsewhere() async throws {
        try await Self.withFile { file in
            let server = Server()
            let app = try Self.process(server, file)
            server.goOffline()
            await Self.keeps(server) { try await app.user.raiseAlert() }
            let call = try #require(app.connection.outbox.items.value.first)
            try await Self.decide(call.id, .success(CommandReply(command: .new())), in: file)
            // What would take its place if it hadn't been sent.
            await Self.keeps(server) { try await app.user.clearAlert() }
            let items = app.connection.outbox.items.value
            #expect(items.map(\.command) == ["ClearAlert"] && app.connection.outbox.unsent.value.isEmpty)
            let kept = try await DatabaseStore(file).load(Server.account).items
            #expect(kept.map(\.id) == items.map(\.id))
        }
    }

    @Test("a call for help that expires here while another process has it accepted leaves no card (F9, R12)")
    func expiredElsewhere() async throws {
        try await Self.withFile { file in
            let server = Server()
            let app = try Self.process(server, file)
            server.goOffline()
            await Self.keeps(server) { try await app.user.raiseAlert() }
            let outbox = app.connection.outbox
            let call = try #require(outbox.items.value.first)
            try await Self.decide(call.id, .success(CommandReply(command: .new())), in: file)
            let resets = outbox.state.withLock { $0.resets }
            let outcome = await outbox.endUnsent(call, .expired, unlessDroppedSince: resets)
            #expect(outcome.result.map { (try? $0.get()) != nil } == true)
            #expect(outbox.unsent.value.isEmpty && outbox.items.value.isEmpty)
            #expect(try await DatabaseStore(file).load(Server.account).items.isEmpty)
        }
    }

    @Test("a refusal that another process got is heard by the caller, or is a card, and not both (F9, R12)")
    func refusedElsewhere() async throws {
        try await Self.withFile { file in
            let server = Server()
            let app = try Self.process(server, file)
            let refusal = APIError(.invalidField)
            server.goOffline()
            let call = Task { try await app.user.raiseAlert() }
            await app.connection.outbox.items.values.wait { $0.count == 1 }
            let store = try DatabaseStore(file)
            _ = try await store.load(Server.account)
            var card = try await Self.sending(file, server)
            (card.unsent, card.refusal) = (.refused, UnsentChange.Refusal(refusal))
            let decision = OutboxDecision(.failure(.refused(refusal))).encoded
            let update = StoreUpdate(.end, by: "other", of: card, decision: decision)
            #expect(try await store.update(card, update, of: Server.account) == .done)
            await #expect(throws: QuartetError.refused(refusal)) {
                try await server.passingTime { try await call.value }
            }
            #expect(app.connection.outbox.items.value.isEmpty && app.connection.outbox.unsent.value.isEmpty)
        }
    }

    @Test("nothing is remembered for long of what one process has sent by itself (F9)")
    func remembering() async throws {
        try await Self.withFile { file in
            let server = Server()
            let app = try Self.process(server, file)
            try await app.connected(server) { _ in
                for _ in 0..<5 { try await server.passingTime { try await app.contacts.sendPing(OutboxApp.one) } }
                await server.passTime { app.connection.outbox.state.withLock { $0.over.isEmpty } }
            }
        }
    }

    /// Has another process keep what a process makes, which then knows nothing of it.
    private static func made(
        by widget: OutboxApp, in file: URL, _ server: Server, _ change: @escaping @Sendable () async throws -> Void
    ) async throws -> (store: DatabaseStore, addition: StoreAddition) {
        server.goOffline()
        await keeps(server, change)
        let store = try DatabaseStore(file)
        let item = try #require(try await store.load(Server.account).items.first)
        try await store.remove(item.id, of: Server.account)
        server.goOnline()
        return (store, StoreAddition(item))
    }

    @Test("an all-clear of one process comes after the call for help that another has kept (F9, S22, S27)")
    func order() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, widget) = (try Self.process(server, file), try Self.process(server, file))
            let other = try await Self.made(by: widget, in: file, server) { try await widget.user.raiseAlert() }
            try await app.connected(server) { _ in
                let before = server.commands.count
                _ = try await other.store.add(other.addition, of: Server.account)
                try await server.passingTime { try await app.user.clearAlert() }
                await server.passTime { app.connection.outbox.items.value.isEmpty }
                #expect(server.commands.dropFirst(before).map(\.name) == ["RaiseAlert", "ClearAlert"])
            }
        }
    }

    @Test("what isn't urgent is left to the process that made it for a moment, then sent (F9, S22)")
    func left() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, widget) = (try Self.process(server, file), try Self.process(server, file))
            let other = try await Self.made(by: widget, in: file, server) {
                try await widget.contacts.sendPing(OutboxApp.one)
            }
            try await app.connected(server) { _ in
                let (began, before) = (server.clock.now, server.commands.count)
                _ = try await other.store.add(other.addition, of: Server.account)
                await server.passTime { server.commands.count > before }
                #expect(server.clock.now - began >= .seconds(2))
                await server.passTime { app.connection.outbox.items.value.isEmpty }
                #expect(server.commands.dropFirst(before).map(\.name) == ["SendPing"])
            }
        }
    }

    @Test("a call without a connection that runs sends what waits for help as well (F9, R12)")
    func helpFirst() async throws {
        try await Self.withFile { file in
            let server = Server()
            let widget = try Self.process(server, file)
            server.goOffline()
            await Self.keeps(server) { try await widget.user.raiseAlert() }
            let before = server.commands.count
            server.transport.answer { request in
                // The one that nobody waits for comes first.
                while request.endpoint == .command("CheckIn"),
                    !server.commands.dropFirst(before).contains(where: { $0.name == "RaiseAlert" })
                { try await Task.sleep(for: .milliseconds(1)) }
                return try server.answer(request)
            }
            widget.connection.outbox.retry()
            try await server.passingTime { try await widget.user.checkIn() }
            #expect(Set(server.commands.dropFirst(before).map(\.name)) == ["CheckIn", "RaiseAlert"])
        }
    }

    @Test("a call that has its answer doesn't end the call for help that is being sent with it (F9, R12)")
    func helpGoesOn() async throws {
        try await Self.withFile { file in
            let server = Server()
            let widget = try Self.process(server, file)
            server.goOffline()
            await Self.keeps(server) { try await widget.user.raiseAlert() }
            // Nothing runs for that call any more.
            server.clock.advance(by: .seconds(10))
            let before = server.commands.count
            let isAnswered = Mutex(false)
            let isEnded = Mutex(false)
            let failures = Mutex(1)
            server.transport.answer { request in
                guard request.endpoint == .command("RaiseAlert") else { return try server.answer(request) }
                while !isAnswered.withLock({ $0 }) {
                    do { try await Task.sleep(for: .milliseconds(1)) } catch {
                        isEnded.withLock { $0 = true }
                        throw error
                    }
                }
                let fails = failures.withLock { count in
                    defer { count = 0 }
                    return count > 0
                }
                if fails { throw TransportError.unreachable("no network for a moment") }
                return try server.answer(request)
            }
            widget.connection.outbox.retry()
            try await server.passingTime { try await widget.user.checkIn() }
            isAnswered.withLock { $0 = true }
            await server.passTime {
                widget.connection.outbox.items.value.isEmpty || isEnded.withLock { $0 }
            }
            #expect(widget.connection.outbox.items.value.isEmpty)
            #expect(Set(server.commands.dropFirst(before).map(\.name)) == ["CheckIn", "RaiseAlert"])
        }
    }

    @Test("what another process made later isn't dropped for what was made while nothing could be read (F9, R12)")
    func madeLater() async throws {
        let server = Server()
        let outbox = OutboxApp(server).connection.outbox
        let item = { @Sendable (id: Int64, acted: Int64?) in
            OutboxItem(
                id: id, stream: "nobody", command: "RaiseAlert", acted: .now, lifetime: .hours(1),
                actedAtServer: acted.map { Instant(microseconds: $0) }, account: Server.account, edit: Data(),
                order: "alert")
        }
        outbox.change { state in state.madeUnread = ["alert": item(5, nil)] }
        await outbox.restore([item(3, nil), item(7, nil)], of: Server.account)
        #expect(outbox.items.value.map(\.id) == [7])
        // The device's clock was set back meanwhile.
        let second = OutboxApp(Server()).connection.outbox
        second.change { state in state.madeUnread = ["alert": item(5, 50)] }
        await second.restore([item(3, 70), item(7, 30)], of: Server.account)
        #expect(second.items.value.map(\.id) == [3])
        // Of what was made at the same time, the numbers say it.
        let third = OutboxApp(Server()).connection.outbox
        third.change { state in state.madeUnread = ["alert": item(5, 50)] }
        await third.restore([item(3, 50), item(7, 50)], of: Server.account)
        #expect(third.items.value.map(\.id) == [7])
    }

    @Test("what is just being kept isn't taken for another process's, and keeps its place among the others (F9)")
    func adding() {
        var state = Outbox.State()
        let item = { (id: Int64) in
            OutboxItem(
                id: id, stream: "contacts", command: "SendPing", acted: .now, lifetime: .hours(1), actedAtServer: .now,
                edit: Data())
        }
        for id in [10, 9, 10] as [Int64] { state.take(item(id)) }
        #expect(state.items.map(\.id) == [9, 10])
    }

    @Test("without a store and without anybody who runs it, no change is promised to be sent (F9, S22)")
    func noPromise() async throws {
        let server = Server()
        server.goOffline()
        let widget = OutboxApp(server)
        let outbox = widget.connection.outbox
        await #expect(throws: QuartetError.offline) {
            try await server.passingTime { try await widget.user.raiseAlert() }
        }
        #expect(widget.user.user.alertRaised == nil && outbox.items.value.isEmpty)
        #expect(outbox.unsent.value.map(\.command) == ["RaiseAlert"])
        // Who has called for help has called for it.
        let call = Task { try await widget.user.raiseAlert() }
        await outbox.items.values.wait { $0.count == 1 }
        call.cancel()
        await #expect(throws: QuartetError.willBeSentWhenOnline) { try await call.value }
        #expect(outbox.items.value.count == 1)
    }

    @Test("a call for help that is made before the connection runs is sent by it (F9, R12)")
    func runsLater() async throws {
        let server = Server()
        server.transport.answer { request in
            if case .command = request.endpoint { throw TransportError.unreachable("no network") }
            return try server.answer(request)
        }
        let app = OutboxApp(server)
        let call = Task { try await app.user.raiseAlert() }
        await app.connection.outbox.items.values.wait { $0.count == 1 }
        try await app.connected(server) { _ in
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await server.passingTime { try await call.value }
            }
            #expect(app.connection.outbox.items.value.count == 1)
            server.goOnline()
            app.connection.outbox.retry()
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            #expect(Set(server.commands.map(\.name)) == ["RaiseAlert"])
        }
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

extension Result where Failure == QuartetError {
    fileprivate var isCancelled: Bool { if case .failure(.cancelled) = self { true } else { false } }
}
