import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient
@testable import QuartetStorage

/// What becomes of changes when the file of two processes is damaged.
extension TwoProcessesTests {
    /// Which part of the file can't be read any more, or is gone.
    enum DamagedPart: CaseIterable {
        case first, all, behind
        case removed, emptied

        func damage(_ file: URL) throws {
            let content = try Data(contentsOf: file)
            let range: Range<Int>
            switch self {
            case .first: range = 0..<4096
            case .all: range = 0..<content.count
            case .behind: range = 4096..<content.count
            case .emptied: return try FileHandle(forWritingTo: file).truncate(atOffset: 0)
            case .removed:
                for file in StoreFile(base: file, number: 0).all { try FileManager.default.removeItem(at: file) }
                return
            }
            let handle = try FileHandle(forWritingTo: file)
            defer { try? handle.close() }
            try handle.seek(toOffset: UInt64(range.lowerBound))
            try handle.write(contentsOf: Data(repeating: 0xFF, count: range.count))
        }
    }

    /// Has the file itself hold what its log has.
    private static func settle(_ file: URL) async throws {
        try await DatabaseStore(file).forgetOthers(than: Server.account)
    }

    @Test(
        "a call for help that one process has in memory is sent once, though another found the file damaged (F9, S22)",
        arguments: DamagedPart.allCases)
    func carriedOn(part: DamagedPart) async throws {
        try await Self.withFile { file in
            let server = Server()
            let app = try Self.process(server, file)
            let outbox = app.connection.outbox
            try await app.offline(server) {
                server.goOffline()
                await Self.keeps(server) { try await app.user.raiseAlert() }
                await Self.keeps(server) { try await app.contacts.sendPing(OutboxApp.one) }
                let ids = outbox.items.value.map(\.id)
                try await Self.settle(file)
                try part.damage(file)
                let widget = try Self.process(server, file)
                try await widget.connection.restore()
                var kept: [OutboxItem.ID] = []
                for _ in 0..<600 where kept != ids {
                    server.clock.advance(by: .milliseconds(100))
                    // What can go on without time does so meanwhile.
                    try await Task.sleep(for: .milliseconds(1))
                    kept = try await DatabaseStore(file).load(Server.account).items.map(\.id)
                }
                #expect(kept == ids && outbox.items.value.map(\.id) == ids && outbox.unsent.value.isEmpty)
                #expect(app.connection.state != .needsAuthentication && app.user.user.alertRaised != nil)
                let before = server.commands.count
                server.goOnline()
                outbox.retry()
                await server.passTime { outbox.items.value.isEmpty }
                #expect(server.commands.dropFirst(before).map(\.name).sorted() == ["RaiseAlert", "SendPing"])
                #expect(outbox.unsent.value.isEmpty)
            }
        }
    }

    @Test(
        "a call for help that a process holds which slept before the file was damaged is sent or ends as a card (F9, S22)",
        arguments: DamagedPart.allCases)
    func heldBack(part: DamagedPart) async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, sleep) = try Self.sleeper(server, file)
            let outbox = app.connection.outbox
            let events = outbox.events
            server.goOffline()
            await Self.keeps(server) { try await app.user.raiseAlert() }
            let call = try #require(outbox.items.value.first)
            await outbox.takeInOthers(isCertain: true)
            try await Self.settle(file)
            sleep()
            try part.damage(file)
            _ = try DatabaseStore(file)
            await outbox.takeInOthers(isCertain: true)
            if part == .removed {
                #expect(outbox.items.value.map(\.id) == [call.id] && outbox.unsent.value.isEmpty)
            } else {
                var ended = events.makeAsyncIterator()
                let event = await ended.next()
                #expect(event?.item.id == call.id && event?.error == .unknown)
                #expect(outbox.items.value.isEmpty && outbox.unsent.value.map(\.id) == [call.id])
            }
            let kept = try await DatabaseStore(file).load(Server.account).items
            #expect(kept.map(\.id) == [call.id] && kept.map(\.unsent) == [part == .removed ? nil : .unknown])
        }
    }

    @Test("a call for help that is held back is a card on the disk at once, and shows as one before it goes (F9, S22)")
    func heldBackAtOnce() async throws {
        try await Self.withFile { file in
            let server = Server()
            let uptime = Observed(Duration.zero)
            let store = FailingSharedStore(try DatabaseStore(file, StoreOpening(uptime: { uptime.value })))
            let app = OutboxApp(server, store, tokens: server.tokens, time: Self.time(server))
            let outbox = app.connection.outbox
            server.goOffline()
            await Self.keeps(server) { try await app.user.raiseAlert() }
            let call = try #require(outbox.items.value.first)
            await outbox.takeInOthers(isCertain: true)
            try await Self.settle(file)
            uptime.update { $0 += .seconds(660) }
            try DamagedPart.all.damage(file)
            _ = try DatabaseStore(file)
            let gate = store.stops { $0 == .update(.end) }
            defer { gate.open() }
            let hasCard = Observed<Bool?>(nil)
            outbox.noteCard(of: call.id, in: hasCard)
            await outbox.takeInOthers(isCertain: true)
            let kept = try await DatabaseStore(file).load(Server.account).items
            #expect(kept.map(\.id) == [call.id] && kept.map(\.unsent) == [.unknown])
            #expect(hasCard.value == true && outbox.cards.hasKept(call.id))
            #expect(outbox.cards.takeUntold()?.id == call.id)
        }
    }

    @Test("a call for help that one process held back since it slept waits again where another didn't (F9, S22)")
    func heldBackElsewhere() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, sleep) = try Self.sleeper(server, file)
            let (outbox, others) = (app.connection.outbox, try Self.process(server, file))
            let other = others.connection.outbox
            try await app.offline(server) {
                server.goOffline()
                // Nothing is on its way after that.
                await Self.keepsAtOnce { try await app.user.raiseAlert() }
                let call = try #require(outbox.items.value.first)
                try await others.connection.restore()
                for outbox in [outbox, other] { await outbox.takeInOthers(isCertain: true) }
                try #require(other.items.value.map(\.id) == [call.id])
                try await Self.settle(file)
                sleep()
                try DamagedPart.all.damage(file)
                _ = try DatabaseStore(file)
                await outbox.takeInOthers(isCertain: true)
                #expect(outbox.items.value.isEmpty && outbox.unsent.value.map(\.id) == [call.id])
                for outbox in [other, outbox] {
                    await outbox.takeInOthers(isCertain: true)
                    #expect(outbox.items.value.map(\.id) == [call.id] && outbox.unsent.value.isEmpty)
                }
                #expect(!outbox.cards.hasKept(call.id))
                let kept = try await DatabaseStore(file).load(Server.account).items
                #expect(kept.map(\.id) == [call.id] && kept.map(\.unsent) == [nil])
            }
        }
    }

    /// A process, and what lets eleven minutes pass in which it doesn't look.
    private static func sleeper(_ server: Server, _ file: URL) throws -> (OutboxApp, @Sendable () -> Void) {
        let uptime = Observed(Duration.zero)
        let store = try DatabaseStore(file, StoreOpening(uptime: { uptime.value }))
        let app = OutboxApp(server, store, tokens: server.tokens, time: time(server))
        return (app, { uptime.update { $0 += .seconds(660) } })
    }

    @Test("a call for help that ends while its file is damaged is kept as a card (F9, S22)", arguments: [false, true])
    func endedMeanwhile(isFound: Bool) async throws {
        try await Self.withFile { file in
            let server = Server()
            let app = try Self.process(server, file)
            let outbox = app.connection.outbox
            server.goOffline()
            await Self.keeps(server) { try await app.user.raiseAlert() }
            let id = try #require(outbox.items.value.first?.id)
            await outbox.takeInOthers(isCertain: true)
            try await Self.settle(file)
            try DamagedPart.all.damage(file)
            _ = try DatabaseStore(file)
            let (resets, renewals) = (outbox.state.withLock { $0.resets }, outbox.store.renewals)
            let call = try #require(outbox.take(id) { _ in true })
            if isFound { await outbox.takeInOthers(isCertain: true) }
            await outbox.endUnsent(call, .expired, renewals: renewals, unlessDroppedSince: resets)
            #expect(outbox.unsent.value.map(\.id) == [id])
            #expect(try await DatabaseStore(file).load(Server.account).items.map(\.unsent) == [.expired])
        }
    }

    @Test(
        "a card that says that a call for help wasn't sent stays, though the file was damaged, or its process slept (F9, S22)",
        arguments: [false, true])
    func cardCarriedOn(hasSlept: Bool) async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, sleep) = try Self.sleeper(server, file)
            let outbox = app.connection.outbox
            server.goOffline()
            await Self.keeps(server) { try await app.user.raiseAlert() }
            let call = try #require(outbox.items.value.first)
            let resets = outbox.state.withLock { $0.resets }
            await outbox.endUnsent(call, .expired, unlessDroppedSince: resets)
            await outbox.takeInOthers(isCertain: true)
            try await Self.settle(file)
            if hasSlept { sleep() }
            try DamagedPart.all.damage(file)
            _ = try DatabaseStore(file)
            await outbox.takeInOthers(isCertain: true)
            #expect(outbox.unsent.value.map(\.id) == [call.id])
            let kept = try await DatabaseStore(file).load(Server.account).items
            #expect(kept.map(\.id) == [call.id] && kept.map(\.unsent) == [.expired])
        }
    }

    @Test("a sign-in where nobody knows who was signed in before erases a file that can't be read (F9, S17)")
    func unknownOwner() async throws {
        try await Self.withFile { file in
            let server = Server(isSignedIn: false)
            do {
                let store = try DatabaseStore(file)
                _ = try await store.load(Server.person(9))
            }
            try DamagedPart.all.damage(file)
            let app = try Self.process(server, file)
            try await app.connection.restore()
            #expect(try DatabaseStore(file).setAside.count == 1)
            let reply = SignedIn(
                account: Server.account, device: Server.device, accessToken: "next", expiresIn: 900,
                refreshToken: "next-0")
            try await app.connection.signedIn(reply, asked: server.clock.now)
            #expect(try DatabaseStore(file).setAside.isEmpty)
        }
    }
    @Test(
        "somebody can sign in where what was set aside can't be removed, which is tried again (F9, S17, S22)",
        arguments: [1, Int.max])
    func unforgotten(failures: Int) async throws {
        try await Self.withFile { file in
            let server = Server(isSignedIn: false)
            do {
                let store = try DatabaseStore(file)
                _ = try await store.load(Server.person(9))
            }
            try DamagedPart.all.damage(file)
            let store = FailingSharedStore(try DatabaseStore(file))
            let count = Mutex(0)
            store.fails { write in
                guard write == .forgetSetAside else { return false }
                return count.withLock { count in
                    count += 1
                    return count <= failures
                }
            }
            let app = OutboxApp(server, store, tokens: server.tokens, time: Self.time(server))
            try await app.connection.restore()
            let reply = SignedIn(
                account: Server.account, device: Server.device, accessToken: "next", expiresIn: 900,
                refreshToken: "next-0")
            try await app.connection.signedIn(reply, asked: server.clock.now)
            #expect(app.connection.store.account == Server.account && count.withLock { $0 } == 2)
            #expect(try DatabaseStore(file).setAside.isEmpty == (failures == 1))
        }
    }

    @Test(
        "what somebody had who signed out before the damage isn't written again by a process that slept (F9, S17)",
        arguments: DamagedPart.allCases)
    func signedOutBefore(part: DamagedPart) async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, widget) = (try Self.process(server, file), try Self.process(server, file))
            server.goOffline()
            await Self.keeps(server) { try await app.user.raiseAlert() }
            await app.connection.outbox.takeInOthers(isCertain: true)
            try await widget.connection.restore()
            try await widget.connection.forgetAccount(isKnown: true) { true }
            try part.damage(file)
            _ = try DatabaseStore(file)
            await app.connection.outbox.takeInOthers(isCertain: true)
            #expect(app.connection.store.isForgotten)
            #expect(try await DatabaseStore(file).load(Server.account).items.isEmpty)
        }
    }
}
