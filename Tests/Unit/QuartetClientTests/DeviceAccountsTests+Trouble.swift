import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetStorage
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

/// What is lost in no case, and what the account that isn't shown does meanwhile.
extension DeviceAccountsTests {
    /// Lets time pass in which everything that is to happen by itself does.
    private func pass(_ time: Duration, _ home: Household) async {
        let end = home.server.clock.now + time
        await home.server.passTime { home.server.clock.now >= end }
    }

    // MARK: Tokens

    @Test(
        "tokens that aren't found erase nothing: their account stays listed, and what waits is sent once they are found or its person signs in again (R12, S17)",
        arguments: [false, true])
    func missingTokens(isSignedInAgain: Bool) async throws {
        let home = Household()
        let app = try await home.signedIn("anna")
        await home.keeps { try await app.current.quartet.user.raiseAlert() }
        home.goOnline()
        // An update that keeps them elsewhere, or a widget without a right.
        let other = home.app(tokens: { _ in InMemoryTokenStore() })
        try await other.restore()
        try await home.running(other) { await pass(.seconds(3), home) }
        #expect(other.handles == ["anna"] && home.done.isEmpty)
        #expect(try home.names == ["\(Household.anna)", "accounts.json"].sorted())
        if isSignedInAgain {
            try FileManager.default.removeItem(at: app.folder(of: Household.anna).url.appending(path: "tokens"))
        }
        let next = home.app()
        try await home.running(next) {
            if isSignedInAgain {
                await pass(.seconds(3), home)
                try await home.server.passingTime { try await next.signIn("anna") }
            }
            await home.waits(for: "RaiseAlert", of: "anna")
        }
        #expect(next.handles == ["anna"])
    }

    /// Tokens that can't be read for a while.
    private struct LockedTokens: TokenStore {
        let store: any TokenStore
        let isLocked: @Sendable () -> Bool

        func load() throws -> Credentials? {
            if isLocked() { throw POSIXError(.EACCES) }
            return try store.load()
        }

        func save(_ credentials: Credentials?) throws { try store.save(credentials) }
    }

    @Test(
        "a call for help of the account that is shown needs no tokens that were read before, and never goes out as somebody else because they can't be read (R12)"
    )
    func lockedTokens() async throws {
        let home = Household()
        let isLocked = Mutex(false)
        let tokens: @Sendable (AccountFolder) -> any TokenStore = { folder in
            LockedTokens(store: Household.tokens(folder)) {
                folder.account == Household.anna && isLocked.withLock { $0 }
            }
        }
        let app = home.app(tokens: tokens)
        for handle in ["bob", "anna"] { try await app.signIn(handle) }
        isLocked.withLock { $0 = true }
        try await home.server.passingTime { try await app.raiseAlert() }
        let annas = [Household.Done(command: "RaiseAlert", handle: "anna")]
        #expect(home.done == annas)
        // After a restart nobody can say whether she is signed in.
        let next = home.app(tokens: tokens)
        await #expect {
            try await home.server.passingTime { try await next.raiseAlert() }
        } throws: { error in
            guard case .tokensUnavailable? = error as? QuartetError else { return false }
            return true
        }
        #expect(home.done == annas)
    }

    @Test(
        "a call for help of somebody whom the server has signed out goes out as somebody else at once, and once; with nobody else it is kept until they sign in (R12, S22)",
        arguments: [false, true], [false, true])
    func signedOutByServer(byButton: Bool, isAlone: Bool) async throws {
        let home = Household()
        let app = try await home.signedIn("bob", "anna")
        let annas = app.current
        home.signOut("anna")
        if isAlone { home.signOut("bob") }
        let raise: @Sendable () async throws -> Void = {
            if byButton { try await annas.quartet.user.raiseAlert() } else { try await app.raiseAlert() }
        }
        if isAlone {
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await home.server.passingTime(raise) }
        } else {
            try await home.server.passingTime(raise)
            #expect(home.done == [Household.Done(command: "RaiseAlert", handle: "bob")])
        }
        #expect(annas.connection.outbox.items.value.count == (isAlone ? 1 : 0))
        #expect(app.clients(of: Household.bob)?.connection.outbox.items.value.isEmpty == true)
        try await home.server.passingTime { try await app.signIn("anna") }
        try await home.running(app) {
            if isAlone { await home.waits(for: "RaiseAlert", of: "anna") } else { await pass(.seconds(3), home) }
        }
        #expect(home.done.count == 1)
    }

    @Test(
        "a call for help that goes out as somebody else takes the place of all that waited, and none is sent once more (R12, S22)",
        arguments: [false, true])
    func signedOutBeforeSecondCall(isOffline: Bool) async throws {
        let home = Household()
        let app = try await home.signedIn("bob", "anna")
        let annas = app.current
        if isOffline {
            await home.keeps { try await annas.quartet.user.raiseAlert() }
            home.goOnline()
            home.signOut("anna")
        } else {
            for handle in ["anna", "bob"] { home.signOut(handle) }
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await home.server.passingTime { try await annas.quartet.user.raiseAlert() }
            }
            try await home.server.passingTime { try await app.signIn("bob") }
        }
        try await home.server.passingTime { try await annas.quartet.user.raiseAlert() }
        let bobs = [Household.Done(command: "RaiseAlert", handle: "bob")]
        #expect(home.done == bobs && annas.connection.outbox.items.value.isEmpty)
        try await home.server.passingTime { try await app.signIn("anna") }
        try await home.running(app) { await pass(.seconds(3), home) }
        #expect(home.done == bobs)
    }

    @Test(
        "whoever calls for help hears that it is sent though the disk of somebody whom the server has signed out hangs (R12, S22)"
    )
    func signedOutOnSlowDisk() async throws {
        let home = Household()
        _ = try await home.signedIn("bob", "anna")
        let gate = Gate()
        defer { gate.open() }
        let app = home.app(store: { folder in
            let store = FailingSharedStore(try Household.store(folder))
            if folder.account == Household.anna { store.beforeLoad.withLock { $0 = { await gate.pass() } } }
            return store
        })
        home.signOut("anna")
        let isOver = Mutex(false)
        let raising = Task {
            defer { isOver.withLock { $0 = true } }
            try await app.current.quartet.user.raiseAlert()
        }
        let end = home.server.clock.now + .seconds(30)
        await home.server.passTime { isOver.withLock { $0 } || home.server.clock.now >= end }
        #expect(isOver.withLock { $0 })
        #expect(home.done == [Household.Done(command: "RaiseAlert", handle: "bob")])
        gate.open()
        try await home.server.passingTime { try await raising.value }
    }

    /// Tokens before which something happens when somebody signs in.
    private struct HookedTokens: TokenStore {
        let store: any TokenStore
        let beforeSigningIn: @Sendable () -> Void

        func load() throws -> Credentials? { try store.load() }

        func save(_ credentials: Credentials?) throws {
            if credentials?.isSignedOut == false { beforeSigningIn() }
            try store.save(credentials)
        }
    }

    @Test("a sign-out that ends while its person signs in again takes nothing of theirs (R12, S17)")
    func signedOutMeanwhile() async throws {
        let home = Household()
        let hook = Mutex<(@Sendable () -> Void)?>(nil)
        let app = home.app(tokens: { folder in
            HookedTokens(store: Household.tokens(folder)) { hook.withLock { $0 }?() }
        })
        try await app.signIn("anna")
        home.goOffline()
        try await home.server.passingTime { try await app.remove(Household.anna) }
        home.goOnline()
        let isOver = Observed(false)
        hook.withLock {
            $0 = {
                let semaphore = DispatchSemaphore(value: 0)
                Task {
                    await app.noteLeaving(of: Household.anna)
                    await app.noteSignOut(of: Household.anna)
                    isOver.update { $0 = true }
                    semaphore.signal()
                }
                _ = semaphore.wait(timeout: .now() + 10)
            }
        }
        try await home.server.passingTime { try await app.signIn("anna") }
        #expect(isOver.value)
        hook.withLock { $0 = nil }
        try await home.running(app) { await pass(.seconds(3), home) }
        #expect(app.handles == ["anna"] && app.list.shown == Household.anna)
        #expect(try home.names == ["\(Household.anna)", "accounts.json"].sorted())
        #expect(try Household.tokens(app.folder(of: Household.anna)).load()?.isSignedOut == false)
    }

    @Test("a folder in which another process signs somebody in isn't erased for a sign-out before that (R12, F9)")
    func signedInElsewhere() async throws {
        let home = Household()
        let app = try await home.signedIn("bob", "anna")
        let shelf = FolderShelf(root: home.folder)
        do {
            let lock = try #require(try shelf.lock())
            try await home.server.passingTime { try await app.remove(Household.anna) }
            withExtendedLifetime(lock) {}
        }
        #expect(try shelf.hasLeft(Household.anna))
        // The other one's tokens aren't there yet.
        try shelf.make(Household.anna)
        for _ in 0..<3 { await app.settle() }
        #expect(try home.names.contains("\(Household.anna)") && !shelf.hasLeft(Household.anna))
    }

    // MARK: The list and the lock

    @Test("what waits is sent though the list can't be read, before it is repaired (R12, S42)")
    func unreadableList() async throws {
        let home = Household()
        let app = try await home.signedIn("bob", "anna")
        await home.keeps { try await app.current.quartet.user.raiseAlert() }
        home.goOnline()
        try Data("{".utf8).write(to: home.list)
        let next = home.app()
        try await home.running(next) { await home.waits(for: "RaiseAlert", of: "anna") }
        #expect(next.list.problem != nil && next.list.shown == nil)
    }

    @Test(
        "somebody who signs out while the list can't be read isn't listed any more, and the server hears of it, also after a restart (R12, S17)",
        arguments: [false, true])
    func removedWithoutList(isRestarted: Bool) async throws {
        let home = Household()
        let app = try await home.signedIn("anna", "bob")
        try Data("{".utf8).write(to: home.list)
        home.goOffline()
        try await home.running(app) {
            await home.server.passTime { app.list.value.problem != nil }
            try await home.server.passingTime { try await app.remove(Household.bob) }
            #expect(app.handles == ["anna"] && app.list.shown == nil)
        }
        home.goOnline()
        let asked = home.server.transport.requests.count
        let next = isRestarted ? home.app() : app
        try await home.running(next) {
            await home.server.passTime {
                home.server.transport.requests.dropFirst(asked).contains { request in
                    request.endpoint == .signOut && request.token?.hasPrefix("bob-") == true
                }
            }
        }
    }

    @Test("somebody who signs out while another process has the lock isn't listed any more (R12, S17)")
    func removedWithoutLock() async throws {
        let home = Household()
        let app = try await home.signedIn("anna", "bob")
        let lock = try #require(try FolderShelf(root: home.folder).lock())
        try await home.server.passingTime { try await app.remove(Household.bob) }
        #expect(app.handles == ["anna"] && app.list.shown == nil)
        withExtendedLifetime(lock) {}
    }

    @Test("a list that vanishes under a running app is made again by a repair (R12, S42)")
    func lostList() async throws {
        let home = Household()
        let app = try await home.signedIn("bob", "anna")
        try FileManager.default.removeItem(at: home.list)
        await #expect(throws: AccountListProblem.self) { try await app.restore() }
        #expect(app.handles == ["bob", "anna"])
        try await app.repair()
        #expect(app.list.problem == nil && home.app().handles == ["bob", "anna"])
    }

    @Test("the server is asked nothing while other processes wait for the lock (R12)")
    func networkWithoutLock() async throws {
        let home = Household()
        let app = try await home.signedIn("anna")
        home.goOffline()
        try await home.server.passingTime { try await app.remove(Household.anna) }
        home.goOnline()
        let locked = Mutex<[TransportRequest.Endpoint]>([])
        home.onRequest.withLock { hook in
            hook = { [folder = home.folder] request in
                guard let lock = try? FolderShelf(root: folder).lock() else {
                    return locked.withLock { $0.append(request.endpoint) }
                }
                withExtendedLifetime(lock) {}
            }
        }
        // The server hears of the sign-out now.
        try await home.server.passingTime { try await app.signIn("anna") }
        let other = home.app()
        for number in 2...DeviceAccounts.limit {
            try await home.server.passingTime { try await app.signIn("person\(number)") }
        }
        // This one hears only after the server has answered that there is no room.
        await #expect(throws: QuartetError.tooManyAccounts(limit: DeviceAccounts.limit)) {
            try await home.server.passingTime { try await other.signIn("person9") }
        }
        #expect(locked.withLock { $0 }.isEmpty)
        #expect(home.server.transport.requests.last?.endpoint == .signOut)
    }

    @Test("somebody signs in, and stays, though another process has the lock and doesn't let it go (R12)")
    func frozenLock() async throws {
        let home = Household()
        let app = try await home.signedIn("bob")
        let lock = try FolderShelf(root: home.folder).lock()
        try await home.server.passingTime { try await app.signIn("anna") }
        #expect(lock != nil && app.list.shown == Household.anna && app.handles == ["bob", "anna"])
        withExtendedLifetime(lock) {}
    }

    @Test("whoever signs in is shown without waiting for what else is written (R12)")
    func signInWhileWriting() async throws {
        let home = Household()
        let app = try await home.signedIn("bob")
        let gate = Gate()
        defer { gate.open() }
        let isFree = Mutex(false)
        let writing = Task {
            try? await app.writing.run { () async throws(QuartetError) in await gate.pass() }
            isFree.withLock { $0 = true }
        }
        try await gate.reached()
        let signing = Task { try await app.signIn("anna") }
        await home.server.passTime { app.list.value.shown == Household.anna }
        #expect(isFree.withLock { !$0 })
        gate.open()
        try await signing.value
        await writing.value
    }

    @Test("a sign-in that takes its time doesn't take the screen from whoever was chosen meanwhile (R12)")
    func lateSignIn() async throws {
        let home = Household()
        let app = try await home.signedIn("carol1", "bob")
        try await app.show(Household.account("carol1"))
        home.onRequest.withLock { hook in
            hook = { request in
                if request.endpoint == .signIn { _ = app.choose(Household.bob) }
            }
        }
        try await app.signIn("anna")
        #expect(app.list.shown == Household.bob && app.handles == ["carol1", "bob", "anna"])
        try await home.server.passingTime { try await app.remove(Household.bob) }
        #expect(app.list.shown == nil)
    }

    // MARK: Accounts that aren't shown

    @Test(
        "an account that another process removes shows as signed out wherever its clients are held, and is used again once its person is back there (R12, F9)"
    )
    func removedElsewhere() async throws {
        let home = Household()
        let app = try await home.signedIn("anna", "bob")
        let annas = try #require(app.clients(of: Household.anna)?.quartet)
        #expect(annas.session.session.isSignedIn)
        let other = home.app()
        try await home.running(app) {
            try await home.stream(of: "bob").begin(as: "bob")
            try await home.server.passingTime { try await other.remove(Household.anna) }
            await home.server.passTime { !annas.session.session.isSignedIn }
            await home.server.passTime { app.handles == ["bob"] }
            try await home.server.passingTime { try await other.signIn("anna") }
            await home.server.passTime { app.list.value.accounts.count == 2 }
            await home.keeps { try await other.current.quartet.user.raiseAlert() }
            home.goOnline()
            await home.waits(for: "RaiseAlert", of: "anna")
            #expect(app.list.shown == Household.bob)
        }
    }

    @Test(
        "an account that is removed and comes back in another process before this one has looked goes on being heeded here (R12, F9)"
    )
    func backElsewhere() async throws {
        let home = Household()
        let app = try await home.signedIn("anna", "bob")
        let other = home.app()
        try await home.running(app) {
            try await home.stream(of: "bob").begin(as: "bob")
            await pass(.seconds(3), home)
            try await home.server.passingTime {
                try await other.remove(Household.anna)
                try await other.signIn("anna")
            }
            await pass(.seconds(3), home)
            await home.keeps { try await other.current.quartet.user.raiseAlert() }
            home.goOnline()
            await home.waits(for: "RaiseAlert", of: "anna")
        }
    }

    @Test(
        "the device tells once that a call for help of an account that isn't shown wasn't sent, and no longer once that was read (R12, S22)"
    )
    func notices() async throws {
        let home = Household()
        let device = ScriptedSurroundings()
        let app = home.app(surroundings: { $0 == Household.bob ? device : nil })
        for handle in ["anna", "bob"] { try await app.signIn(handle) }
        try await home.running(app) {
            await home.keeps { try await app.current.quartet.user.raiseAlert() }
            try await app.show(Household.anna)
            home.server.clock.advance(by: .seconds(25 * 3600))
            // Bob's connection hasn't heard the server's time yet, without which it lets nothing expire.
            home.goOnline()
            await home.server.passTime { device.told.value.contains { $0.delay == .zero } }
            await pass(.seconds(3), home)
            let card = try #require(app.unsent.first)
            #expect(device.told.value.count { $0.delay == .zero && $0.change.id == card.change.id } == 1)
            #expect(card.account == Household.bob && app.list.shown == Household.anna)
            try await app.markRead(card)
            await home.server.passTime { device.withdrawn.value.contains(card.change.id) }
            #expect(device.shown.value.isEmpty)
        }
    }

    @Test(
        "a disk that takes its time keeps an account that is shown from nothing, and the others from being looked at (R12, S22)",
        arguments: [false, true])
    func slowDisk(isResting: Bool) async throws {
        let home = Household()
        let first = try await home.signedIn("bob", "carol1", "anna")
        await home.keeps { try await first.clients(of: Household.account("carol1"))?.quartet.user.raiseAlert() }
        home.goOnline()
        let gate = Gate()
        defer { gate.open() }
        let isFirst = Mutex(true)
        let isReached = Mutex(false)
        let app = home.app(store: { folder in
            guard folder.account == Household.bob else { return try Household.store(folder) }
            let isFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            // Its connection is to find out what it has.
            if isResting, isFirst { throw POSIXError(.EACCES) }
            let store = FailingSharedStore(try Household.store(folder))
            let pass: @Sendable () async -> Void = {
                isReached.withLock { $0 = true }
                await gate.pass()
            }
            store.beforeLoad.withLock { $0 = pass }
            store.beforeVersion.withLock { $0 = pass }
            return store
        })
        try await home.running(app) {
            await home.server.passTime { isReached.withLock { $0 } }
            await home.waits(for: "RaiseAlert", of: "carol1")
            home.goOffline()
            _ = app.choose(Household.bob)
            await #expect(throws: QuartetError.self) {
                try await home.server.passingTime { try await app.current.quartet.user.raiseAlert() }
            }
            await pass(.seconds(30), home)
            home.goOnline()
            await home.waits(for: "RaiseAlert", of: "bob")
            gate.open()
        }
    }

    @Test("a call for help is sent from a screen that was left and shown again while its disk hangs (R12, S22)")
    func backOnSlowDisk() async throws {
        let home = Household()
        _ = try await home.signedIn("bob", "anna")
        let gate = Gate()
        defer { gate.open() }
        let isReached = Mutex(false)
        let app = home.app(store: { folder in
            let store = FailingSharedStore(try Household.store(folder))
            if folder.account == Household.bob {
                store.beforeLoad.withLock {
                    $0 = {
                        isReached.withLock { $0 = true }
                        await gate.pass()
                    }
                }
            }
            return store
        })
        try await home.running(app) {
            _ = app.choose(Household.bob)
            await home.server.passTime { isReached.withLock { $0 } }
            _ = app.choose(Household.anna)
            await pass(.seconds(1), home)
            _ = app.choose(Household.bob)
            await pass(.seconds(1), home)
            try? await home.server.passingTime { try await app.current.quartet.user.raiseAlert() }
            await pass(.seconds(30), home)
            #expect(home.done == [Household.Done(command: "RaiseAlert", handle: "bob")])
            gate.open()
        }
    }

    @Test(
        "the app stays awake until the device has withdrawn what it was to tell of a call for help that was sent (R12, S22)"
    )
    func awakeUntilWithdrawn() async throws {
        let home = Household()
        let gate = Gate()
        defer { gate.open() }
        let device = ScriptedSurroundings(withdrawing: gate)
        let app = home.app(surroundings: { $0 == Household.bob ? device : nil })
        for handle in ["bob", "anna"] { try await app.signIn(handle) }
        try await home.running(app) {
            await home.keeps { try await app.clients(of: Household.bob)?.quartet.user.raiseAlert() }
            _ = try await device.plan("RaiseAlert")
            home.goOnline()
            await home.waits(for: "RaiseAlert", of: "bob")
            try await gate.reached()
            await pass(.seconds(1), home)
            #expect(device.awake.value.isNow)
            gate.open()
            await home.server.passTime { !device.awake.value.isNow }
        }
    }

    @Test("what the device is to tell of a call for help stays though its account's tokens aren't found (R12, S22)")
    func missingTokensNotices() async throws {
        let home = Household()
        let device = ScriptedSurroundings()
        let app = home.app(surroundings: { _ in device })
        try await app.signIn("anna")
        try await home.running(app) {
            await home.keeps { try await app.current.quartet.user.raiseAlert() }
            _ = try await device.plan("RaiseAlert")
        }
        let other = home.app(tokens: { _ in InMemoryTokenStore() }, surroundings: { _ in device })
        try await home.running(other) { await pass(.seconds(3), home) }
        #expect(device.shown.value.count == 1)
    }

    @Test("a push without its notification has its account fetch that, whichever is shown (R12, P29)")
    func news() async throws {
        let home = Household()
        let app = try await home.signedIn("bob", "anna")
        try await home.running(app) {
            try await home.stream(of: "anna").begin(as: "anna")
            try await app.handle(.news(Household.bob))
            try await home.stream(of: "bob").begin(as: "bob")
            #expect(app.list.shown == Household.anna)
            await home.server.passTime { home.server.transport.openStreams == 1 }
        }
    }

    // MARK: The app's only account so far

    @Test(
        "what an app of one account kept is taken over whole, whenever that is interrupted, and also if a widget comes first (R12, S17)"
    )
    func adopted() async throws {
        for steps in 0..<40 {
            let home = Household()
            let former = try await FormerApp(of: home)
            let life = Mortality()
            let app = home.app(
                { TroubledShelf(shelf: $0) { try life.step() } },
                tokens: { MortalTokens(store: FileTokenStore($0.url.appending(path: "tokens")), life: life) },
                adopting: former.account(life),
                store: { folder in
                    try life.step()
                    return try Household.store(folder)
                })
            life.end(after: steps)
            // What it says to a killed app doesn't matter.
            _ = try? await home.server.passingTime {
                await app.adopt()
                try await app.restore()
            }
            let isWhole = !life.isOver
            try await home.app().restore()
            let next = home.app(adopting: former.account())
            try await home.running(next) {
                await home.waits(for: "RaiseAlert", of: "anna")
                await home.server.passTime { next.state.withLock { $0.hasAdopted } }
            }
            #expect(try former.tokens.load() == nil, "\(steps)")
            #expect(next.list.accounts.map(\.id) == [Household.anna] && next.list.shown == Household.anna, "\(steps)")
            #expect(next.list.problem == nil, "\(steps)")
            #expect(try await DatabaseStore(former.file).items().isEmpty, "\(steps)")
            if isWhole { return }
        }
        Issue.record("it never gets to the end")
    }

    @Test(
        "what can't be taken over at the start is taken over later, with what its person has done in their new place meanwhile (R12)"
    )
    func adoptedLate() async throws {
        let home = Household()
        let former = try await FormerApp(of: home)
        let isLocked = Mutex(true)
        let app = home.app(
            adopting: FormerAccount(
                tokens: LockedTokens(store: former.tokens) { isLocked.withLock { $0 } },
                store: { [file = former.file] in try DatabaseStore(file) }))
        await #expect(throws: AccountListProblem.self) { try await app.restore() }
        try await app.signIn("anna")
        await home.keeps { try await app.current.quartet.contacts.setApproval(true) }
        home.goOnline()
        isLocked.withLock { $0 = false }
        try await home.running(app) {
            await home.waits(for: "RaiseAlert", of: "anna")
            await home.server.passTime {
                home.done.contains { $0.command != "RaiseAlert" } && app.list.value.problem == nil
            }
        }
        #expect(try former.tokens.load() == nil && app.handles == ["anna"])
    }

    @Test("a call for help takes over what it needs, where nothing else has done so (R12)")
    func adoptedByHelp() async throws {
        let home = Household()
        let former = try await FormerApp(of: home)
        let app = home.app(adopting: former.account())
        try await home.server.passingTime { try await app.current.quartet.user.raiseAlert() }
        #expect(home.done.contains(Household.Done(command: "RaiseAlert", handle: "anna")))
    }

    @Test("what waits beside tokens that are damaged is sent once its person has signed in (R12, S42)")
    func adoptedDamaged() async throws {
        let home = Household()
        let former = try await FormerApp(of: home)
        try Data("x".utf8).write(to: former.folder.appending(path: "tokens"))
        let app = home.app(adopting: former.account())
        try await app.restore()
        #expect(app.list.accounts.isEmpty)
        try await home.running(app) {
            try await home.server.passingTime { try await app.signIn("anna") }
            await home.waits(for: "RaiseAlert", of: "anna")
        }
    }

    @Test("an app's only account may have been in the folder in which the accounts are (R12)")
    func adoptedInPlace() async throws {
        let home = Household()
        let tokens = FileTokenStore(home.folder.appending(path: "tokens"))
        try FileManager.default.createDirectory(at: home.folder, withIntermediateDirectories: true)
        try tokens.save(Credentials(account: Household.anna, device: Server.device, refreshToken: "anna-refresh-0"))
        let app = home.app(
            adopting: FormerAccount(tokens: tokens) { [file = home.folder.appending(path: "state")] in
                try DatabaseStore(file)
            })
        try await app.restore()
        #expect(try tokens.load() == nil && app.list.shown == Household.anna && app.list.problem == nil)
    }

    @Test("an account that is removed before the rest can be taken over doesn't come back (R12, S17)")
    func adoptedAndRemoved() async throws {
        let home = Household()
        let former = try await FormerApp(of: home)
        let app = home.app(adopting: FormerAccount(tokens: former.tokens) { throw POSIXError(.ENOSPC) })
        await #expect(throws: AccountListProblem.self) { try await app.restore() }
        #expect(app.list.shown == Household.anna)
        try await home.server.passingTime { try await app.remove(Household.anna) }
        try await home.running(app) { await pass(.seconds(3), home) }
        #expect(app.list.accounts.isEmpty && app.list.shown == nil)
        let next = home.app(adopting: former.account())
        try await next.restore()
        #expect(next.list.accounts.isEmpty && next.list.shown == nil)
    }

    /// Tokens that were read before another process took them over.
    private final class StaleTokens: TokenStore {
        let store: any TokenStore
        private let stale: Mutex<Credentials?>

        init(_ store: any TokenStore) throws {
            self.store = store
            stale = Mutex(try store.load())
        }

        func load() throws -> Credentials? {
            let stale = stale.withLock { stale in
                defer { stale = nil }
                return stale
            }
            return try stale ?? store.load()
        }

        func save(_ credentials: Credentials?) throws { try store.save(credentials) }
    }

    @Test("a process that is frozen while it takes an account over doesn't bring it back after a sign-out (R12, F9)")
    func adoptedFrozen() async throws {
        let home = Household()
        let former = try await FormerApp(of: home)
        let tokens = try StaleTokens(former.tokens)
        let app = home.app(adopting: former.account())
        try await app.restore()
        try await home.server.passingTime { try await app.remove(Household.anna) }
        let frozen = home.app(
            adopting: FormerAccount(tokens: tokens) { [file = former.file] in try DatabaseStore(file) })
        try await frozen.restore()
        #expect(frozen.list.accounts.isEmpty && frozen.list.shown == nil)
        #expect(try !home.names.contains("\(Household.anna)"))
    }

    @Test(
        "a process that is frozen while it carries what waits keeps nothing of whoever has signed out since (R12, F9, S17)"
    )
    func carriedFrozen() async throws {
        let home = Household()
        let former = try await FormerApp(of: home)
        let gate = Gate()
        defer { gate.open() }
        let frozen = home.app(
            adopting: FormerAccount(tokens: former.tokens) { [file = former.file] in
                let store = FailingSharedStore(try DatabaseStore(file))
                store.afterLoad.withLock { $0 = { await gate.pass() } }
                return store
            })
        let adopting = Task { await frozen.adopt() }
        try await gate.reached()
        let app = home.app(adopting: former.account())
        try await app.restore()
        try await home.server.passingTime { try await app.remove(Household.anna) }
        #expect(try !home.names.contains("\(Household.anna)"))
        gate.open()
        await adopting.value
        try await frozen.restore()
        #expect(try !home.names.contains("\(Household.anna)"))
    }

    @Test("a process that was frozen while another one adopted takes nobody whom that has carried for signed out (R12)")
    func carriedElsewhere() async throws {
        let home = Household()
        let former = try await FormerApp(of: home)
        try former.tokens.save(nil)
        let gate = Gate()
        defer { gate.open() }
        let loads = Observed(0)
        let frozen = home.app(
            adopting: FormerAccount(tokens: former.tokens) { [file = former.file] in
                let store = FailingSharedStore(try DatabaseStore(file))
                store.beforeLoad.withLock {
                    $0 = {
                        let isSecond = loads.update { loads in
                            loads += 1
                            return loads == 2
                        }
                        // Its folder is there by now.
                        if isSecond { await gate.pass() }
                    }
                }
                return store
            })
        let adopting = Task { await frozen.adopt() }
        try await gate.reached()
        try await home.app(adopting: former.account()).restore()
        gate.open()
        await adopting.value
        try await frozen.restore()
        #expect(try home.names.contains("\(Household.anna)"))
    }

    @Test("what waits without tokens is sent once its person has signed in, and the former store is emptied (R12, S17)")
    func adoptedWithoutTokens() async throws {
        let home = Household()
        let former = try await FormerApp(of: home)
        try former.tokens.save(nil)
        let app = home.app(adopting: former.account())
        try await app.restore()
        #expect(app.list.accounts.isEmpty)
        try await home.running(app) {
            try await home.server.passingTime { try await app.signIn("anna") }
            await home.waits(for: "RaiseAlert", of: "anna")
        }
        #expect(try await DatabaseStore(former.file).items().isEmpty)
    }

    /// Surroundings that note of which connections they are to tell nothing more.
    private final class NamingSurroundings: Surroundings {
        let withdrawn = Mutex<Set<String>>([])

        func networkChanges() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
        func stayAwake(_ reason: String, while body: @Sendable () async -> Void) async { await body() }
        func withdraw(allBut changes: Set<UnsentChange.ID>, of connection: String) async {
            if changes.isEmpty { withdrawn.withLock { _ = $0.insert(connection) } }
        }
    }

    @Test("what the device was to tell of the app's only connection so far is withdrawn (R12, S22)")
    func adoptedNotices() async throws {
        let home = Household()
        let former = try await FormerApp(of: home)
        let device = NamingSurroundings()
        let app = home.app(
            surroundings: { $0 == Household.anna ? device : nil },
            adopting: FormerAccount(tokens: former.tokens, name: "before") { [file = former.file] in
                try DatabaseStore(file)
            })
        try await app.restore()
        #expect(device.withdrawn.withLock { $0.contains("before") })
    }

    @Test("a former store that takes its time holds up neither the start, nor a sign-in, nor a switch (R12)")
    func adoptedSlowly() async throws {
        let home = Household()
        let former = try await FormerApp(of: home)
        let gate = Gate()
        let app = home.app(
            adopting: FormerAccount(tokens: former.tokens) { [file = former.file] in
                let store = FailingSharedStore(try DatabaseStore(file))
                store.beforeLoad.withLock { $0 = { await gate.pass() } }
                return store
            })
        await #expect(throws: AccountListProblem.self) {
            try await home.server.passingTime { try await app.restore() }
        }
        #expect(app.list.shown == Household.anna)
        try await home.server.passingTime { try await app.signIn("bob") }
        #expect(app.list.shown == Household.bob)
        try await home.server.passingTime { try await app.show(Household.anna) }
        #expect(app.list.shown == Household.anna)
        gate.open()
        try await home.running(app) {
            await home.waits(for: "RaiseAlert", of: "anna")
            await home.server.passTime { app.list.value.problem == nil }
        }
    }

    @Test(
        "a call for help goes out as whoever another process has taken over, though the rest of the former store can't be read yet (R12, S22)"
    )
    func adoptedElsewhereSlowly() async throws {
        let home = Household()
        let former = try await FormerApp(of: home)
        let gate = Gate()
        defer { gate.open() }
        let slow = FormerAccount(tokens: former.tokens) { [file = former.file] in
            let store = FailingSharedStore(try DatabaseStore(file))
            store.beforeLoad.withLock { $0 = { await gate.pass() } }
            return store
        }
        let widget = home.app(adopting: slow)
        let app = home.app(adopting: slow)
        await #expect(throws: AccountListProblem.self) {
            try await home.server.passingTime { try await app.restore() }
        }
        #expect(app.handles.count == 1 && widget.list.accounts.isEmpty)
        try await home.server.passingTime { try await widget.raiseAlert() }
        #expect(home.done == [Household.Done(command: "RaiseAlert", handle: "anna")])
    }

    @Test("a call for help that is taken over more than once is one request to the server (R12, S22)")
    func adoptedTwice() async throws {
        let home = Household()
        let former = try await FormerApp(of: home)
        let app = home.app(
            adopting: FormerAccount(tokens: former.tokens) { [file = former.file] in
                let store = FailingSharedStore(try DatabaseStore(file))
                store.fails { $0 == .remove }
                return store
            })
        try await home.running(app) { await home.waits(for: "RaiseAlert", of: "anna") }
        let items = try await DatabaseStore(former.file).items()
        let left = try #require(items[Household.anna]?.first)
        let sent = home.server.transport.requests.filter { $0.endpoint == .command("RaiseAlert") }
        #expect(left.key.id != nil && sent.allSatisfy { $0.key == left.key.id })
        let next = home.app(adopting: former.account())
        try await home.running(next) {
            await home.server.passTime { next.list.value.problem == nil && next.state.withLock { $0.hasAdopted } }
        }
        #expect(try await DatabaseStore(former.file).items().isEmpty)
    }
}
