import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetStorage
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

/// Several accounts in one app.
@Suite(.timeLimit(.minutes(10)))
struct DeviceAccountsTests {
    // MARK: The list

    @Test(
        "whoever signs in gets a place of their own and is shown; the order and the choice outlast the app, and nothing else may read them (R12, R21)"
    )
    func list() async throws {
        let home = Household()
        let app = home.app()
        #expect(app.list.accounts.isEmpty && app.list.shown == nil && app.current.account == nil)
        try await app.signIn("bob")
        let bobs = app.current.quartet
        #expect(app.list.shown == Household.bob && bobs.session.session.account == Household.bob)
        // With Bob's clients.
        try await app.signIn("anna")
        #expect(app.list.shown == Household.anna && app.current.quartet.session.session.account == Household.anna)
        #expect(bobs.session.session.account == Household.bob, "nobody signed in in his place")
        #expect(app.handles == ["bob", "anna"])
        #expect(try home.names == ["\(Household.anna)", "\(Household.bob)", "accounts.json"].sorted())
        for (name, mode) in [("", 0o700), ("\(Household.bob)", 0o700), ("accounts.json", 0o600)] {
            let path = home.folder.appending(path: name).path
            let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(found == mode, "\(name)")
        }
        try await app.show(Household.bob)
        await #expect(throws: QuartetError.needsAuthentication) { try await app.show(Server.person(9)) }
        let next = home.app()
        #expect(next.handles == ["bob", "anna"] && next.list.shown == Household.bob)
        try await next.restore()
        #expect(next.current.quartet.session.session.account == Household.bob)
        // Somebody who signs in again stays where they were.
        try await next.signIn("bob")
        #expect(next.handles == ["bob", "anna"] && next.list.shown == Household.bob)
        try await next.show(nil)
        #expect(next.list.shown == nil && !next.current.quartet.session.session.isSignedIn)
        await #expect(throws: QuartetError.needsAuthentication) { try await next.current.quartet.user.checkIn() }
    }

    @Test(
        "a ninth account is refused before the server is asked, by a rule that says what to do; those that are listed sign in again (R12)"
    )
    func limit() async throws {
        let home = Household()
        let app = home.app()
        for number in 1...DeviceAccounts.limit { try await app.signIn("person\(number)") }
        let asked = home.server.transport.requests.count
        let refusal = QuartetError.tooManyAccounts(limit: 8)
        await #expect(throws: refusal) { try await app.signIn("person9") }
        #expect(home.server.transport.requests.count == asked && app.list.accounts.count == 8)
        #expect(Texts(languages: ["en"]).sentence(refusal).contains("remove one"))
        try await app.signIn("person3")
        #expect(app.list.shown == Household.account("person3") && app.list.accounts.count == 8)
        // Of a phone nobody knows whose it is before the server says it.
        await #expect(throws: refusal) {
            try await app.current.quartet.session.signIn(
                SignInRequest(phone: "+4915112345678", phoneCode: .new(), code: "123456"))
        }
        #expect(app.list.accounts.count == 8 && app.list.shown == Household.account("person3"))
        #expect(
            home.server.transport.requests.last?.endpoint == .signOut, "the device that the server made is signed out")
        #expect(try !home.names.contains("\(Household.anna)"))
    }

    // MARK: Switching

    @Test(
        "after a switch the new account alone is connected, each shows its own, and what each showed last is there at the next start (R12)"
    )
    func switching() async throws {
        let home = Household()
        let app = try await home.signedIn("anna", "bob")
        let bobs = app.current.quartet
        try await home.running(app) {
            let first = try await home.stream(of: "bob")
            try first.begin(as: "bob", contacts: 1)
            _ = try await withDeadline(.patience, "Bob's contact") {
                await bobs.contacts.contacts.values.wait { $0.count == 1 }
            }
            try await app.show(Household.anna)
            let second = try await home.stream(of: "anna")
            try second.begin(as: "anna", contacts: 2)
            let annas = app.current.quartet
            _ = try await withDeadline(.patience, "Anna's contacts") {
                await annas.contacts.contacts.values.wait { $0.count == 2 }
            }
            await home.server.passTime { home.server.transport.openStreams == 1 }
            #expect(bobs.contacts.contacts.count == 1)
            await home.server.passTime { app.list.value.accounts.map(\.name) == ["Anna", "Bob"] }
        }
        #expect(home.server.transport.openStreams == 0)
        for _ in 0..<2 {
            // Asked for first after that has shown what there is.
            let next = home.app()
            try await next.restore()
            #expect(next.list.accounts.map(\.name) == ["Anna", "Bob"])
            #expect(next.current.quartet.contacts.contacts.count == 2)
            try await next.show(Household.bob)
            #expect(next.current.quartet.contacts.contacts.count == 1)
            try await next.show(Household.anna)
            // What Bob has to send is sent, and his copies stay as they are.
            try await home.running(next) {
                await home.keeps { try await next.clients(of: Household.bob)?.quartet.user.raiseAlert() }
                home.goOnline()
                await home.server.passTime { next.opened.allSatisfy(\.connection.outbox.items.value.isEmpty) }
            }
        }
        #expect(home.done.filter { $0.command == "RaiseAlert" }.allSatisfy { $0.handle == "bob" })
    }

    @Test(
        "a call for help is sent though nobody holds the clients that made it, also after a switch and after a restart (R12, S22)"
    )
    func unsent() async throws {
        let home = Household()
        let app = try await home.signedIn("anna", "bob")
        await home.keeps { try await app.current.quartet.user.raiseAlert() }
        await home.keeps { try await app.current.quartet.contacts.setApproval(true) }
        try await app.show(Household.anna)
        await home.keeps { try await app.current.quartet.user.raiseAlert() }
        home.goOnline()
        try await home.running(app) {
            await home.waits(for: "RaiseAlert", of: "anna")
            await home.waits(for: "RaiseAlert", of: "bob")
            await home.server.passTime {
                app.opened.allSatisfy { !$0.connection.outbox.items.value.contains { $0.command == "RaiseAlert" } }
            }
        }

        try await app.show(Household.bob)
        await home.keeps { try await app.current.quartet.notifications.registerPush(.init(token: "t", platform: .ios)) }
        try await app.show(Household.anna)
        let next = home.app()
        #expect(next.list.shown == Household.anna)
        home.goOnline()
        try await home.running(next) {
            await home.server.passTime { home.done.count { $0.command != "RaiseAlert" && $0.handle == "bob" } >= 2 }
            await home.server.passTime {
                next.opened.count == 2 && next.opened.allSatisfy(\.connection.outbox.items.value.isEmpty)
            }
        }
        #expect(next.list.shown == Household.anna)
        #expect(home.done.filter { $0.handle == "anna" }.map(\.command) == ["RaiseAlert"])
    }

    @Test("an account that has nothing to send isn't opened before it is shown (R12)")
    func lazy() async throws {
        let home = Household()
        _ = try await home.signedIn("anna", "bob")
        let loaded = Mutex<[AccountID]>([])
        let app = home.app(store: { folder in
            loaded.withLock { $0.append(folder.account) }
            return try Household.store(folder)
        })
        try await home.running(app) {
            _ = try await home.stream(of: "bob")
            let end = home.server.clock.now + .seconds(5)
            await home.server.passTime { home.server.clock.now >= end }
            #expect(app.opened.map(\.account) == [Household.bob])
            // Its store was looked into once.
            #expect(loaded.withLock { $0.count { $0 == Household.anna } } == 1)
        }
    }

    @Test(
        "a client goes on as the account that it was got from, whichever is shown; no global one follows the switch (R12, R5)"
    )
    func heldClients() async throws {
        let home = Household()
        let app = try await home.signedIn("anna", "bob")
        let (bobs, contacts) = (app.current.quartet.user, app.current.quartet.contacts.contacts)
        try await app.show(Household.anna)
        try await home.server.passingTime { try await bobs.checkIn() }
        #expect(home.done == [Household.Done(command: "CheckIn", handle: "bob")])
        #expect(contacts === app.clients(of: Household.bob)?.quartet.contacts.contacts)
        #expect(app.current.quartet.contacts.contacts !== contacts)
        await #expect(throws: QuartetError.notConfigured("UserClient.checkIn")) {
            try await Quartet.current.user.checkIn()
        }
    }

    // MARK: Signing out

    @Test("signing one account out erases its folder alone; nobody is shown then, and the others stay (R12, S17)")
    func removal() async throws {
        let home = Household()
        let app = try await home.signedIn("anna", "bob")
        let annas = try FileManager.default.contentsOfDirectory(
            atPath: home.folder.appending(path: "\(Household.anna)").path)
        try await home.server.passingTime { try await app.remove(Household.bob) }
        #expect(app.handles == ["anna"] && app.list.shown == nil && app.clients(of: Household.bob) == nil)
        #expect(
            home.server.transport.requests.contains { $0.endpoint == .signOut && $0.token?.hasPrefix("bob-") == true })
        #expect(try home.names == ["\(Household.anna)", "accounts.json"].sorted())
        let left = try FileManager.default.contentsOfDirectory(
            atPath: home.folder.appending(path: "\(Household.anna)").path)
        #expect(Set(left).isSuperset(of: annas.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }))
        // By the clients that every screen has.
        try await app.show(Household.anna)
        try await home.server.passingTime { try await app.current.quartet.session.signOut() }
        #expect(app.list.accounts.isEmpty && app.list.shown == nil)
        #expect(try home.names == ["accounts.json"])
        #expect(home.app().list.accounts.isEmpty)
    }

    @Test(
        "somebody who was removed without a network and signs in again stays signed in, and so does their call for help, also where tokens are kept by account (R12, S17)",
        arguments: [false, true])
    func removedAndBack(isInKeychain: Bool) async throws {
        let home = Household()
        let kept = Mutex<[String: InMemoryTokenStore]>([:])
        let tokens: @Sendable (AccountFolder) -> any TokenStore = { folder in
            guard isInKeychain else { return Household.tokens(folder) }
            return kept.withLock { kept in
                let store = kept[folder.name] ?? InMemoryTokenStore()
                kept[folder.name] = store
                return store
            }
        }
        let app = home.app(tokens: tokens)
        try await app.signIn("anna")
        home.goOffline()
        try await home.server.passingTime { try await app.remove(Household.anna) }
        #expect(app.list.accounts.isEmpty && home.app(tokens: tokens).list.accounts.isEmpty)
        home.goOnline()
        try await home.server.passingTime { try await app.signIn("anna") }
        await home.keeps { try await app.current.quartet.user.raiseAlert() }
        let next = home.app(tokens: tokens)
        try await next.restore()
        #expect(next.handles == ["anna"] && next.list.shown == Household.anna)
        home.goOnline()
        try await home.running(next) { await home.waits(for: "RaiseAlert", of: "anna") }
        #expect(next.current.quartet.session.session.account == Household.anna)
        #expect(try home.names == ["\(Household.anna)", "accounts.json"].sorted())
    }

    @Test(
        "an account that is removed without a network goes at once; the server hears of it from the next run (R12, S17)"
    )
    func removalOffline() async throws {
        let home = Household()
        let app = try await home.signedIn("anna", "bob")
        home.goOffline()
        try await home.server.passingTime { try await app.remove(Household.bob) }
        #expect(app.handles == ["anna"])
        let next = home.app()
        try await next.restore()
        #expect(next.handles == ["anna"])
        home.goOnline()
        try await home.running(next) {
            await home.server.passTime { (try? home.names.count) == 2 }
        }
        #expect(
            home.server.transport.requests.contains { $0.endpoint == .signOut && $0.token?.hasPrefix("bob-") == true })
        #expect(try home.names == ["\(Household.anna)", "accounts.json"].sorted())
    }

    @Test("a call for help that signing out drops leaves a card that says whose it was, whoever is shown (R12, S22)")
    func cards() async throws {
        let home = Household()
        let app = try await home.signedIn("anna", "bob")
        await home.keeps { try await app.current.quartet.user.raiseAlert() }
        // A process that hasn't read what Bob has.
        let next = home.app()
        try await home.server.passingTime { try await next.remove(Household.bob) }
        try await next.show(Household.anna)
        let cards = next.unsent
        #expect(cards.map(\.account) == [Household.bob] && cards.map(\.change.command) == ["RaiseAlert"])
        #expect(cards.first?.owner.handle == "bob")
        #expect(next.current.connection.outbox.unsent.value.isEmpty, "it isn't hers")
        if let card = cards.first { try await next.markRead(card) }
        #expect(next.unsent.isEmpty)
    }

    @Test("a card of an account that isn't shown is there as well, and its readers hear of it (R12, S22)")
    func cardsOfOthers() async throws {
        let home = Household()
        let app = try await home.signedIn("anna", "bob")
        await home.keeps { try await app.current.quartet.user.raiseAlert() }
        try await app.show(Household.anna)
        home.server.clock.advance(by: .seconds(25 * 3600))
        // A new process asks the server for the time before it lets a change expire.
        home.goOnline()
        let next = home.app()
        try await home.running(next) {
            await home.server.passTime { next.unsent.map(\.account) == [Household.bob] }
        }
        #expect(next.unsent.map(\.change.reason) == [.expired] && next.list.shown == Household.anna)
    }

    // MARK: Pushes and calls for help

    @Test(
        "a push is its account's, whichever is shown; nobody is switched to it, and for somebody who isn't here it is nobody's (R12, P29)"
    )
    func push() async throws {
        let home = Household()
        let app = try await home.signedIn("anna", "bob")
        try await home.running(app) {
            try await home.stream(of: "bob").begin(as: "bob")
            try await app.current.connection.ready()
        }
        try await app.show(Household.anna)
        // An extension, which runs nothing.
        let next = home.app()
        let push = QuartetPush.notification(try PushTests.message(Household.bob))
        #expect(push.account == Household.bob)
        home.goOffline()
        let account = try await home.server.passingTime { try await next.handle(push) }
        #expect(account.id == Household.bob && account.handle == "bob")
        #expect(next.clients(of: Household.bob)?.quartet.notifications.notifications.unreadCount == 1)
        #expect(next.current.quartet.notifications.notifications.unreadCount == 0 && next.list.shown == Household.anna)
        home.goOnline()
        try await home.running(next) { await home.waits(for: "ShowNotifications", of: "bob") }
        #expect(home.done.allSatisfy { $0.handle == "bob" } && next.list.shown == Household.anna)
        await #expect(throws: QuartetError.needsAuthentication) { try await next.handle(.news(Server.person(9))) }
    }

    /// Why nobody's screen is there.
    enum Nobody: CaseIterable { case shown, started, listDamaged, listGone, signedOutElsewhere }

    @Test(
        "a call for help goes out as somebody who is signed in on the device, whatever the list says and before anything was read (R12)",
        arguments: Nobody.allCases)
    func help(_ nobody: Nobody) async throws {
        let home = Household()
        let app = try await home.signedIn("bob", "anna")
        var user = app.current.quartet.user
        switch nobody {
        case .shown:
            try await app.show(nil)
            user = app.current.quartet.user
        case .started: user = home.app().current.quartet.user
        case .listDamaged:
            try Data("{".utf8).write(to: home.list)
            let next = home.app()
            #expect(next.list.shown == nil && next.list.problem != nil)
            try await home.server.passingTime { try await next.current.quartet.user.raiseAlert() }
        case .listGone:
            try FileManager.default.removeItem(at: home.list)
            try await home.server.passingTime { [next = home.app()] in try await next.raiseAlert() }
        case .signedOutElsewhere:
            try await home.server.passingTime { [other = home.app()] in try await other.remove(Household.anna) }
        }
        if home.done.isEmpty {
            try await home.server.passingTime { [user] in try await user.raiseAlert() }
        }
        #expect(home.done.count == 1 && home.done.first?.command == "RaiseAlert")
        if nobody == .started { #expect(home.done.first?.handle == "anna") }
        if nobody == .signedOutElsewhere { #expect(home.done.first?.handle == "bob") }
    }

    // MARK: Trouble with the disk

    @Test(
        "a store that can't be opened keeps nobody from being shown and from calling for help; what it has is sent once it can (R12, S42)"
    )
    func lockedStore() async throws {
        let home = Household()
        let app = try await home.signedIn("bob", "anna")
        try await app.show(Household.bob)
        await home.keeps { try await app.current.quartet.contacts.setApproval(true) }
        let isLocked = Mutex(true)
        let next = home.app(store: { folder in
            if folder.account == Household.bob, isLocked.withLock({ $0 }) { throw POSIXError(.EACCES) }
            return try Household.store(folder)
        })
        #expect(next.list.shown == Household.bob)
        home.goOnline()
        try await home.running(next) {
            try await home.server.passingTime { try await next.current.quartet.user.raiseAlert() }
            #expect(home.done.contains(Household.Done(command: "RaiseAlert", handle: "bob")))
            try await next.show(Household.anna)
            try await next.show(Household.bob)
            #expect(next.list.shown == Household.bob)
            isLocked.withLock { $0 = false }
            await home.server.passTime { home.done.contains { $0.command != "RaiseAlert" && $0.handle == "bob" } }
        }
    }

    @Test(
        "a full disk keeps nobody from being shown, from signing in or out, and from calling for help; the list says it later (R12)"
    )
    func fullDisk() async throws {
        let home = Household()
        _ = try await home.signedIn("bob", "anna")
        let isFull = Mutex(true)
        let app = home.app({ shelf in
            TroubledShelf(shelf: shelf) { if isFull.withLock({ $0 }) { throw POSIXError(.ENOSPC) } }
        })
        try await app.show(Household.bob)
        #expect(app.list.shown == Household.bob && home.app().list.shown == Household.anna)
        try await home.server.passingTime { try await app.current.quartet.user.raiseAlert() }
        #expect(home.done == [Household.Done(command: "RaiseAlert", handle: "bob")])
        try await app.signIn("anna")
        #expect(app.list.shown == Household.anna)
        try await home.server.passingTime { try await app.remove(Household.anna) }
        #expect(app.handles == ["bob"])
        try await app.show(Household.bob)
        isFull.withLock { $0 = false }
        try await home.running(app) {
            await home.server.passTime { (try? home.names.count) == 2 && home.app().list.shown == Household.bob }
        }
        #expect(home.app().handles == ["bob"])
    }

    @Test(
        "a list that can't be read is no empty one: nothing is erased or replaced, those who are known stay, and it can be repaired (R12, S42)"
    )
    func unreadable() async throws {
        let home = Household()
        let app = try await home.signedIn("bob", "anna")
        let damaged = Data(#"{"format": 1, "accounts": [{"#.utf8)
        try damaged.write(to: home.list)
        let before = try home.names
        let next = home.app()
        try await home.running(app) {
            try await home.running(next) {
                await home.server.passTime { app.list.value.problem != nil }
                let end = home.server.clock.now + .seconds(5)
                await home.server.passTime { home.server.clock.now >= end }
            }
        }
        #expect(app.handles == ["bob", "anna"] && app.list.shown == Household.anna)
        #expect(next.list.accounts.isEmpty && next.list.problem != nil)
        await #expect { try await next.restore() } throws: { error in
            guard case .damaged? = error as? AccountListProblem else { return false }
            return "\(error)".contains("Repair it")
        }
        // Somebody can sign in, and is there.
        try await next.signIn("bob")
        #expect(next.handles == ["bob"] && next.list.shown == Household.bob)
        #expect(try Data(contentsOf: home.list) == damaged && Set(home.names).isSuperset(of: before))
        try await next.repair()
        #expect(Set(next.list.accounts.map(\.id)) == [Household.anna, Household.bob] && next.list.problem == nil)
        try await next.restore()
        try await app.restore()
        #expect(Set(app.list.accounts.map(\.id)) == [Household.anna, Household.bob])
        #expect(try home.names.contains("accounts.damaged.json"))
    }

    @Test("what a newer version of the app wrote isn't taken for damage, and isn't replaced (R12)")
    func newerFormat() async throws {
        let home = Household()
        let app = try await home.signedIn("bob")
        let newer = Data(#"{"format": 2, "people": []}"#.utf8)
        try newer.write(to: home.list)
        try await app.signIn("anna")
        guard case .unavailable? = app.list.value.problem else {
            Issue.record("\(app.list.value)")
            return
        }
        await #expect(throws: AccountListProblem.self) { try await app.repair() }
        #expect(try Data(contentsOf: home.list) == newer)
        #expect(app.handles == ["bob", "anna"])
    }

    @Test("a store of tokens that two accounts share is used for neither's requests but its own (R12, R21)")
    func foreignTokens() async throws {
        let home = Household()
        let shared = InMemoryTokenStore()
        let app = home.app(tokens: { _ in shared })
        try await app.signIn("anna")
        await #expect(throws: QuartetError.self) { try await app.signIn("bob") }
        #expect(shared.load()?.account == Household.anna && app.list.shown == Household.anna)
        try await home.server.passingTime { try await app.current.quartet.user.raiseAlert() }
        #expect(home.done == [Household.Done(command: "RaiseAlert", handle: "anna")])
    }

    // MARK: Ends of processes, and several of them

    enum Act: CaseIterable { case adding, showing, removing }

    @Test(
        "an app that is killed at any step of adding, showing or removing is as before it or as after it when it starts again (R12, S17)",
        arguments: Act.allCases)
    func killed(_ act: Act) async throws {
        for steps in 0..<20 {
            let home = Household()
            let first = home.app()
            if act != .adding { try await first.signIn("bob") }
            try await first.signIn("anna")
            await home.keeps { try await first.current.quartet.user.raiseAlert() }
            home.goOnline()
            let life = Mortality()
            let app = home.app(
                { TroubledShelf(shelf: $0) { try life.step() } },
                tokens: { MortalTokens(store: FileTokenStore($0.url.appending(path: "tokens")), life: life) })
            life.end(after: steps)
            // What it says to a killed app doesn't matter.
            _ = try? await home.server.passingTime {
                switch act {
                case .adding: try await app.signIn("bob")
                case .showing: try await app.show(Household.bob)
                case .removing: try await app.remove(Household.bob)
                }
            }
            let next = home.app()
            try await next.restore()
            let (listed, shown) = (Set(next.list.accounts.map(\.id)), next.list.shown)
            #expect(
                listed.isSubset(of: [Household.anna, Household.bob]) && listed.contains(Household.anna), "\(steps)")
            #expect(shown == Household.anna || act != .removing && shown == Household.bob, "\(steps)")
            if act == .showing { #expect(listed.count == 2, "\(steps)") }
            try await next.show(Household.anna)
            #expect(next.current.connection.outbox.items.value.map(\.command) == ["RaiseAlert"], "\(steps)")
            try await home.running(next) {
                await home.waits(for: "RaiseAlert", of: "anna")
                if act == .removing, !listed.contains(Household.bob) {
                    await home.server.passTime { (try? home.names.contains("\(Household.bob)")) == false }
                }
            }
            // Whoever isn't signed in can sign in.
            try await next.signIn("bob")
            #expect(next.list.shown == Household.bob && next.list.accounts.count == 2, "\(steps)")
            guard life.isOver else {
                #expect(listed.contains(Household.bob) == (act != .removing))
                #expect(shown == (act == .removing ? Household.anna : Household.bob))
                #expect(steps >= (act == .showing ? 1 : 2))
                return
            }
        }
        Issue.record("it never gets to the end")
    }

    @Test("what another process keeps for an account that isn't shown here is sent from here (R12, F9)")
    func otherProcess() async throws {
        let home = Household()
        let app = try await home.signedIn("bob", "anna")
        try await home.running(app) {
            try await home.stream(of: "anna").begin(as: "anna")
            try await app.current.connection.ready()
            let end = home.server.clock.now + .seconds(3)
            await home.server.passTime { home.server.clock.now >= end }
            // The list stays as it is meanwhile.
            let widget = home.app()
            await home.keeps { try await widget.clients(of: Household.bob)?.quartet.user.raiseAlert() }
            home.goOnline()
            await home.waits(for: "RaiseAlert", of: "bob")
            #expect(app.list.shown == Household.anna)
        }
    }

    @Test(
        "each process shows whom it chose; what one adds or removes is so in the others, and an account that came back is used by its clients of before (R12, F9)"
    )
    func processes() async throws {
        let home = Household()
        let app = try await home.signedIn("anna")
        let held = app.current.quartet
        let other = home.app()
        try await home.running(other) {
            try await app.signIn("bob")
            await home.server.passTime { other.handles == ["anna", "bob"] }
            #expect(other.list.shown == Household.anna)
        }
        // The other one removes Anna, who comes back, while this one looks at nothing.
        try await home.server.passingTime { try await other.remove(Household.anna) }
        #expect(try !home.names.contains("\(Household.anna)"))
        try await home.server.passingTime { try await other.signIn("anna") }
        try await home.server.passingTime { try await held.user.raiseAlert() }
        #expect(home.done == [Household.Done(command: "RaiseAlert", handle: "anna")])
        await home.keeps { try await held.contacts.setApproval(true) }
        #expect(try await Household.store(app.folder(of: Household.anna)).load(Household.anna).items.count == 1)
        home.goOnline()
        try await home.server.passingTime { try await other.remove(Household.anna) }
        try await home.running(app) { await home.server.passTime { app.handles == ["bob"] } }
        #expect(app.list.shown == Household.bob)
    }

    @Test("only folders that were named here are accounts, and nothing else is read or erased (R12)")
    func names() throws {
        let home = Household()
        let shelf = FolderShelf(root: home.folder)
        #expect(try shelf.folders().isEmpty && shelf.list() == nil)
        _ = try shelf.lock()
        try shelf.make(Household.anna)
        for name in ["x", "\(Household.bob).erased", "\(Household.bob)".uppercased(), "\(Household.bob).x"] {
            try FileManager.default.createDirectory(
                at: home.folder.appending(path: name), withIntermediateDirectories: true)
        }
        let before = try home.names
        #expect(try shelf.folders() == [Household.anna])
        // Only of an account that has signed out, and hasn't signed in since.
        try shelf.erase(Household.anna)
        try shelf.leave(Household.anna)
        #expect(try shelf.hasLeft(Household.anna))
        try shelf.make(Household.anna)
        #expect(try !shelf.hasLeft(Household.anna))
        try shelf.erase(Household.anna)
        #expect(try home.names == before)
        try shelf.leave(Household.anna)
        try shelf.erase(Household.anna)
        #expect(try home.names == before.filter { $0 != "\(Household.anna)" })
    }

    // MARK: Without a disk, and in the world

    @Test("accounts in memory are listed, shown and removed as others are, and leave nothing (R12, P36)")
    func inMemory() async throws {
        let home = Household()
        let app = DeviceAccounts(inMemory: { [server = home.server] in server.transport }, time: home.time)
        for handle in ["anna", "bob"] { try await app.signIn(handle) }
        try await app.show(Household.anna)
        #expect(app.handles == ["anna", "bob"] && app.current.account == Household.anna)
        try await home.server.passingTime { try await app.remove(Household.bob) }
        #expect(app.handles == ["anna"] && app.list.shown == Household.anna)
        #expect(try home.names.isEmpty)
    }

    @Test(
        "in a world, two people share a phone: a call for help is sent after a switch and a restart, and neither sees what is the other's (R12, P36)"
    )
    func world() async throws {
        let world = QuartetWorld(seed: 12)
        let carol = try await world.person("carol")
        let phone = await world.accounts(on: "phone")
        for handle in ["anna", "bob"] {
            _ = try await phone.current.quartet.session.signUp(
                SignUpRequest(handle: handle, password: "correct horse battery", name: handle.capitalized))
        }
        await world.settle()
        let (anna, bob) = (phone.list.value.accounts[0].id, phone.list.value.accounts[1].id)
        try await phone.current.quartet.contacts.add(
            AddContactRequest(code: carol.contacts.contacts.value.code, isMyResponder: true, iAmResponder: false))
        await world.settle()
        world.cut("phone", for: .minutes(10))
        await #expect(throws: QuartetError.willBeSentWhenOnline) { try await phone.current.quartet.user.raiseAlert() }
        try await phone.show(anna)
        let next = await world.accounts(on: "phone")
        #expect(next.list.shown == anna && next.list.value.accounts.map(\.handle) == ["anna", "bob"])
        await world.settle()
        #expect(carol.notifications.notifications.history.contains { $0.subject == bob })
        #expect(next.current.quartet.user.user.alertRaised == nil)
        #expect(next.clients(of: bob)?.quartet.user.user.alertRaised != nil)
        #expect(next.current.quartet.contacts.contacts.count == 0)
        try await next.remove(bob)
        await world.settle()
        #expect(next.list.value.accounts.map(\.id) == [anna] && next.list.shown == anna)
    }
}
