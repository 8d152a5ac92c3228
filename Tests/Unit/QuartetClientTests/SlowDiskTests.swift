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

/// A device's disk that does nothing for a while.
private final class SlowStore: LocalStore {
    private let store: InMemoryLocalStore
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]?>(nil)
    /// How much was asked of the disk since it stopped.
    let asked = Observed(0)

    init(_ store: InMemoryLocalStore = InMemoryLocalStore()) {
        self.store = store
    }

    var kept: LocalAccount { store.load(Server.account) }

    func stop() {
        asked.update { $0 = 0 }
        waiting.withLock { $0 = [] }
    }

    /// Does what it was asked for, and stops at what comes next.
    func goOnOnce() {
        let continuations = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting ?? []
        }
        for continuation in continuations { continuation.resume() }
    }

    func goOn() {
        let continuations = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for continuation in continuations { continuation.resume() }
    }

    private func turn() async {
        await withCheckedContinuation { continuation in
            let goesOn = waiting.withLock { waiting in
                waiting?.append(continuation)
                return waiting == nil
            }
            asked.update { $0 += 1 }
            if goesOn { continuation.resume() }
        }
    }

    func load(_ account: AccountID) async -> LocalAccount {
        await turn()
        return store.load(account)
    }

    func save(_ item: OutboxItem, of account: AccountID) async {
        await turn()
        store.save(item, of: account)
    }

    func save(_ item: OutboxItem, replacing others: [OutboxItem.ID], of account: AccountID) async {
        await turn()
        // In an asynchronous function, that is the protocol's own.
        let save: (OutboxItem, [OutboxItem.ID], AccountID) -> Void = store.save(_:replacing:of:)
        save(item, others, account)
    }

    func remove(_ item: OutboxItem.ID, of account: AccountID) async {
        await turn()
        store.remove(item, of: account)
    }

    func save(_ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID) async {
        await turn()
        store.save(copies, finishing: items, of: account)
    }

    func forget(_ account: AccountID) async {
        await turn()
        store.forget(account)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct SlowDiskTests {
    @Test("a call for help waits a second for a disk that has stopped at a check-in, and is then sent (S22, S27)")
    func behindCheckIn() async throws {
        let server = Server()
        let store = SlowStore()
        let app = OutboxApp(server, store)
        try await app.connected(server) { _ in
            store.stop()
            let checkIn = Task { try await server.passingTime { try await app.user.checkIn() } }
            try await store.asked.wait("the check-in is being written") { $0 > 0 ? true : nil }
            try await server.passingTime { try await app.user.raiseAlert() }
            try await checkIn.value
            #expect(Set(server.commands.map(\.name)) == ["CheckIn", "RaiseAlert"])
            // The same for what takes its place at the server.
            try await server.passingTime { try await app.user.clearAlert() }
            #expect(server.commands.last?.name == "ClearAlert")
            #expect(store.kept.items.isEmpty)
            store.goOn()
            try await app.contacts.sendPing(OutboxApp.one)
            #expect(Set(server.commands.map(\.key)).count == 4)
        }
        #expect(store.kept.items.isEmpty)
    }

    @Test("a call for help that couldn't be sent either is on the disk once it goes on, and is sent once (S22, S27)")
    func keptLater() async throws {
        let server = Server()
        let store = SlowStore()
        let app = OutboxApp(server, store)
        try await app.offline(server) {
            server.goOffline()
            store.stop()
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await server.passingTime { try await app.user.raiseAlert() }
            }
            #expect(store.kept.items.isEmpty && app.connection.outbox.items.value.map(\.command) == ["RaiseAlert"])
            store.goOn()
            while store.kept.items.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        }
        // The app is killed.
        server.goOnline()
        let before = server.commands.count
        let second = OutboxApp(server, store)
        try await second.connected(server) { _ in
            await server.passTime { second.connection.outbox.items.value.isEmpty }
            #expect(server.commands.dropFirst(before).map(\.name) == ["RaiseAlert"])
            #expect(Set(server.commands.map(\.key)).count == 1)
        }
    }

    @Test(
        "a call for help whose place an all-clear took while the disk had stopped says so, also after a restart (S22)")
    func cardAfterwards() async throws {
        let server = Server()
        let store = SlowStore()
        let app = OutboxApp(server, store)
        try await app.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            store.stop()
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await server.passingTime { try await app.user.clearAlert() }
            }
            // It is tried meanwhile.
            let before = server.clock.now
            await server.passTime { server.clock.now > before + .seconds(20) }
            store.goOn()
            await app.connection.outbox.unsent.values.wait { !$0.isEmpty }
            server.goOnline()
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            #expect(server.commands.last?.name == "ClearAlert")
        }
        let second = OutboxApp(server, store)
        try await second.connection.restore()
        #expect(second.connection.outbox.items.value.isEmpty)
        #expect(second.connection.outbox.unsent.value.map(\.reason) == [.superseded])
    }

    @Test("taking back an all-clear on a slow disk leaves the card of the call for help whose place it took (S22)")
    func cardOfTakenBack() async throws {
        let server = Server()
        let store = SlowStore()
        let app = OutboxApp(server, store)
        let outbox = app.connection.outbox
        try await app.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            store.stop()
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await server.passingTime { try await app.user.clearAlert() }
            }
            #expect(outbox.items.value.map(\.command) == ["ClearAlert"])
            let clear = try #require(outbox.items.value.first)
            let cancelling = Task { try await outbox.cancel(clear.id) }
            await outbox.items.values.wait { $0.isEmpty }
            store.goOn()
            #expect(try await cancelling.value)
            while outbox.state.withLock({ !$0.slow.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
            #expect(outbox.unsent.value.map(\.reason) == [.superseded])
            #expect(store.kept.items.map(\.unsent) == [.superseded])
        }
    }

    @Test("what is written just while another takes its place isn't left on the device (S22)")
    func writtenWhileReplaced() async throws {
        let server = Server()
        let store = SlowStore()
        let app = OutboxApp(server, store)
        let outbox = app.connection.outbox
        try await app.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            let first = try #require(outbox.items.value.first)
            store.stop()
            let raising = Task { try await app.user.raiseAlert() }
            try await store.asked.wait("the second is being written") { $0 > 0 ? true : nil }
            let writes = outbox.state.withLock { $0.writes }
            let writing = Task { try await outbox.write(first, .renew) }
            while outbox.state.withLock({ $0.writes == writes }) { try await Task.sleep(for: .milliseconds(1)) }
            store.goOn()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await raising.value }
            _ = try await writing.value
            #expect(outbox.items.value.count == 1 && outbox.items.value.first?.id != first.id)
            #expect(store.kept.items.map(\.id) == outbox.items.value.map(\.id))
        }
    }

    @Test(
        "a call for help is sent while the device is still reading what it kept, in an app and in a widget (S22, S27)",
        arguments: [true, false])
    func whileReading(isRunning: Bool) async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let first = OutboxApp(server, store)
        try await first.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await first.contacts.sendPing(OutboxApp.one)
            }
        }
        server.goOnline()
        let before = server.commands.count
        let slow = SlowStore(store)
        slow.stop()
        let app = OutboxApp(server, slow)
        @Sendable func press() async throws {
            try await server.passingTime { try await app.user.raiseAlert() }
            #expect(server.commands.dropFirst(before).map(\.name) == ["RaiseAlert"])
            slow.goOn()
        }
        guard isRunning else { return try await press() }
        try await whileRunning(app.connection) {
            try await slow.asked.wait("it is read") { $0 > 0 ? true : nil }
            try await press()
            await server.passTime { server.commands.count == before + 2 }
            #expect(server.commands.last?.name == "SendPing")
        }
    }

    private static func item(_ id: Int64, _ command: String, _ order: String) -> OutboxItem {
        OutboxItem(
            id: id, stream: "nobody", command: command, acted: .now, lifetime: .hours(1), actedAtServer: nil,
            account: Server.account, edit: Data(), order: order)
    }

    @Test("an older copy is never written over what was prepared since, nor over what was accepted (S22)")
    func olderCopy() async throws {
        let store = InMemoryLocalStore()
        let outbox = OutboxApp(Server(), store).connection.outbox
        _ = try await outbox.store.open(Server.account)
        let ping = Self.item(1, "SendPing", "ping")
        var (sent, accepted) = (ping, ping)
        (sent.key, sent.body) = (RequestKey(.new()), Data("{}".utf8))
        let number = outbox.change { state in
            state.take(ping, isKept: false)
            return state.beginWrite(of: ping)
        }
        // That has its place first, and isn't known here yet.
        try await outbox.write(sent, .prepare)
        try await outbox.write(ping, .renew, begun: number)
        #expect(store.load(Server.account).items == [sent])
        accepted.accepted = .new()
        outbox.change { [accepted] state in
            state.end([ping])
            state.accepted[ping.id] = accepted
        }
        try await outbox.write(ping, .unsend, of: sent)
        #expect(store.load(Server.account).items == [sent])
        try await outbox.write(accepted, .end)
        #expect(store.load(Server.account).items == [accepted])
    }

    @Test("what is sent while a slow disk is still at what was kept before isn't made unsent on the device (S22)")
    func preparedMeanwhile() async throws {
        let server = Server()
        let store = SlowStore()
        let app = OutboxApp(server, store)
        let outbox = app.connection.outbox
        try await app.connection.restore()
        let item = Self.item
        let ping = item(2, "SendPing", "ping")
        outbox.change { state in
            // The device has failed to write it.
            state.take(ping, isKept: false)
            state.madeUnread = ["alert": item(5, "ClearAlert", "alert")]
        }
        store.stop()
        let isRestored = Observed(false)
        let restoring = Task {
            await outbox.restore([item(1, "RaiseAlert", "alert")], of: Server.account)
            isRestored.update { $0 = true }
        }
        try await store.asked.wait("it ends the call for help") { $0 > 0 ? true : nil }
        var sent = ping
        (sent.key, sent.body) = (RequestKey(.new()), Data("{}".utf8))
        let preparing = Task { [sent] in try await outbox.prepared(sent, of: nil) }
        while outbox.state.withLock({ $0.writes < 1 }) { try await Task.sleep(for: .milliseconds(1)) }
        store.goOnOnce()
        // It writes what it couldn't write before, or has seen that this is being written.
        while !isRestored.value, outbox.state.withLock({ $0.writes < 2 }) {
            try await Task.sleep(for: .milliseconds(1))
        }
        store.goOn()
        let outcome = try await preparing.value
        #expect(outcome == .done)
        await restoring.value
        #expect(store.kept.items.first { $0.id == ping.id }?.isSame(as: sent) == true)
    }

    @Test("what is just being sent isn't written as it was before that (S22)")
    func busy() async throws {
        let store = InMemoryLocalStore()
        let outbox = OutboxApp(Server(), store).connection.outbox
        _ = try await outbox.store.open(Server.account)
        let ping = Self.item(1, "SendPing", "ping")
        var sent = ping
        (sent.key, sent.body) = (RequestKey(.new()), Data("{}".utf8))
        store.save(sent, of: Server.account)
        let next = outbox.change { [sent] state in
            state.take(ping)
            // The device has that, which isn't known here yet.
            state.kept[ping.id]?.last = sent
            return state.schedule.next(of: [ping], now: .zero) { _ in true }
        }
        #expect(next == ping)
        await outbox.writeIfUnsaved(ping.id)
        await outbox.catchUp()
        #expect(outbox.state.withLock { $0.writes } == 0 && store.load(Server.account).items == [sent])
        outbox.change { $0.schedule.end(ping) }
        await outbox.catchUp()
        #expect(store.load(Server.account).items == [ping])
    }
}
