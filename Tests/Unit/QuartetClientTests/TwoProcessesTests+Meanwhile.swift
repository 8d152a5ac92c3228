import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetSessionContract
import QuartetStorage
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

/// What becomes of changes that somebody else sends, decides or drops while a slow disk is still at them.
extension TwoProcessesTests {
    private static func call(_ id: OutboxItem.ID = 1, _ command: String = "RaiseAlert") -> OutboxItem {
        OutboxItem(
            id: id, stream: "nobody", command: command, acted: .now, lifetime: .hours(1), actedAtServer: nil,
            account: Server.account, edit: Data())
    }

    /// The same as one that is sent under a key of its own.
    private static func sent(_ item: OutboxItem) -> OutboxItem {
        var sent = item
        (sent.key, sent.body) = (RequestKey(.new()), Data("{}".utf8))
        return sent
    }

    /// How a process learns that another one has ended an item.
    enum Learning: CaseIterable {
        case looking, sending
    }

    @Test(
        "what another process has told of a call for help stays where one takes in the card that had planned to tell (F9, S22)",
        arguments: Learning.allCases)
    func toldElsewhere(how: Learning) async throws {
        try await Self.withFile { file in
            let server = Server()
            let app = try Self.process(server, file)
            let outbox = app.connection.outbox
            server.goOffline()
            await Self.keeps(server) { try await app.user.raiseAlert() }
            let call = try #require(outbox.items.value.first)
            let surroundings = ScriptedSurroundings()
            let notices = UnsentNotices(surroundings, of: outbox, connection: "default")
            let following = Task { await notices.follow() }
            try await surroundings.shown.wait("a plan") { $0[call.id] }
            following.cancel()
            await following.value
            await notices.update().value
            let store = try DatabaseStore(file)
            var card = try #require(try await store.load(Server.account).items.first)
            let update = StoreUpdate(
                .end, by: "other", of: card, decision: OutboxDecision(.failure(.expired)).encoded)
            (card.unsent, card.lifetime) = (.expired, .seconds(0))
            #expect(try await store.update(card, update, of: Server.account) == .done)
            await surroundings.tell(UnsentChange(card, .expired), of: "default", after: .zero, isLoud: true)
            let hasCard = Observed<Bool?>(nil)
            outbox.noteCard(of: call.id, in: hasCard)
            switch how {
            case .looking: await outbox.takeInOthers(isCertain: true)
            case .sending: try await outbox.write(Self.sent(call), .prepare)
            }
            await notices.update().value
            #expect(hasCard.value == true && outbox.items.value.isEmpty)
            #expect(outbox.unsent.value.map(\.reason) == [.expired])
            #expect(surroundings.shown.value[call.id]?.delay == .zero)
        }
    }

    @Test(
        "an edit that another process overtakes, which joins what came before it, shows, and is sent after that (S20, R11)"
    )
    func overtaken() async throws {
        try await Self.withFile { file in
            let server = Server()
            let store = FailingSharedStore(try DatabaseStore(file))
            let app = OutboxApp(server, store, tokens: server.tokens, time: Self.time(server))
            let other = try Self.process(server, file)
            let outbox = app.connection.outbox
            try await app.offline(server) {
                server.goOffline()
                await Self.keeps(server) { try await JoiningTests.edit(app.user, note: "1") }
                let first = try #require(outbox.items.value.first)
                let gate = Gate()
                let adds = Observed(0)
                store.beforeWrite.withLock {
                    $0 = { write in
                        guard write == .add else { return }
                        adds.update { $0 += 1 }
                        await gate.pass()
                    }
                }
                let second = Task { try await JoiningTests.edit(app.user, note: "2") }
                try await gate.reached()
                server.clock.advance(by: .milliseconds(1))
                try await other.connection.restore()
                await Self.keeps(server) { try await JoiningTests.edit(other.user, name: "Cleo") }
                let joined = try #require(other.connection.outbox.items.value.last)
                #expect(joined.id > first.id && String(decoding: joined.edit, as: UTF8.self).contains("1"))
                gate.open()
                await outbox.items.values.wait { items in items.contains { $0.id > joined.id } }
                #expect(app.user.user.emergencyNote == "2")
                await Self.keeps(server) { try await second.value }
                server.goOnline()
                outbox.retry()
                await server.passTime { outbox.items.value.isEmpty }
                let end = try JoiningTests.profile(after: server.commands.map(\.body))
                #expect(end == ("Cleo", "2") && outbox.items.value.isEmpty && adds.value == 2)
            }
        }
    }

    @Test("an edit that is overtaken each time gets a number that no other process has come to, and is kept (R11)")
    func overtakenAgain() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (store, other) = (FailingSharedStore(try DatabaseStore(file)), try DatabaseStore(file))
            var time = Self.time(server)
            let now = time.wall()
            time.wall = { now }
            let app = OutboxApp(server, store, tokens: server.tokens, time: time)
            _ = try await other.load(Server.account)
            try await app.offline(server) {
                server.goOffline()
                await Self.keepsAtOnce { try await JoiningTests.edit(app.user, note: "1") }
                let first = try #require(app.connection.outbox.items.value.first)
                let tries = Observed(0)
                let latest = Mutex(first.id)
                store.beforeWrite.withLock {
                    $0 = { write in
                        guard write == .add else { return }
                        tries.update { $0 += 1 }
                        // Somebody types: each edit joins the one before it, some time later.
                        var numbers = Outbox.State()
                        numbers.last = latest.withLock { $0 }
                        let number = numbers.makeNumber(now + Interval(.milliseconds(600 * tries.value)))
                        try? await other.remove(latest.withLock { $0 }, of: Server.account)
                        try? await other.save(first.numbered(number), of: Server.account)
                        latest.withLock { $0 = number }
                    }
                }
                await Self.keeps(server) { try await JoiningTests.edit(app.user, note: "2") }
                #expect(tries.value == 3 && app.user.user.emergencyNote == "2")
            }
        }
    }

    @Test("what a sign-out dropped before its turn came isn't kept once its person is signed in again (F9, S17)")
    func droppedMeanwhile() async throws {
        try await Self.withSlowDisk { server, store, app, _ in
            let outbox = app.connection.outbox
            server.goOffline()
            let gate = store.stops { $0 == .remove }
            let removing = Task { try await outbox.store.remove(1, of: Server.account) }
            try await gate.reached()
            let clearing = Task { try await app.user.clearAlert() }
            while outbox.state.withLock({ $0.adding.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
            outbox.reset()
            let added = Observed(0)
            let count: @Sendable (FailingSharedStore.Write) async -> Void = { write in
                if write == .add { added.update { $0 += 1 } }
            }
            store.beforeWrite.withLock { $0 = count }
            gate.open()
            try await removing.value
            // It is kept once more for whoever is signed in, as a change of theirs.
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await clearing.value }
            #expect(added.value == 1)
        }
    }

    @Test(
        "what a slow disk came to late isn't taken back once another process has sent it, or the server has accepted it (F9)",
        arguments: [false, true])
    func takenBackElsewhere(isAccepted: Bool) async throws {
        try await Self.withFile { file in
            let app = try Self.process(Server(), file)
            let (outbox, other) = (app.connection.outbox, try DatabaseStore(file))
            try await app.connection.restore()
            let call = Self.call()
            var theirs = Self.sent(call)
            if isAccepted { theirs.accepted = .new() }
            try await other.save(theirs, of: Server.account)
            // It isn't known here yet that the device has it.
            outbox.change { $0.take(call, isKept: false) }
            let isTakenBack = try await outbox.cancel(call.id)
            #expect(!isTakenBack)
            #expect(outbox.items.value.map(\.isSent) == (isAccepted ? [] : [true]))
            #expect(outbox.state.withLock { $0.accepted[call.id] != nil } == isAccepted)
            let stored = try await other.load(Server.account).items
            #expect(stored.map(\.accepted) == [theirs.accepted] && stored.allSatisfy(theirs.isSame))
        }
    }

    @Test("what was sent from memory in vain is taken back though a slow disk is still to write it as sent (F9, S21)")
    func takenBackUnwritten() async throws {
        try await Self.withSlowDisk { server, store, app, kept in
            let gate = store.stops { $0 == .add }
            try await Self.raises(app, server, .overloaded, until: gate)
            try await Self.takesBack(app, opening: gate)
            try await Self.waitForDisk(app)
            #expect(app.connection.outbox.items.value.isEmpty)
            let stored = try await kept()
            #expect(stored.isEmpty)
        }
    }

    @Test("what another process has sent while the disk was slow is sent from here, too, and nothing else (F9, S24)")
    func preparedElsewhere() async throws {
        try await Self.withSlowDisk { server, store, app, kept in
            let outbox = app.connection.outbox
            let call = Self.call()
            let (mine, theirs) = (Self.sent(call), Self.sent(call))
            let saving = outbox.store.save(
                call, joined: nil, own: { [] }, replacing: { [:] }, then: { _, _ in }, orAfter: { _ in call })
            _ = try await saving.value.get()
            outbox.change { $0.take(call) }
            let gate = store.stops { $0 == .update(.prepare) }
            let preparing = Task { try await outbox.prepared(mine, of: nil) }
            try await gate.reached()
            try await store.save(theirs, of: Server.account)
            // It is taken in before the disk stops.
            outbox.change { $0.take(theirs) }
            server.clock.advance(by: .seconds(1))
            let outcome = try await preparing.value
            #expect(outcome == .other(theirs) && outbox.items.value == [theirs])
            gate.open()
            try await Self.waitForDisk(app)
            let stored = try await kept()
            #expect(outbox.items.value.count == 1 && outbox.items.value.allSatisfy(theirs.isSame))
            #expect(stored.count == 1 && stored.allSatisfy(theirs.isSame))
        }
    }

    @Test(
        "how a call for help ended while a slow disk gave its place to an all-clear is on the device then (F9, S22)",
        arguments: [false, true])
    func endedMeanwhile(isAccepted: Bool) async throws {
        try await Self.withSlowDisk { server, store, app, kept in
            let outbox = app.connection.outbox
            await Self.raises(app, server, .overloaded)
            let call = try #require(outbox.items.value.first)
            let gate = store.stops { $0 == .add }
            let clearing = Task { try await app.user.clearAlert() }
            try await gate.reached()
            let command = CommandID.new()
            let raised = AlertRaised(
                account: Server.account, alarm: AlarmID(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0000_0007),
                at: Instant(microseconds: 3))
            let reply: Result<[UInt8], APIError> =
                isAccepted ? .success(Server.accepted(command, event: raised)) : .failure(APIError(.pingsOff))
            let events = outbox.events
            // The all-clear waits for its answer.
            server.state.withLock { $0.replies = [reply, .failure(APIError(.databaseUnavailable, retryAfter: 5))] }
            outbox.retry()
            while outbox.state.withLock({ !$0.isKeptAsSent(call.id) }) { try await Task.sleep(for: .milliseconds(1)) }
            server.clock.advance(by: .seconds(1))
            await #expect(throws: QuartetError.self) { try await clearing.value }
            _ = await events.first { $0.item.id == call.id }
            gate.open()
            try await Self.waitForDisk(app)
            #expect(outbox.unsent.value.map(\.reason) == (isAccepted ? [] : [.refused]))
            let changes = try await store.changes(of: Server.account)
            let decision = try #require(changes.decisions[call.id].flatMap { OutboxDecision($0) })
            if isAccepted {
                #expect(try decision.result.get().command == command)
            } else {
                #expect(changes.items.first { $0.id == call.id }?.unsent == .refused)
                #expect(decision.result == .failure(.refused(APIError(.pingsOff))))
            }
        }
    }

    @Test("a call for help superseded on a full disk says so, and is known to have no card there (F9, S22)")
    func supersededUnkept() async throws {
        try await Self.withSlowDisk { server, store, app, _ in
            let outbox = app.connection.outbox
            server.goOffline()
            await Self.keepsAtOnce { try await app.user.raiseAlert() }
            let call = try #require(outbox.items.value.first)
            store.fails { _ in true }
            await Self.keepsAtOnce { try await app.user.clearAlert() }
            #expect(outbox.unsent.value.map(\.reason) == [.superseded])
            #expect(outbox.state.withLock { $0.unkept.keys.contains(call.id) })
        }
    }

    @Test("what is sent doesn't wait until a slow disk has kept the card of what it took the place of (F9, S22)")
    func sentBeforeCard() async throws {
        try await Self.withSlowDisk { _, store, app, _ in
            let outbox = app.connection.outbox
            let call = Self.call()
            var later = Self.call(2, "ClearAlert")
            later.replaced = [.init(id: call.id, command: call.command)]
            outbox.change { [later] state in
                state.unkept[call.id] = call
                state.take(later, isKept: false)
            }
            outbox.cards.show(call, .superseded)
            let gate = store.stops { $0 == .update(.end) }
            let preparing = Task { [later] in try await outbox.prepared(Self.sent(later), of: nil) }
            try await gate.reached()
            for _ in 0..<5000 where !outbox.items.value.contains(where: \.isSent) {
                try await Task.sleep(for: .milliseconds(1))
            }
            #expect(outbox.items.value.map(\.isSent) == [true])
            gate.open()
            let outcome = try await preparing.value
            #expect(outcome == .done)
            try await Self.waitForDisk(app)
            #expect(outbox.unsent.value.map(\.reason) == [.superseded])
        }
    }

    @Test(
        "a card that a full disk couldn't keep is kept with what took its place, unless somebody has read it (F9)",
        arguments: [(false, false), (true, false), (false, true), (true, true)])
    func cardKeptLater(isTakenBack: Bool, isRead: Bool) async throws {
        try await Self.withFile { file in
            let server = Server()
            let app = try Self.process(server, file)
            let (outbox, other) = (app.connection.outbox, try DatabaseStore(file))
            try await app.connection.restore()
            let call = Self.call()
            try await other.save(call, of: Server.account)
            var later = Self.call(2, "ClearAlert")
            later.replaced = [.init(id: call.id, command: call.command)]
            outbox.change { [later] state in
                state.unkept[call.id] = call
                state.take(later, isKept: false)
            }
            outbox.cards.show(call, .superseded)
            if isRead { try await outbox.markRead(call.id) }
            if isTakenBack { #expect(try await outbox.cancel(later.id)) } else { await outbox.catchUp() }
            #expect(outbox.unsent.value.map(\.reason) == (isRead ? [] : [.superseded]))
            let next = try Self.process(server, file)
            try await next.connection.restore()
            #expect(next.connection.outbox.unsent.value.map(\.reason) == (isRead ? [] : [.superseded]))
            #expect(next.connection.outbox.items.value.map(\.id) == (isTakenBack ? [] : [later.id]))
        }
    }
}
