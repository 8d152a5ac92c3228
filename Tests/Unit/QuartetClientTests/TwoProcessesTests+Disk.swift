import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetStorage
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

/// What a process makes of its changes where the disk is slow or fails at that moment.
extension TwoProcessesTests {
    @Test(
        "a call for help that is being taken back isn't sent from memory meanwhile: it goes, or stays as it is (F9, S21)"
    )
    func cancellingSlowly() async throws {
        try await Self.withFile { file in
            let server = Server()
            let store = FailingSharedStore(try DatabaseStore(file))
            let app = OutboxApp(server, store, tokens: server.tokens, time: Self.time(server))
            let widget = try Self.process(server, file)
            server.goOffline()
            await Self.keeps(server) { try await widget.user.raiseAlert() }
            while try await DatabaseStore(file).load(Server.account).items.isEmpty {
                try await Task.sleep(for: .milliseconds(1))
            }
            try await app.connection.restore()
            let outbox = app.connection.outbox
            var call = try #require(outbox.items.value.first)
            _ = call.key.minted(at: Self.time(server).wall())
            call.body = Data("{}".utf8)
            let gate = store.stops { $0 == .end }
            let cancelling = Task { [call] in try await outbox.cancel(call.id) }
            try await gate.reached()
            // The disk is at that for longer than a call for help waits.
            await #expect(throws: QuartetError.self) {
                try await server.passingTime { [call] in _ = try await outbox.prepared(call, of: nil) }
            }
            #expect(outbox.items.value.map(\.canCancel) == [true])
            gate.open()
            #expect(try await cancelling.value)
            #expect(outbox.items.value.isEmpty && outbox.state.withLock { $0.cancelling.isEmpty })
            #expect(try await DatabaseStore(file).load(Server.account).items.isEmpty)
        }
    }

    @Test(
        "what the device still has as sent, since it couldn't write more, is neither joined nor replaced (F9, R12, P33)"
    )
    func keptAsSent() async throws {
        try await Self.withFile { file in
            let server = Server()
            let store = FailingSharedStore(try DatabaseStore(file))
            let app = OutboxApp(server, store, tokens: server.tokens, time: Self.time(server))
            let outbox = app.connection.outbox
            try await app.offline(server) {
                server.goOffline()
                store.fails { $0 == .update(.unsend) }
                // While no time passes, each call ends with the only attempt that there is, and nothing is on its way after that.
                await Self.keepsAtOnce { try await JoiningTests.edit(app.user, note: "one") }
                await Self.keepsAtOnce { try await app.user.raiseAlert() }
                #expect(outbox.items.value.map(\.canCancel) == [true, true])
                let kept = try await DatabaseStore(file).load(Server.account).items
                #expect(kept.map(\.isSent) == [true, true])
                await Self.keepsAtOnce { try await JoiningTests.edit(app.user, name: "two") }
                await Self.keepsAtOnce { try await app.user.clearAlert() }
                let commands = ["UpdateProfile", "RaiseAlert", "UpdateProfile", "ClearAlert"]
                #expect(outbox.items.value.map(\.command) == commands && outbox.unsent.value.isEmpty)
                // The same where nothing can be written any more.
                store.fails { _ in true }
                await Self.keepsAtOnce { try await app.user.clearAlert() }
                #expect(outbox.items.value.map(\.command) == commands)
            }
        }
    }

    @Test("an edit that couldn't be written as sent goes once another process has joined it (F9, P33)")
    func joinedUnwritten() async throws {
        try await Self.withFile { file in
            let server = Server()
            let store = FailingSharedStore(try DatabaseStore(file))
            let app = OutboxApp(server, store, tokens: server.tokens, time: Self.time(server))
            let other = try Self.process(server, file)
            let outbox = app.connection.outbox
            try await app.offline(server) {
                store.fails { $0 == .update(.prepare) }
                await Self.keeps(server) { try await JoiningTests.edit(app.user, note: "one") }
                let first = try #require(outbox.items.value.first)
                // The device has it all the same.
                #expect(outbox.state.withLock { $0.kept[first.id]?.has(first) == true && !$0.isNew(first.id) })
                server.goOffline()
                try await other.connection.restore()
                await Self.keeps(server) { try await JoiningTests.edit(other.user, name: "two") }
                let end = server.clock.now + .seconds(10)
                await server.passTime {
                    !outbox.items.value.contains { $0.id == first.id } || server.clock.now > end
                }
                let kept = try await DatabaseStore(file).load(Server.account).items
                #expect(kept.count == 1 && outbox.items.value.map(\.id) == kept.map(\.id))
                store.fails { _ in false }
                let before = server.commands.count
                server.goOnline()
                outbox.retry()
                await server.passTime { outbox.items.value.isEmpty || server.clock.now > end + .seconds(60) }
                let sent = server.commands.dropFirst(before).map(\.body)
                #expect(try sent.count == 1 && JoiningTests.profile(after: sent) == ("two", "one"))
            }
        }
    }

    @Test("nothing is left to be written of what another process has joined (F9, P33)")
    func joinedUnsaved() {
        let outbox = OutboxApp(Server()).connection.outbox
        let item = OutboxItem(
            id: 1, stream: "contacts", command: "SendPing", acted: .now, lifetime: .hours(1), actedAtServer: .now,
            edit: Data())
        var sent = item
        sent.body = Data()
        outbox.change { [sent] state in
            state.take(sent)
            state.kept[item.id]?.last = item
        }
        let isUnsaved = { [sent] in outbox.state.withLock { $0.isUnsaved(sent) } }
        let joined = StoreUpdate.Outcome.gone(OutboxDecision(joinedBy: 2).encoded)
        // Whoever is signed in by now has nothing of it.
        outbox.note(joined, of: item, .prepare, unlessDroppedSince: 1)
        #expect(isUnsaved())
        outbox.note(joined, of: item, .prepare, unlessDroppedSince: 0)
        #expect(!isUnsaved())
    }

    @Test(
        "a call for help whose place one takes that is just being kept is left to that, which shows its card (F9, S22)")
    func beingReplaced() {
        let outbox = OutboxApp(Server()).connection.outbox
        let item = OutboxItem(
            id: 1, stream: "nobody", command: "RaiseAlert", acted: .now, lifetime: .hours(1), actedAtServer: .now,
            edit: Data())
        outbox.change { state in
            state.take(item)
            state.replacing = [item.id]
        }
        let superseded = StoreUpdate.Outcome.gone(OutboxDecision(.failure(.superseded)).encoded)
        outbox.note(superseded, of: item, .prepare, unlessDroppedSince: 0)
        #expect(outbox.items.value.map(\.id) == [item.id])
        // What became of it otherwise is so.
        outbox.note(.gone(OutboxDecision(.failure(.cancelled)).encoded), of: item, .prepare, unlessDroppedSince: 0)
        #expect(outbox.items.value.isEmpty)
        outbox.change { state in
            state.take(item)
            state.replacing = []
        }
        outbox.note(superseded, of: item, .prepare, unlessDroppedSince: 0)
        #expect(outbox.items.value.isEmpty)
    }

    @Test(
        "a call for help that ends since there is a later one isn't taken in again while it can't be removed (F9, R12)")
    func notTakenInAgain() async throws {
        try await Self.withFile { file in
            let server = Server()
            let widget = try Self.process(server, file)
            server.goOffline()
            await Self.keeps(server) { try await widget.user.raiseAlert() }
            let call = try #require(widget.connection.outbox.items.value.first)
            let store = FailingSharedStore(try DatabaseStore(file))
            let app = OutboxApp(server, store, tokens: server.tokens, time: Self.time(server))
            let outbox = app.connection.outbox
            let later = OutboxItem(
                id: call.id + 1, stream: call.stream, command: "ClearAlert", acted: .now, lifetime: .hours(1),
                actedAtServer: nil, account: Server.account, edit: Data(), order: call.order)
            outbox.change { state in state.madeUnread = [call.lane: later] }
            store.fails { _ in true }
            try await app.connection.restore()
            #expect(outbox.items.value.isEmpty)
            await outbox.takeInOthers(isCertain: true)
            #expect(outbox.items.value.isEmpty)
            store.fails { _ in false }
            await outbox.forgetLeftovers()
            await outbox.takeInOthers(isCertain: true)
            #expect(outbox.items.value.isEmpty && outbox.state.withLock { $0.over.isEmpty })
        }
    }

    @Test("what a copy couldn't end since another process had kept a newer one is ended by a later one (F9, S22)")
    func outdated() async throws {
        try await Self.withFile { file in
            let server = Server()
            let app = try Self.process(server, file)
            let ping = PingSent(account: Server.account, contact: OutboxApp.one, at: Instant(microseconds: 3))
            let command = CommandID.new()
            try await app.connected(server) { stream in
                while !app.connection.copies.hasKept("contacts") { try await Task.sleep(for: .milliseconds(1)) }
                // Another process writes its own, of about the same time.
                let other = try DatabaseStore(file)
                let copy = try #require(
                    try await other.load(Server.account).copies.first { $0.sequence == "contacts" })
                try await other.save([copy], finishing: [], of: Server.account)
                server.state.withLock { $0.replies = [.success(Server.accepted(command, event: ping))] }
                try await app.contacts.sendPing(OutboxApp.one)
                try stream.send(ping, at: 11, by: command)
                await app.contacts.contacts.values.wait { $0.lastSync != nil }
                app.connection.keepCopies(server.clock.now, atOnce: true)
                await app.connection.copies.finish()
                #expect(try await other.load(Server.account).items.count == 1)
                server.clock.advance(by: .seconds(11))
                stream.send(.heartbeat())
                while app.connection.core.withLock({ $0.heard }) < server.clock.now {
                    try await Task.sleep(for: .milliseconds(1))
                }
                app.connection.keepCopies(server.clock.now, atOnce: true)
                await app.connection.copies.finish()
                #expect(try await other.load(Server.account).items.isEmpty)
            }
        }
    }

    @Test("a copy of which another process has a newer one doesn't keep the others from being written (F9, S22)")
    func outdatedAlone() async throws {
        try await Self.withFile { file in
            let (one, other) = (try DatabaseStore(file), try DatabaseStore(file))
            let store = AccountStore(one, nil)
            _ = try await store.open(Server.account)
            let time = Instant(microseconds: 1_800_000_000_000_000)
            let theirs = LocalCopy(sequence: "contacts", place: "theirs", state: Data(), asOf: time)
            try await other.save([theirs], finishing: [], of: Server.account)
            let finished = Mutex<[OutboxItem.ID: Bool]>([:])
            let keeper = CopyKeeper(store, nil) { ids, isWritten in
                finished.withLock { finished in for id in ids { finished[id] = isWritten } }
            }
            for (sequence, id) in [("account", 1), ("contacts", 2), ("notifications", 3)] as [(String, Int64)] {
                keeper.keep(
                    CopyKeeper.Pending(
                        account: Server.account, sequence: sequence, place: "own", asOf: time, encode: { Data() },
                        finished: [id]))
            }
            await keeper.finish()
            let kept = try await other.load(Server.account).copies
            #expect(
                Dictionary(kept.map { ($0.sequence, $0.place) }) { $1 }
                    == ["account": "own", "contacts": "theirs", "notifications": "own"])
            #expect(finished.withLock { $0 } == [1: true, 2: false, 3: true])
            #expect(["account", "contacts", "notifications"].map(keeper.hasKept) == [true, false, true])
        }
    }

    @Test("taking back an all-clear that couldn't be written leaves the call for help before it as it waits (F9, S21)")
    func takenBackAlone() async throws {
        try await Self.withFile { file in
            let server = Server()
            let store = FailingSharedStore(try DatabaseStore(file))
            let app = OutboxApp(server, store, tokens: server.tokens, time: Self.time(server))
            let outbox = app.connection.outbox
            try await app.offline(server) {
                server.goOffline()
                store.fails { $0 == .update(.unsend) }
                await Self.keepsAtOnce { try await app.user.raiseAlert() }
                store.fails { _ in true }
                await Self.keepsAtOnce { try await app.user.clearAlert() }
                #expect(outbox.items.value.map(\.command) == ["RaiseAlert", "ClearAlert"])
                store.fails { _ in false }
                #expect(try await outbox.cancel(try #require(outbox.items.value.last).id))
                await outbox.takeInOthers(isCertain: true)
                let call = try #require(outbox.items.value.first)
                #expect(outbox.items.value.map(\.command) == ["RaiseAlert"] && outbox.unsent.value.isEmpty)
                let changes = try await DatabaseStore(file).changes(of: Server.account)
                #expect(changes.ids == [call.id] && changes.decisions[call.id] == nil)
            }
        }
    }

    /// Raises an alert that the server refuses for a while, with a disk that is at it for longer than the call waits for that.
    static func raises(_ app: OutboxApp, _ server: Server, _ code: APIError.Code, until gate: Gate) async throws {
        server.state.withLock { $0.replies = [.failure(APIError(code, retryAfter: 5))] }
        let call = Task { try await app.user.raiseAlert() }
        try await gate.reached()
        server.clock.advance(by: .seconds(1))
        await #expect(throws: QuartetError.self) { try await call.value }
        #expect(app.connection.outbox.items.value.map(\.canCancel) == [true])
    }

    /// Raises an alert that the server refuses for a while, with a disk that does what it is asked for.
    static func raises(_ app: OutboxApp, _ server: Server, _ code: APIError.Code) async {
        server.state.withLock { $0.replies = [.failure(APIError(code, retryAfter: 5))] }
        await #expect(throws: QuartetError.self) { try await app.user.raiseAlert() }
        #expect(app.connection.outbox.items.value.map(\.canCancel) == [true])
    }

    /// Makes a change that is to take the place of a call for help, while the disk still doesn't do anything.
    static func makes(
        _ app: OutboxApp, _ server: Server, _ command: String = "ClearAlert", after commands: [String] = ["RaiseAlert"]
    ) async throws {
        let outbox = app.connection.outbox
        let call = Task {
            if command == "ClearAlert" { try await app.user.clearAlert() } else { try await app.user.raiseAlert() }
        }
        while outbox.state.withLock({ $0.adding.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
        // The call for help isn't tried again before more time has passed.
        server.clock.advance(by: .seconds(1))
        await #expect(throws: QuartetError.self) { try await call.value }
        #expect(outbox.items.value.map(\.command) == commands + [command] && outbox.unsent.value.isEmpty)
    }

    /// Takes the last change back while the disk still doesn't do anything, and has that go on.
    static func takesBack(_ app: OutboxApp, opening gate: Gate) async throws {
        let outbox = app.connection.outbox
        let later = try #require(outbox.items.value.last).id
        let cancelling = Task { try await outbox.cancel(later) }
        await outbox.items.values.wait { items in !items.contains { $0.id == later } }
        gate.open()
        #expect(try await cancelling.value)
    }

    /// Waits until a call for help that was sent from memory has got an answer that says nothing.
    static func waitForAnswer(_ app: OutboxApp, _ server: Server) async throws {
        while true {
            let call = try #require(app.connection.outbox.items.value.first)
            let isResting = app.connection.outbox.state.withLock {
                $0.schedule.rest(of: call, now: server.clock.now) != nil
            }
            if call.isSent, isResting { return }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Waits until the disk has done everything that nobody waits for any more, and takes in what it has then.
    static func waitForDisk(_ app: OutboxApp) async throws {
        let outbox = app.connection.outbox
        while outbox.state.withLock({ !$0.slow.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
        await outbox.takeInOthers(isCertain: true)
    }

    static func withSlowDisk(
        _ body:
            @Sendable (Server, FailingSharedStore, OutboxApp, @Sendable () async throws -> [OutboxItem]) async throws
            -> Void
    ) async throws {
        try await withFile { file in
            let server = Server()
            let store = FailingSharedStore(try DatabaseStore(file))
            let app = OutboxApp(server, store, tokens: server.tokens, time: time(server))
            try await app.offline(server) {
                try await body(server, store, app) { try await DatabaseStore(file).load(Server.account).items }
            }
        }
    }

    @Test(
        "a call for help that keeps its place on a slow disk has it also once that goes on, sent meanwhile or not (F9)",
        arguments: [(StoreUpdate.Step.prepare, false), (.unsend, false), (.unsend, true)])
    func keepsItsPlace(stoppedAt step: StoreUpdate.Step, isSent: Bool) async throws {
        try await Self.withSlowDisk { server, store, app, kept in
            let outbox = app.connection.outbox
            let gate = store.stops { $0 == .update(step) }
            try await Self.raises(app, server, .overloaded, until: gate)
            try await Self.makes(app, server)
            if isSent {
                server.state.withLock { $0.replies = [.failure(APIError(.databaseUnavailable, retryAfter: 5))] }
                outbox.retry()
                try await Self.waitForAnswer(app, server)
            }
            gate.open()
            try await Self.waitForDisk(app)
            let commands = ["RaiseAlert", "ClearAlert"]
            #expect(outbox.items.value.map(\.command) == commands && outbox.unsent.value.isEmpty)
            let stored = try await kept()
            #expect(stored.map(\.command) == commands && stored.map(\.isSent) == [isSent, false])
            #expect(stored.allSatisfy { !$0.isOver })
        }
    }

    @Test(
        "a call for help stays though a slow disk comes late to what was to take its place and was taken back (F9, S21)",
        arguments: ["RaiseAlert", "ClearAlert"])
    func takenBackLate(command: String) async throws {
        try await Self.withSlowDisk { server, store, app, kept in
            let outbox = app.connection.outbox
            let gate = store.stops { $0 == .update(.unsend) }
            try await Self.raises(app, server, .overloaded, until: gate)
            try await Self.makes(app, server, command)
            let call = try #require(outbox.items.value.first)
            try await Self.takesBack(app, opening: gate)
            try await Self.waitForDisk(app)
            #expect(outbox.items.value.map(\.id) == [call.id] && outbox.unsent.value.isEmpty)
            let stored = try await kept().map(\.id)
            #expect(stored == [call.id])
        }
    }

    @Test(
        "a call for help whose place an all-clear took on a slow disk says so, though that was taken back (F9, S22)",
        arguments: [false, true])
    func supersededSlowly(isTakenBack: Bool) async throws {
        try await Self.withSlowDisk { server, store, app, kept in
            let outbox = app.connection.outbox
            await Self.raises(app, server, .overloaded)
            let gate = store.stops { $0 == .add }
            try await Self.makes(app, server, after: [])
            if isTakenBack { try await Self.takesBack(app, opening: gate) } else { gate.open() }
            try await Self.waitForDisk(app)
            #expect(outbox.items.value.map(\.command) == (isTakenBack ? [] : ["ClearAlert"]))
            #expect(outbox.items.value.allSatisfy { ($0.replaced ?? []).isEmpty })
            #expect(outbox.unsent.value.map(\.reason) == [.superseded])
            let reasons = try await kept().map(\.unsent)
            #expect(reasons == (isTakenBack ? [.superseded] : [.superseded, nil]))
        }
    }

    @Test("a call for help that is sent while a slow disk gives its place to an all-clear has it again (F9, S24)")
    func sentWhileReplaced() async throws {
        try await Self.withSlowDisk { server, store, app, kept in
            let outbox = app.connection.outbox
            await Self.raises(app, server, .overloaded)
            let call = try #require(outbox.items.value.first)
            let gate = store.stops { $0 == .add }
            let clearing = Task { try await app.user.clearAlert() }
            try await gate.reached()
            server.state.withLock { $0.replies = [.failure(APIError(.databaseUnavailable, retryAfter: 5))] }
            outbox.retry()
            while outbox.state.withLock({ !$0.isKeptAsSent(call.id) }) { try await Task.sleep(for: .milliseconds(1)) }
            // Neither of them waits for the disk any more.
            server.clock.advance(by: .seconds(1))
            await #expect(throws: QuartetError.self) { try await clearing.value }
            try await Self.waitForAnswer(app, server)
            gate.open()
            try await Self.waitForDisk(app)
            let commands = ["RaiseAlert", "ClearAlert"]
            #expect(outbox.items.value.map(\.command) == commands && outbox.unsent.value.isEmpty)
            let stored = try await kept()
            #expect(stored.map(\.command) == commands && stored.map(\.isSent) == [true, false])
        }
    }

    @Test("what ends as a card while a slow disk is to give its place to a later one keeps that card (F9, S22)")
    func endedWhileReplaced() async throws {
        try await Self.withSlowDisk { server, store, app, kept in
            let outbox = app.connection.outbox
            await Self.raises(app, server, .overloaded)
            let gate = store.stops { $0 == .remove }
            let removing = Task { try await outbox.store.remove(1, of: Server.account) }
            try await gate.reached()
            let clearing = Task { try await app.user.clearAlert() }
            while outbox.state.withLock({ $0.adding.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
            let waiting = try #require(outbox.items.value.first)
            let (taken, resets) = (outbox.take(waiting.id) { _ in true }, outbox.state.withLock { $0.resets })
            let call = try #require(taken)
            let ending = Task { await outbox.endUnsent(call, .expired, unlessDroppedSince: resets) }
            while !outbox.cards.hasKept(call.id) { try await Task.sleep(for: .milliseconds(1)) }
            gate.open()
            try await removing.value
            await #expect(throws: QuartetError.self) { try await clearing.value }
            let outcome = await ending.value
            #expect(outcome == .done && outbox.unsent.value.map(\.reason) == [.expired])
            let stored = try await kept()
            #expect(stored.map(\.command) == ["RaiseAlert", "ClearAlert"] && stored.map(\.unsent) == [.expired, nil])
        }
    }

    @Test("what couldn't be written is on the device once that can write, though it waits behind another (F9, S22)")
    func writtenWhileWaiting() async throws {
        try await Self.withSlowDisk { server, store, app, kept in
            server.goOffline()
            store.fails { $0 == .update(.unsend) }
            await Self.keepsAtOnce { try await app.user.raiseAlert() }
            store.fails { _ in true }
            await Self.keepsAtOnce { try await app.user.clearAlert() }
            let before = try await kept().map(\.command)
            #expect(before == ["RaiseAlert"])
            store.fails { _ in false }
            app.connection.outbox.retry()
            while try await kept().count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    @Test("what another process may be sending isn't made unsent by what is left to be written here (F9, S24)")
    func leftToBeWritten() async throws {
        try await Self.withFile { file in
            let app = try Self.process(Server(), file)
            let (outbox, other) = (app.connection.outbox, try DatabaseStore(file))
            let item = OutboxItem(
                id: 1, stream: "nobody", command: "RaiseAlert", acted: .now, lifetime: .hours(1), actedAtServer: nil,
                account: Server.account, edit: Data())
            var sent = item
            sent.body = Data()
            try await other.save(sent, of: Server.account)
            try await app.connection.restore()
            // It couldn't be written here that it isn't sent.
            outbox.change { $0.items = [item] }
            await outbox.catchUp()
            #expect(outbox.items.value.map(\.isSent) == [true])
            #expect(try await other.load(Server.account).items.map(\.isSent) == [true])
        }
    }

    @Test("a store that says that it removed what it wasn't asked to isn't believed (F9)")
    func removedMore() async throws {
        try await Self.withFile { file in
            let shared = FailingSharedStore(try DatabaseStore(file))
            let store = AccountStore(shared, nil)
            _ = try await store.open(Server.account)
            shared.alsoRemoved.withLock { $0 = [1, 3] }
            let item = OutboxItem(
                id: 3, stream: "nobody", command: "ClearAlert", acted: .now, lifetime: .hours(1), actedAtServer: nil,
                account: Server.account, edit: Data())
            let noted = Mutex<Set<OutboxItem.ID>?>(nil)
            let saving = store.save(item, joined: nil, own: { [] }, replacing: { [2: Data()] }) { _, removed in
                noted.withLock { $0 = removed }
            } orAfter: { _ in
                item
            }
            _ = try await saving.value.get()
            #expect(noted.withLock { $0 } == [])
        }
    }

    @Test(
        "what another process has sent stays though what took its place goes, also if the disk fails first (F9, S21)",
        arguments: [false, true])
    func sentElsewhere(failsFirst: Bool) async throws {
        try await Self.withFile { file in
            let server = Server()
            let store = FailingSharedStore(try DatabaseStore(file))
            let app = OutboxApp(server, store, tokens: server.tokens, time: Self.time(server))
            let other = try DatabaseStore(file)
            try await app.connection.restore()
            let calls = [1, 2].map { id in
                OutboxItem(
                    id: id, stream: "nobody", command: "RaiseAlert", acted: .now, lifetime: .hours(1),
                    actedAtServer: nil, account: Server.account, edit: Data())
            }
            var (sent, later) = (calls[0], calls[0])
            sent.body = Data()
            (later.key, later.replaced) = (RequestKey(.new()), calls.map { .init(id: $0.id, command: $0.command) })
            try await other.save(sent, of: Server.account)
            try await other.save(calls[1], of: Server.account)
            store.fails { write in failsFirst && [FailingSharedStore.Write.remove, .end].contains(write) }
            await app.connection.outbox.forgetReplaced(by: later)
            store.fails { _ in false }
            await app.connection.outbox.catchUp()
            let changes = try await other.changes(of: Server.account)
            #expect(changes.ids == [1])
            #expect(changes.decisions == [2: OutboxDecision(.failure(.superseded)).encoded])
        }
    }

    @Test(
        "what the device has as sent keeps its place also while a slow disk is still to write that it isn't (F9, R12)")
    func keptAsSentMeanwhile() async throws {
        try await Self.withSlowDisk { server, store, app, kept in
            let preparing = store.stops { $0 == .update(.prepare) }
            try await Self.raises(app, server, .overloaded, until: preparing)
            let unsending = store.stops { $0 == .update(.unsend) }
            preparing.open()
            // The device has it as sent by then.
            try await unsending.reached()
            try await Self.makes(app, server)
            store.fails { $0 == .update(.unsend) }
            unsending.open()
            try await Self.waitForDisk(app)
            let outbox = app.connection.outbox
            #expect(outbox.items.value.map(\.command) == ["RaiseAlert", "ClearAlert"] && outbox.unsent.value.isEmpty)
            let isSent = try await kept().map(\.isSent)
            #expect(isSent == [true, false])
        }
    }

    @Test("a call for help gets its next key though the disk was slow to write the last one, and failed (F9, S27)")
    func renewedLate() async throws {
        try await Self.withSlowDisk { server, store, app, kept in
            let gate = store.stops { $0 == .update(.prepare) }
            try await Self.raises(app, server, .failed, until: gate)
            store.fails { $0 == .update(.prepare) }
            gate.open()
            try await Self.waitForDisk(app)
            let call = try #require(app.connection.outbox.items.value.first)
            let stored = try await kept()
            #expect(call.failures == 1 && stored.map(\.failures) == [1] && stored.allSatisfy(call.isSame))
        }
    }
}
