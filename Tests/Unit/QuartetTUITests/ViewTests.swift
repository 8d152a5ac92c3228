import Foundation
import Games
import TestKit
import Testing

@testable import QuartetClient
@testable import quartet_tui

/// A server that never answers.
private struct MuteTransport: Transport {
    func send(_ request: TransportRequest) async throws -> TransportReply { throw await cancellation() }
    func open(_ request: StreamRequest) async throws -> OpenedStream { throw await cancellation() }

    /// Comes once the task is cancelled.
    private func cancellation() async -> CancellationError {
        let (silence, end) = AsyncStream<Void>.makeStream()
        for await _ in silence {}
        withExtendedLifetime(end) {}
        return CancellationError()
    }
}

@Suite("What screens show and what keys ask for")
struct ViewTests {
    private static let now = Instant(microseconds: 1_800_000_000_000_000)
    private static let (anna, bob) = (AccountID.new(), AccountID.new())

    private static func shown(
        _ connection: ConnectionState = .connected, contact: (inout Contact) -> Void = { _ in },
        bob person: Person = Person(account: ViewTests.bob, handle: "bob", name: "Bob"),
        account change: (inout AccountState) -> Void = { _ in },
        contacts changeContacts: (inout ContactsState) -> Void = { _ in }
    ) -> Shown {
        var quartet = Quartet.failing { .notConfigured($0) }
        var account = AccountState(account: anna)
        account.handle = "anna"
        account.checkIn.due = now + .hours(2)
        change(&account)
        var friend = Contact(
            account: bob, nickname: "", notes: "", isMyResponder: true, iAmResponder: true, sendPings: true,
            receivePings: true, notifyOnCheckIn: true, notifyOnMissedCheckIn: true, added: now, updated: now, version: 1
        )
        contact(&friend)
        var contacts = ContactsState(account: anna)
        contacts.contacts = [friend]
        changeContacts(&contacts)
        quartet.session = .preview(Credentials(account: anna, device: .new(), refreshToken: ""))
        quartet.user = .preview(account)
        quartet.contacts = .preview(contacts, people: [person])
        return Shown(quartet, connection, server: "https://example.org", now: now)
    }

    private func rows(_ model: Model, _ shown: Shown, width: Int = 80, height: Int = 24) -> [String] {
        Screen(Frame.lines(model, shown, width: width, height: height), width: width, height: height).rows
    }

    @Test(
        "the connection has a word for each of its states, and a dot (T10, T12)",
        arguments: [
            (ConnectionState.connected, "● Connected"), (.connecting, "● Connecting…"),
            (.reconnecting(attempt: 3), "● Reconnecting (3)…"), (.disconnected, "● Disconnected"),
            (.needsAuthentication, "● Sign in again"), (.notSignedIn, "○ Not signed in"),
            (.notConfigured, "○ Not configured"),
            (.failed(.silent), "● Disconnected"),
        ])
    func connection(state: ConnectionState, words: String) {
        #expect(rows(Model(), Self.shown(state))[0].hasSuffix(words))
    }

    @Test(
        """
        in a session the connection's words say so; where there is too little room they give way to the tabs' titles, unless they say \
        that somebody is in a session or that something is wrong (P11)
        """
    )
    func session() {
        for (state, isInSession, width, words, hasTitles) in [
            (.connected, true, 90, " ● Connected • Session Active", true),
            (.connected, true, 60, " ● Connected • Session Active", false),
            (.connected, false, 60, "  ●", true), (.connected, false, 80, " ● Connected", true),
            (.reconnecting(attempt: 2), false, 60, " ● Reconnecting (2)…", false),
        ] as [(ConnectionState, Bool, Int, String, Bool)] {
            var shown = Self.shown(state)
            shown.isInSession = isInSession
            let header = rows(Model(), shown, width: width)[0]
            #expect(header.hasSuffix(words) && header.contains("4 Together") == hasTitles, "\(header)")
        }
    }

    @Test("where damaged tokens are why nobody is signed in, it says so (T12, S42)")
    func damagedTokens() {
        var shown = Self.shown(.needsAuthentication)
        shown.session = SessionClient.preview(nil).session.value
        let sentence = "This device can't read what it was signed in with"
        #expect(!rows(Model(), shown).contains { $0.contains(sentence) })
        shown.error = .tokensUnreadable
        #expect(rows(Model(), shown).contains { $0.contains(sentence) })
    }

    @Test("what was open isn't there for whoever signs in next, and what they type meanwhile is the form's (T10)")
    func signedOut() {
        var model = Model()
        _ = model.handle(.character("2"), Self.shown())
        _ = model.handle(.character("n"), Self.shown())
        #expect(model.tab == .contacts && model.dialog != nil)
        let form = model.signIn
        _ = model.handle(.character("a"), Self.shown(.needsAuthentication))
        #expect(model.tab == .checkIn && model.dialog == nil && model.signIn != form)
    }

    @Test(
        "@ lists the accounts on this computer, shows another one, or signs in to one more; where nobody is shown, Esc does (R12)"
    )
    func accounts() {
        var (model, shown) = (Model(), Self.shown())
        shown.accounts = [
            DeviceAccount(id: Self.anna, handle: "anna", name: "Anna"),
            DeviceAccount(id: Self.bob, handle: "bob", name: nil),
        ]
        #expect(model.handle(.character("@"), shown) == nil)
        let all = rows(model, shown)
        #expect(all.contains { $0.contains("1  Anna  @anna  (now)") } && all.contains { $0.contains("2  @bob ") })
        _ = model.handle(.down, shown)
        #expect(model.handle(.enter, shown) == .show(Self.bob) && model.dialog == nil)
        shown.session = SessionClient.preview(nil).session.value
        shown.connection = .notSignedIn
        #expect(rows(model, shown).contains { $0.contains("Esc: accounts on this computer") })
        #expect(model.handle(.escape, shown) == nil)
        #expect(rows(model, shown).contains { $0.contains("1  Anna  @anna ") })
        _ = model.handle(.up, shown)
        #expect(model.handle(.enter, shown) == .show(nil) && model.dialog == nil)
    }

    @Test("a drill is proposed once there is a responder, asked about, run, and then read: whom it reached (A11)")
    func drill() throws {
        var model = Model()
        let before = Self.shown()
        #expect(rows(model, before).contains { $0.contains("D: run a drill") })
        #expect(!rows(model, Self.shown { $0.isMyResponder = false }).contains { $0.contains("D: run") })
        #expect(model.handle(.character("D"), before) == nil)
        #expect(rows(model, before).contains { $0.contains("it is no alarm") })
        model.dialog = nil
        let drill = DrillState(id: .new(), began: Self.now - .minutes(5), ends: Self.now + .minutes(55))
        let during = Self.shown(account: { $0.drill = drill })
        #expect(model.handle(.character("D"), during) == .readDrill && model.dialog == nil)
        let receipt = DrillReceipt(account: Self.bob, notified: drill.began, answered: nil)
        model.drill = DrillReport(drill: drill, responders: [receipt])
        #expect(rows(model, during).contains { $0.contains("A drill is on until") && $0.contains("no alarm") })
        #expect(rows(model, during).contains { $0.contains("ready for Bob after") && $0.contains("no answer yet") })
        let over = DrillState(
            id: drill.id, began: Self.now - .days(31), ends: Self.now - .days(30), ended: Self.now - .days(30),
            end: .over)
        let after = Self.shown(account: { $0.drill = over })
        #expect(rows(Model(), after).contains { $0.contains("a month ago or more") })
        #expect(model.handle(.character("D"), after) == nil && model.dialog != nil)
    }

    @Test(
        "it says after how long a ping raises an alert, and whose never does; just after a ping one can't ask again (A4)"
    )
    func pings() {
        let never = "Never one of Bob: choose it with u among the contacts."
        for (after, ofBob) in [(30, nil), (30, 0), (30, 60), (nil, 0)] as [(Int64?, Int64?)] {
            let shown = Self.shown(
                contact: { $0.pingEscalation = ofBob.map(Interval.minutes) },
                contacts: { $0.pingEscalation = PingEscalation(after: after.map(Interval.minutes)) })
            let rows = rows(Model(), shown)
            #expect(rows.contains("A ping unanswered for 30 min raises an alert.") == (after != nil))
            #expect(rows.contains(never) == (after != nil && ofBob == 0))
        }
        // Whom one looks after alone isn't meant.
        let dependent = Self.shown(
            contact: { ($0.isMyResponder, $0.pingEscalation) = (false, .seconds(0)) },
            contacts: { $0.pingEscalation = PingEscalation(after: .minutes(30)) })
        #expect(!rows(Model(), dependent).contains { $0.contains("Never one of") })
        for (ago, canAsk) in [(9, false), (10, true)] as [(Int64, Bool)] {
            var model = Model()
            model.tab = .contacts
            let shown = Self.shown { contact in
                contact.outgoingPing = Self.now - .seconds(ago)
                contact.isOutgoingPingOver = true
            }
            #expect(rows(model, shown).contains { $0.contains("a ask again") } == canAsk)
            #expect(model.handle(.character("a"), shown) == (canAsk ? .ping(Self.bob) : nil))
        }
    }

    @Test(
        """
        in 80 columns a contact's row says who is on an alarm and when an unanswered ping raises an alert, before anything else, and \
        below the selected row stands all of it (A2, A4, S47)
        """
    )
    func narrow() {
        var model = Model()
        model.tab = .contacts
        let alarm = AlarmID.new()
        let since = Self.now - .minutes(2)
        let trip = PersonTrip(
            name: "Walk around the lake with the dog and Ed", note: "The blue car", eta: since - .minutes(9))
        var missed = CheckInState(interval: .hours(1), due: since, missed: true)
        missed.alarm = alarm
        let late = LateCall(pressed: since - .minutes(20), received: since)
        let people = [
            Person(account: Self.bob, name: "Bob", alertRaised: since, alertAlarm: alarm, trip: trip),
            Person(account: Self.bob, name: "Bob", alertRaised: since, alertAlarm: alarm, lateCall: late),
            Person(account: Self.bob, name: "Bob", checkIn: missed),
        ]
        let until = Self.now + .minutes(30)
        let given = GivenAlarmAnswer(
            dependent: Self.bob, alarm: alarm, responder: .new(), answer: .onIt, until: until, answered: Self.now)
        for person in people {
            let shown = Self.shown(bob: person, contacts: { $0.alarmAnswers = [given] })
            let all = rows(model, shown)
            #expect(all.contains { $0.hasPrefix(" Bob ") && $0.contains("is on it") }, "\(all)")
            // Nothing of it is cut off below.
            let below = all.filter { $0.hasPrefix("   ") }
            let listed = shown.contacts.grouped(at: Self.now)[0].contacts[0]
            let whole = [Words.answer(given, shown), Words.status(listed, shown), person.trip?.note]
                .compactMap(\.self).joined(separator: " ")
            let said = below.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
            #expect(said == whole, "\(all)")
        }
        let alert = Self.shown(bob: people[0])
        #expect(rows(model, alert).contains { $0.hasPrefix(" Bob ") && $0.contains("Nobody is on it.") })
        let pinged = Self.shown { ($0.outgoingPing, $0.outgoingPingDue) = (since, until) }
        #expect(rows(model, pinged).contains { $0.hasPrefix(" Bob ") && $0.contains("alert at \(Words.clock(until))") })
        // What somebody asks for stands behind an alarm.
        let asks = Self.shown(
            contact: { ($0.notifyOnMissedCheckIn, $0.incomingRoleRequest) = (false, Self.now) }, bob: people[2])
        #expect(rows(model, asks).contains { $0.hasPrefix(" Bob ") && $0.contains("Missed") })
    }

    @Test("a text is broken between words, and within one that is wider than a row")
    func wrapping() {
        #expect(Rows.wrapped("Bob is on it", 6) == ["Bob is", "on it"])
        #expect(Rows.wrapped("日本語 a abcdefg", 4) == ["日本", "語 a", "abcd", "efg"])
        #expect(Rows.wrapped("", 4).isEmpty && Rows.wrapped("Bob", 0).isEmpty)
    }

    @Test("whoever asks to look after this account is counted on the tab, shown, and answered by keys (S8, S47)")
    func roleRequest() {
        var model = Model()
        model.tab = .contacts
        let shown = Self.shown { ($0.isMyResponder, $0.incomingRoleRequest) = (false, Self.now) }
        let all = rows(model, shown)
        #expect(all[0].contains("2 Contacts (1)"))
        #expect(all.contains { $0.hasPrefix(" Bob ") && $0.contains("Wants to look after you: y yes, N no.") })
        #expect(all.contains { $0.hasPrefix("y yes   N no ") })
        let refused = model.handle(.character("N"), shown)
        #expect(refused == .declineRole(Self.bob))
        let asked = model.handle(.character("y"), shown)
        #expect(asked == nil && model.dialog?.purpose == .confirm(.acceptRole(Self.bob)))
        model.dialog = nil
        for key: Character in ["y", "N"] {
            let nothing = model.handle(.character(key), Self.shown())
            #expect(nothing == nil && model.dialog == nil)
        }
    }

    @Test("contacts stand in groups by how they are, or in another order; tabs say how much waits (S47)")
    func lists() {
        var model = Model()
        model.tab = .contacts
        let late = Person(
            account: Self.bob, name: "Bob",
            checkIn: CheckInState(interval: .hours(1), due: Self.now - .minutes(7), missed: true))
        let shown = Self.shown(contact: { $0.incomingPing = Self.now - .minutes(5) }, bob: late)
        let all = rows(model, shown)
        #expect(all[0].contains("2 Contacts (2)") && all.contains("By: Status (S for another order)"))
        let title = all.firstIndex(of: "Missed their check-in (1)")
        #expect(title.map { all[$0 + 1].hasPrefix(" Bob ") } == true)
        let missed = "Missed the check-in of \(Words.clock(Self.now - .minutes(7))), 7 min ago"
        #expect(all.contains { $0.contains(missed) })
        let tabs = Frame.lines(model, shown, width: 80, height: 24)[0].spans
        #expect(tabs.first { $0.text.contains("Contacts") }?.style.color == .red)
        #expect(tabs.first { $0.text.contains("Check-in") }?.style.color == nil)
        for (name, title) in [("Name", "B (1)"), ("Next check-in", nil), ("Newest", nil), ("Status", nil)]
            as [(String, String?)]
        {
            let asked = model.handle(.character("S"), shown)
            let all = rows(model, shown)
            #expect(asked == nil && all.contains("By: \(name) (S for another order)"))
            if let title { #expect(all.contains(title)) }
        }
    }

    @Test("an urgent change that was never sent stays on the screen until a key says that it was read (S22)")
    func unsent() {
        let item = OutboxItem(
            id: 7, stream: "account", command: "RaiseAlert", acted: Self.now, lifetime: .days(1), actedAtServer: nil,
            edit: Data())
        for state in [ConnectionState.connected, .needsAuthentication] {
            var shown = Self.shown(state)
            shown.unsent = [UnsentChange(item, .expired)]
            for tab in Model.Tab.allCases {
                var model = Model()
                model.tab = tab
                let row = rows(model, shown).first { $0.hasPrefix("Your call for help (") }
                #expect(row?.contains("was NOT sent: it couldn't") == true && row?.hasSuffix(" read") == true)
            }
            var model = Model()
            let isSignedIn = state == .connected
            let other = model.handle(isSignedIn ? .escape : .character("d"), shown)
            let read = model.handle(isSignedIn ? .character("d") : .escape, shown)
            #expect(other == nil && read == .dismiss(7))
            shown.unsent = []
            let none = model.handle(isSignedIn ? .character("d") : .escape, shown)
            #expect(none == nil)
        }
    }

    @Test("what signing out dropped stays on the screen until a key says that it was read (S17)")
    func dropped() {
        for state in [ConnectionState.connected, .needsAuthentication] {
            var shown = Self.shown(state)
            shown.dropped = ["SendPing", "UpdateContact"]
            var model = Model()
            let row = rows(model, shown).first { $0.hasPrefix("Signing out dropped 2 changes") }
            #expect(row?.hasSuffix(" read") == true)
            let read = model.handle(state == .connected ? .character("d") : .escape, shown)
            #expect(read == .dismissDropped)
            shown.dropped = []
            let none = model.handle(state == .connected ? .character("d") : .escape, shown)
            #expect(none == nil)
        }
    }

    @Test("that what the device kept was damaged stays on the screen until a key says that it was read (S42)")
    func setAside() {
        for state in [ConnectionState.connected, .needsAuthentication] {
            var shown = Self.shown(state)
            let key: quartet_tui.Key = state == .connected ? .character("d") : .escape
            var model = Model()
            #expect(!rows(model, shown).contains { $0.contains("damaged") })
            shown.hasSetAside = true
            shown.dropped = ["SendPing"]
            let row = rows(model, shown).first { $0.contains("damaged") }
            #expect(row?.contains("even an alert.  ") == true && row?.hasSuffix(" read") == true)
            let read = model.handle(key, shown)
            #expect(read == .dismissSetAside)
            shown.hasSetAside = false
            let next = model.handle(key, shown)
            #expect(next == .dismissDropped)
        }
    }

    @Test("the app says so of a damaged file at its start, and removes that once somebody has read it (S42)")
    func setAsideFile() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tui-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let settings = try Settings(["--folder", folder.path], [:])
        let file = folder.appending(path: "state")
        do {
            let device = try Device(settings)
            _ = try device.stores.open(file)
            #expect(!device.hasSetAside)
        }
        var content = try Data(contentsOf: file)
        content.replaceSubrange(0..<4096, with: Data(repeating: 0xFF, count: 4096))
        try content.write(to: file)
        let device = try Device(settings)
        _ = try device.stores.open(file)
        #expect(device.hasSetAside)
        try device.removeSetAside()
        #expect(!device.hasSetAside)
    }

    @Test("a frame has as many rows as the terminal, whatever its size, on every tab")
    func sizes() {
        for tab in Model.Tab.allCases {
            for (width, height) in [(80, 24), (200, 60), (40, 10), (20, 6), (1, 1)] {
                var model = Model()
                model.tab = tab
                let lines = Frame.lines(model, Self.shown(), width: width, height: height)
                #expect(lines.count == max(6, height), "\(tab) on \(width)×\(height)")
                model.dialog = .init(form: SignInScreen.signUp, purpose: .add)
                #expect(Frame.lines(model, Self.shown(), width: width, height: height).count == max(6, height))
            }
        }
    }

    @Test("the check-in shows how much time is left, and a missed one how late it is (S1, S2)")
    func checkIn() {
        #expect(rows(Model(), Self.shown()).contains { $0.hasPrefix("Time left: 2 h  (until ") })
        let missed = Self.shown(account: { account in
            account.checkIn.missed = true
            account.checkIn.due = Self.now - .minutes(7)
        })
        #expect(rows(Model(), missed).contains { $0.hasPrefix("You missed your check-in") && $0.contains("7 min ago") })
    }

    @Test("an alert that was raised late shows when help was asked for, and when the server had it (S34)")
    func lateCall() {
        let call = LateCall(pressed: Self.now - .minutes(20), received: Self.now - .minutes(2))
        let late = "called 20 min ago, received \(Words.clock(Self.now - .minutes(2)))"
        let own = Self.shown(account: { account in
            (account.alertRaised, account.lateCall) = (Self.now - .minutes(2), call)
        })
        #expect(rows(Model(), own).contains { $0.hasPrefix("You \(late).") })
        var model = Model()
        model.tab = .contacts
        let bob = Person(
            account: Self.bob, alertRaised: Self.now - .minutes(2), alertAlarm: .new(),
            lateCall: call)
        let (since, pressed) = (Words.clock(Self.now - .minutes(2)), Words.clock(Self.now - .minutes(20)))
        let words = "Alert since \(since); called for help at \(pressed), received \(since)"
        #expect(rows(model, Self.shown(bob: bob), width: 120).contains { $0.contains(words) })
        // Where it doesn't fit, all of it stands below.
        #expect(rows(model, Self.shown(bob: bob)).contains { $0.hasPrefix("   \(words)") })
    }

    @Test(
        """
        before something plays that others could hear, somebody is asked whether they may join; alone, they aren't asked, and a game \
        doesn't begin (P2)
        """
    )
    func activation() {
        func ask(_ shown: Shown) -> (Model, Action?) {
            var model = Model()
            _ = model.handle(.character("m"), shown)
            for character in "Notturno" { _ = model.handle(.character(character), shown) }
            let action = model.handle(.enter, shown)
            return (model, action)
        }
        /// - Parameter isSecond: Whether it is the second of the buttons.
        func press(_ isSecond: Bool, _ shown: Shown) -> (Model, Action?) {
            var (model, action) = ask(Self.shown())
            #expect(action == nil && rows(model, shown).contains { $0.contains("join “Notturno”?") })
            if isSecond { action = model.handle(.down, shown) }
            action = model.handle(.enter, shown)
            return (model, action)
        }
        let shown = Self.shown()
        #expect(press(false, shown).1 == .play(title: "Notturno", withOthers: false, session: nil))
        #expect(press(true, shown).1 == .play(title: "Notturno", withOthers: true, session: nil))
        var (cancelled, nothing) = ask(shown)
        nothing = cancelled.handle(.escape, shown)
        #expect(nothing == nil && cancelled.dialog == nil && cancelled.notice == nil)
        // The connection was lost while the question stood there.
        let (late, none) = press(true, Self.shown(.reconnecting(attempt: 1)))
        #expect(none == nil && late.notice?.text == Words.obstacle(.offline))

        for alone in [Self.shown(.disconnected), Self.shown(contacts: { $0.contacts = [] })] {
            #expect(ask(alone).1 == .play(title: "Notturno", withOthers: false, session: nil))
            var model = Model()
            model.tab = .together
            let game = model.handle(.character("n"), alone)
            #expect(game == nil && model.notice?.isError == true)
        }
        var model = Model()
        model.tab = .together
        #expect(model.handle(.character("n"), shown) == .newGame)
    }

    @Test(
        "where something plays was decided when somebody was asked: if they listen elsewhere by now, that is said and nothing plays (P2)"
    )
    func activationOfAnotherSession() async throws {
        let session = GroupID.new()
        for purpose in [Model.Dialog.Purpose.play(session), .activate(title: "Notturno", session)] {
            var model = Model()
            _ = model.handle(.character("m"), Self.shown())
            for character in "Notturno" { _ = model.handle(.character(character), Self.shown()) }
            let form = try #require(model.dialog?.form)
            // Asked in a session that is over by now.
            model.dialog = .init(form: form, purpose: purpose)
            let action = model.handle(.enter, Self.shown())
            #expect(action == nil && model.dialog == nil && model.notice == PlayPart.changed)
        }
        // Or that is over once its turn has come.
        let calls = Observed<[String]>([])
        var quartet = Quartet.failing { .notConfigured($0) }
        quartet.groups.create = { request async throws(QuartetError) in
            calls.update { $0.append("create \(request.isOpenToContacts ?? false)") }
            return session
        }
        quartet.playback.play = { group, item async throws(QuartetError) in
            calls.update { $0.append("play \(item.title) \(group == session)") }
        }
        let wasPlayed = try await quartet.play("Notturno", withOthers: false, in: session)
        #expect(!wasPlayed && calls.value.isEmpty)
        let isPlayed = try await quartet.play("Notturno", withOthers: true, in: nil)
        #expect(isPlayed && calls.value == ["create true", "play Notturno true"])
    }

    @Test("a key leaves the session in which somebody listens, so that they are asked again (P2)")
    func leavingMusic() {
        var (model, shown) = (Model(), Self.shown())
        let none = model.handle(.character("M"), shown)
        #expect(none == nil && !rows(model, shown).contains { $0.contains("M leave") })
        let session = GroupID.new()
        shown.music = session
        let left = model.handle(.character("M"), shown)
        #expect(left == .leave(session) && rows(model, shown).contains { $0.contains("M leave") })
    }

    @Test("somebody without a name is told what it is for, and gives themselves one (S14, S44)")
    func onboarding() {
        let shown = Self.shown(account: { $0.onboarding = .needsProfile })
        var model = Model()
        #expect(rows(model, shown).contains { $0.hasPrefix("Choose a name: ") })
        #expect(model.handle(.character("n"), shown) == nil && model.dialog?.purpose == .name)
        for character in "Anna" { _ = model.handle(.character(character), shown) }
        #expect(model.handle(.enter, shown) == .setName("Anna") && model.dialog == nil)
        let named = Self.shown(account: { $0.onboarding = .done })
        #expect(!rows(model, named).contains { $0.contains("Choose a name") })
        #expect(model.handle(.character("n"), named) == nil && model.dialog == nil)
    }

    @Test("without a network it says when that was seen last; of a server that refuses it doesn't (S14)")
    func network() {
        var shown = Self.shown(.reconnecting(attempt: 2))
        shown.error = .silent
        let seen = "Last seen unreachable \(Words.clock(Self.now))."
        #expect(!rows(Model(), shown).contains { $0.contains("unreachable") })
        shown.unreachable = Self.now
        #expect(rows(Model(), shown).contains { $0.hasSuffix("silent for too long. \(seen)") })
    }

    @Test("why a session wasn't started stands above the list of sessions (P3)")
    func failedStart() async {
        let groups = GroupSessionClient.live(service: Connection(transport: nil))
        let activity = GroupSessionActivity(identifier: "org.example.four", title: "Four")
        await #expect(throws: QuartetError.self) {
            try await groups.create(CreateGroupSessionRequest(activity: activity))
        }
        var shown = Self.shown()
        var model = Model()
        model.tab = .together
        #expect(!rows(model, shown).contains { $0.contains("wasn't started") })
        shown.start = groups.starting.value
        #expect(rows(model, shown).contains { $0.hasPrefix("It wasn't started: ") })
        // Nobody knows that of a start whose answer is missing.
        for error in [QuartetError.unknown, .unreadable("x")] {
            #expect(TogetherScreen.failure(error) == Words.problem(error))
        }
    }

    @Test("while a session is being started, another press of the same key starts no second one (P3)")
    func secondStart() async {
        let tokens = InMemoryTokenStore(Credentials(account: Self.anna, device: .new(), refreshToken: "x"))
        let connection = Connection(transport: MuteTransport(), tokens: tokens, surroundings: nil)
        let groups = GroupSessionClient.live(service: connection)
        let activity = GroupSessionActivity(identifier: "org.example.four", title: "Four")
        let start = Task { try await groups.create(CreateGroupSessionRequest(activity: activity)) }
        for await state in groups.starting.values where state.isStarting { break }
        var (model, shown) = (Model(), Self.shown())
        model.tab = .together
        shown.start = groups.starting.value
        let second = model.handle(.character("n"), shown)
        #expect(second == nil && rows(model, shown).contains { $0.hasPrefix("Starting a session") })
        start.cancel()
        _ = await start.result
    }

    @Test("a contact's name that has control sequences in it shows as text")
    func hostile() {
        var model = Model()
        model.tab = .contacts
        let rows = rows(model, Self.shown { $0.nickname = "\u{1B}[2J\u{1B}]0;x\u{7}Eve\u{202E}" })
        #expect(rows.contains { $0.contains("␛[2J␛]0;x␇Eve�") })
    }

    @Test("keys mean the contact that is selected, also when somebody else comes first meanwhile (S25)")
    func selection() {
        var model = Model()
        model.tab = .contacts
        func press(_ key: Character, _ shown: Shown) -> Action? { model.handle(.character(key), shown) }
        #expect(press("p", Self.shown()) == .ping(Self.bob))
        #expect(press("p", Self.shown { $0.outgoingPing = Self.now }) == .cancelPing(Self.bob))
        #expect(press("r", Self.shown()) == nil)
        #expect(press("r", Self.shown { $0.incomingPing = Self.now }) == .respond(Self.bob))
        let ids = [AccountID.new(), Self.bob]
        #expect(Rows.index(of: model.contact, in: ids) == 1)
        #expect(Rows.moved(Self.bob, in: ids, by: .up) == ids[0])
        #expect(Rows.moved(Self.bob, in: ids, by: .down) == Self.bob)
    }

    @Test("what can't be undone is asked for first, and No does nothing")
    func questions() {
        var model = Model()
        model.tab = .contacts
        let asked = model.handle(.character("x"), Self.shown())
        #expect(asked == nil && model.dialog != nil)
        let refused = model.handle(.enter, Self.shown())
        #expect(refused == nil && model.dialog == nil)
        _ = model.handle(.character("x"), Self.shown())
        let moved = model.handle(.down, Self.shown())
        let done = model.handle(.enter, Self.shown())
        #expect(moved == nil && done == .remove(Self.bob))
        let all = model.handle(.character("A"), Self.shown())
        #expect(all == nil && model.dialog?.purpose == .confirm(.respondToAll))
    }

    @Test("somebody is added by handle or by code")
    func adding() {
        func request(_ text: String) -> AddContactRequest? {
            var model = Model()
            model.tab = .contacts
            _ = model.handle(.character("n"), Self.shown())
            for character in text { _ = model.handle(.pasted(character), Self.shown()) }
            for _ in 0..<3 { _ = model.handle(.tab, Self.shown()) }
            guard case .add(let request) = model.handle(.enter, Self.shown()) else { return nil }
            return request
        }
        let code = ContactCode.new()
        #expect(request("@bob")?.handle == "bob" && request("\(code)")?.code == code && request("") == nil)
    }

    @Test("Enter on the question whether one is still on it leads to the person's alarm, where one says so (A2)")
    func renewal() {
        let question = QuartetNotification(
            id: .new(), kind: .system, subject: Self.bob,
            details: .init(onItUntil: Self.now + .minutes(5), text: "Are you still on it?"), created: Self.now)
        var state = NotificationsState(account: Self.anna)
        state.notifications = [question]
        state.unread = 1
        var shown = Self.shown()
        shown.notifications = NotificationsClient.preview(state).notifications.value
        var model = Model()
        model.tab = .notifications
        let row = rows(model, shown, width: 160).first { $0.contains("still on it") }
        #expect(row?.contains("Bob") == true && row?.contains("Bob: ") == false)
        #expect(model.handle(.enter, shown) == .markRead(question.id))
        #expect(model.tab == .contacts && model.contact == Self.bob)
    }

    @Test("daily times are shown and chosen; a check-in that is too early says from when on it counts (A6)")
    func daily() throws {
        let chosen = DailyTimes(times: [480, 1205], weekdays: [.monday, .friday], zone: "Europe/Berlin")
        let shown = Self.shown(account: { account in
            (account.checkIn.daily, account.checkIn.version) = (chosen, 3)
            (account.checkIn.due, account.checkIn.opens) = (Self.now + .hours(9), Self.now + .hours(3))
        })
        let all = rows(Model(), shown, width: 120).joined(separator: "\n")
        #expect(all.contains("You check in at 08:00, 20:05, Mon, Fri, by the clocks of Europe/Berlin."))
        #expect(all.contains("A check-in counts from"))
        var model = Model()
        // What is known here may be older than what the server decides by.
        #expect(model.handle(.character("c"), shown) == .checkIn && Action.checkIn.done == nil)
        let (due, opens) = (Self.now + .hours(9), Self.now + .hours(3))
        let early = CheckedIn(account: .new(), due: due, opens: opens, isEarly: true, at: Self.now)
        #expect(DailyPart.done(early).contains("too early"))
        let counted = CheckedIn(account: .new(), due: due, opens: opens, at: Self.now)
        #expect(DailyPart.done(counted) == "Checked in." && DailyPart.done(nil) == "Checked in.")

        // Both take the place of what the form was opened on, and of nothing newer (T26).
        _ = model.handle(.character("i"), shown)
        #expect(model.dialog?.purpose == .interval(seen: 3))
        model.dialog = nil
        _ = model.handle(.character("d"), shown)
        #expect(model.dialog?.purpose == .daily(seen: 3))
        let form = try #require(model.dialog?.form)
        #expect(DailyPart.daily(form) == chosen)
        for (text, days) in [
            ("", Weekday.allCases), ("every day", Weekday.allCases),
            ("mon-wed, SUN", [.monday, .tuesday, .wednesday, .sunday]),
            ("fri-mon", nil), ("m", nil), ("someday", nil), ("mon-", nil),
        ] as [(String, [Weekday]?)] {
            #expect(DailyPart.days(text) == days, "\(text)")
        }
    }

    @Test("a drill is answered by a key of its own, as long as it is on and unanswered; Enter only reads it (A11)")
    func drillAnswer() {
        func key(_ key: quartet_tui.Key, ends: Instant, answered: Instant? = nil) -> Action? {
            let drill = QuartetNotification(
                id: .new(), kind: .system, subject: Self.bob, details: .init(drill: .new(), drillEnds: ends),
                created: Self.now, answered: answered)
            var state = NotificationsState(account: Self.anna)
            state.notifications = [drill]
            var shown = Self.shown()
            shown.notifications = NotificationsClient.preview(state).notifications.value
            var model = Model()
            model.tab = .notifications
            let action = model.handle(key, shown)
            return action == .answerDrill(drill.id) || action == .markRead(drill.id) ? action : nil
        }
        let later = Self.now + .minutes(5)
        if case .answerDrill = key(.character("g"), ends: later) {} else { Issue.record("it isn't answered") }
        if case .markRead = key(.enter, ends: later) {} else { Issue.record("it isn't read") }
        #expect(key(.character("g"), ends: Self.now) == nil)
        #expect(key(.character("g"), ends: later, answered: Self.now) == nil)
    }

    @Test("a reminder is set by a text and a time, shows above the notifications, and is taken back (S39)")
    func reminders() {
        let open = [2, 1].map { hours in
            ScheduleReminder(text: "Tea \(hours)", due: Self.now + .hours(hours)).scheduled
        }
        var shown = Self.shown()
        shown.notifications =
            NotificationsClient.preview(NotificationsState(account: Self.anna, scheduled: Ordered(open)))
            .notifications.value
        var model = Model()
        model.tab = .notifications
        let line = NotificationsScreen.lines(model, shown, width: 80, height: 20)[1].text
        #expect(line.contains("Tea 1") && line.contains("1 more") && !line.contains("Tea 2"))
        _ = model.handle(.character("r"), shown)
        for character in "Bonsai" { _ = model.handle(.character(character), shown) }
        _ = model.handle(.tab, shown)
        #expect(model.handle(.enter, shown) == nil && model.notice?.isError == true, "the time is missing")
        for character in "3h" { _ = model.handle(.character(character), shown) }
        guard case .remind(let reminder)? = model.handle(.enter, shown) else {
            Issue.record("nothing is set")
            return
        }
        #expect(reminder.text == "Bonsai" && reminder.due == Self.now + .hours(3))
        _ = model.handle(.character("b"), shown)
        _ = model.handle(.tab, shown)
        _ = model.handle(.character(" "), shown)
        _ = model.handle(.tab, shown)
        #expect(model.handle(.enter, shown) == .takeBack([open[0].id]), "the later one is the second")
    }

    @Test("a time in more than six days has its date, since its weekday is another one (S39)")
    func dates() {
        let (near, far) = (Self.now + .days(6), Self.now + .seconds(6 * 86_400 + 1))
        #expect(Words.clock(near, from: Self.now) == Words.clock(near))
        let words = Words.clock(far, from: Self.now).split(separator: " ").map(String.init)
        #expect(words.count == 3 && [words[0], words[2]].joined(separator: " ") == Words.clock(far))
        #expect(words[1].wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil, "\(words)")
        // Wherever a reminder's time is said.
        var shown = Self.shown()
        let open = ScheduleReminder(text: "Tea", due: far).scheduled
        shown.notifications =
            NotificationsClient.preview(NotificationsState(account: Self.anna, scheduled: Ordered([open])))
            .notifications.value
        var model = Model()
        model.tab = .notifications
        #expect(NotificationsScreen.lines(model, shown, width: 80, height: 20)[1].text.contains(words[1]))
        _ = model.handle(.character("b"), shown)
        #expect(model.dialog?.form.fields[0].label.contains(words[1]) == true)
        let done = Action.remind(ScheduleReminder(text: "Tea", due: .now + .days(10))).done
        #expect(done?.contains(/\d{4}-\d\d-\d\d/) == true)
    }

    @Test(
        """
        of several reminders all are taken back, also without a network or if one is refused, and what is said of it is what \
        the server says (S27, S39)
        """)
    func takingBack() async throws {
        let ids = (0..<3).map { _ in NotificationID.new() }
        let refusal = QuartetError.superseded
        /// - Parameter open: Those of which the server has an event.
        func takeBack(
            open: Set<NotificationID>, _ errors: [NotificationID: QuartetError] = [:]
        ) async -> (count: Int, problem: QuartetError?) {
            let asked = Observed<[NotificationID]>([])
            var client = NotificationsClient.preview(NotificationsState(account: Self.anna))
            client.cancelReminder = { id async throws(QuartetError) in
                asked.update { $0.append(id) }
                if let error = errors[id] { throw error }
                return open.contains(id)
            }
            defer { #expect(asked.value == ids) }
            return await client.takeBack(ids)
        }
        let plays:
            [(open: Set<NotificationID>, errors: [NotificationID: QuartetError], count: Int, problem: QuartetError?)] =
                [
                    (Set(ids), [:], 3, nil), ([ids[1]], [:], 1, nil),
                    ([], [ids[0]: .willBeSentWhenOnline, ids[1]: .willBeSentWhenOnline], 0, .willBeSentWhenOnline),
                    ([], [ids[0]: .willBeSentWhenOnline, ids[1]: refusal], 0, refusal),
                    (Set(ids), [ids[1]: refusal], 2, refusal),
                ]
        for play in plays {
            let (count, problem) = await takeBack(open: play.open, play.errors)
            #expect(count == play.count && problem == play.problem)
        }
        #expect(NotificationsScreen.takenBack(2, of: 3, refusal) == "Taken back: 2 of 3. \(refusal)")
        let words = [(1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map { NotificationsScreen.takenBack($0.0, of: $0.1) }
        #expect(
            words == [
                "Taken back.", "Taken back.", "It has come, or was taken back elsewhere.",
                "Each of them has come, or was taken back elsewhere.",
                "Taken back: 1 of 2. Each other one has come, or was taken back elsewhere.",
            ])
    }

    @Test("every kind of notification has a sentence of its own")
    func notifications() {
        let sentences = NotificationKind.allCases.map { Words.notification($0, .none, "Bob") }
        #expect(Set(sentences).count == NotificationKind.allCases.count && !sentences.contains(""))
    }

    @Test("times are said in their two largest units")
    func times() {
        let spans: [(Interval, String)] = [
            (.seconds(0), "0 s"), (.seconds(59), "59 s"), (.seconds(60), "1 min"), (.seconds(61), "1 min 1 s"),
            (.minutes(125), "2 h 5 min"), (.hours(49), "2 d 1 h"), (.seconds(24 * 3600 + 5), "1 d"),
            (.seconds(-5), "0 s"),
        ]
        for (interval, text) in spans { #expect(Words.span(interval) == text) }
        #expect(Words.interval("8h") == .hours(8) && Words.interval("90 min") == .minutes(90))
        for text in ["", "h", "8", "0h", "-1h", "8 weeks", "99999999999999999999h"] {
            #expect(Words.interval(text) == nil)
        }
        #expect(Words.position(.seconds(187)) == "3:07")
    }

    @Test("a server may be named by a flag or the environment; each has a folder of its own")
    func settings() throws {
        let environment = ["HOME": "/home/anna", "QUARTET_SERVER": "http://127.0.0.1:8080"]
        #expect(try Settings([], environment).folder.path == "/home/anna/.local/state/quartet-tui/http+127.0.0.1+8080")
        let servers = ["https://h", "http://h", "https://h:8080", "https://h-8080", "https://h/x", "https://h/x/y"]
        let folders = try servers.map { try Settings(["--server", $0], environment).folder.lastPathComponent }
        #expect(folders.first == "h" && Set(folders).count == servers.count)
        #expect(try Settings(["--server", "https://h/"], environment).folder.lastPathComponent == "h")
        let named = try Settings(["--server=https://example.org", "--folder", "/tmp/bob"], environment)
        #expect(named.server?.host() == "example.org" && named.folder.path == "/tmp/bob")
        #expect(try Settings([], ["HOME": "/home/anna"]).server == nil)
        #expect(try Settings(["--help"], [:]).wantsHelp && Settings(["--state"], [:]).wantsState)
        for arguments in [["--server"], ["--server", "ftp://x"], ["--server", "nowhere"], ["--colour"], ["x"]] {
            #expect(throws: Settings.Wrong.self) { try Settings(arguments, environment) }
        }
    }

    @Test("NO_COLOR and a dumb terminal are found out")
    func abilities() {
        #expect(Terminal.Abilities(environment: ["TERM": "xterm"]).hasColor)
        #expect(!Terminal.Abilities(environment: ["TERM": "xterm", "NO_COLOR": "1"]).hasColor)
        #expect(Terminal.Abilities(environment: ["TERM": "dumb"]).isDumb && Terminal.Abilities(environment: [:]).isDumb)
        #expect(!Terminal.Abilities(environment: ["TERM": "xterm"]).isDumb)
    }
}
