import ContactsService
import Postgres
import QuartetContactsContract
import QuartetContactsRules
import QuartetContractSupport
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Contacts: the tables")
struct ContactsStoreTests {
    private static let tables = DatabaseTemplate.contacts
    typealias Trial = StoreTrial<ContactsStore>

    @Test("after any commands, in batches of any size, the tables hold and publish what the rules alone give (S6)")
    func sameAsRules() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                // The store takes this one from its table; the others are given to it.
                try await database.psql("UPDATE contacts.limits SET contact_limit = 4")
                for _ in 0..<4 {
                    var people = People(seed: random.next())
                    people.rows.limits.contacts = 4
                    people.rows.limits.requests = 2
                    people.rows.limits.blocks = 3
                    people.rows.limits.reachWindow = .minutes(3)
                    people.rows.limits.reachSpread = .minutes(1)
                    people.rows.limits.returnSpread = .minutes(1)
                    let accounts = try (0..<6).map { _ in try people.person() }
                    for _ in 0..<600 {
                        people.pass(.seconds(Int64.random(in: 0...8, using: &random)))
                        let asker = accounts.randomElement(using: &random) ?? accounts[0]
                        let other = accounts.randomElement(using: &random) ?? accounts[0]
                        let command = ContactsPropertyTests.command(to: other, of: asker, in: &people, using: &random)
                        do {
                            try people.ask(asker, command)
                        } catch is Rejection {}
                    }
                    let trial = try await Trial(ContactsStore(limits: people.rows.limits), in: database, as: "contacts")
                    try await trial.replay(people, using: &random)
                    await trial.close()
                    let reader = try await Trial(ContactsStore(), in: database, as: "session_client")
                    let states = try await reader.published(
                        in: "contacts.contacts_state", of: accounts, as: ContactsState.self)
                    try #require(states == accounts.map { people.rows.published($0) })
                    let summaries = try await reader.published(
                        in: "contacts.contacts_summary", of: accounts, as: ContactsState.self)
                    let expected = accounts.map { account in
                        var state = people.rows.published(account)
                        state.contacts = []
                        return state
                    }
                    try #require(summaries == expected)
                    await reader.close()
                }
            }
        }
    }

    @Test("two people who add each other at the same moment get one relation, and none if they close meanwhile (S7)")
    func concurrent() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                let one = try await Trial(ContactsStore(), in: database, as: "contacts")
                let two = try await Trial(ContactsStore(), in: database, as: "contacts")
                var people = People(seed: random.next())
                for _ in 0..<40 {
                    let (anna, ben) = (people.id() as AccountID, people.id() as AccountID)
                    func command(_ command: any CommandBody, of account: AccountID) -> Trial.Command {
                        .init(command, by: account, id: people.id(), at: people.time)
                    }
                    let open = [anna, ben].map { command(OpenAccount(code: people.id()), of: $0) }
                    _ = try await one.handle(open)
                    func add(_ other: AccountID, by account: AccountID) -> Trial.Command {
                        command(AddContact(contact: other, isMyResponder: true, iAmResponder: true), of: account)
                    }
                    let (mine, theirs) = (add(ben, by: anna), add(anna, by: ben))
                    async let first = one.handleAtLast([mine])
                    async let second = two.handleAtLast([theirs])
                    let ended = try await first + second
                    // The second of the two answers the first one's request.
                    try #require(ended.count { (try? $0.get()) != nil } == 2)
                    let relations = try await database.psql(
                        "SELECT count(*) FROM contacts.relation WHERE '\(ben)' IN (low, high)")
                    try #require(relations == "1")

                    let cleo: AccountID = people.id()
                    _ = try await one.handle([command(OpenAccount(code: people.id()), of: cleo)])
                    let (closing, adding) = (command(CloseAccount(), of: ben), add(ben, by: cleo))
                    async let closed = one.handleAtLast([closing])
                    async let added = two.handleAtLast([adding])
                    _ = try await (closed, added)
                    let left = try await database.psql(
                        "SELECT count(*) FROM contacts.relation WHERE '\(ben)' IN (low, high)")
                    try #require(left == "0")
                    let waiting = try await database.psql(
                        "SELECT count(*) FROM contacts.request WHERE '\(ben)' IN (asker, asked)")
                    try #require(waiting == "0")
                }
                await one.close()
                await two.close()
            }
        }
    }

    @Test(
        """
        someone who becomes or stops being a responder just as an alarm begins or ends hears of both or of neither \
        (A1)
        """)
    func alarmsMeanwhile() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                let one = try await Trial(ContactsStore(), in: database, as: "contacts")
                let two = try await Trial(ContactsStore(), in: database, as: "contacts")
                var people = People(seed: random.next())
                let (anna, ben, code) = (people.id() as AccountID, people.id() as AccountID, people.id() as ContactCode)
                func command(_ command: any CommandBody, of account: AccountID) -> Trial.Command {
                    .init(command, by: account, id: people.id(), at: people.time)
                }
                _ = try await one.handle([
                    command(OpenAccount(code: people.id()), of: anna),
                    command(OpenAccount(code: code), of: ben),
                ])
                for _ in 0..<60 {
                    let alarm: AlarmID = people.id()
                    func relay(_ kind: AlertKind) -> Trial.Command {
                        command(
                            RelayAlert(kind: kind, alarm: alarm, occurred: people.time), of: ben)
                    }
                    let add = command(
                        AddContact(code: code, isMyResponder: false, iAmResponder: true), of: anna)
                    let (raise, clear) = (relay(.alertRaised), relay(.alertCleared))
                    let remove = command(RemoveContact(contact: ben), of: anna)
                    async let begun = one.handleAtLast([raise])
                    async let joined = two.handleAtLast([add])
                    let heard = try (await begun + joined).flatMap { try $0.get() }
                    try #require(heard.count { if case .responderAlerted = $0.event { true } else { false } } == 1)
                    async let ended = one.handleAtLast([clear])
                    async let left = two.handleAtLast([remove])
                    let over = try (await ended + left).flatMap { try $0.get() }
                    try #require(over.count { if case .alarmEnded = $0.event { true } else { false } } == 1)
                }
                await one.close()
                await two.close()
            }
        }
    }

    @Test("an ended alarm is remembered apart from those that are on, one of each kind, until the account closes (A1)")
    func endedAlarms() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let trial = try await Trial(ContactsStore(), in: database, as: "contacts")
            let (anna, ben, code) = (AccountID.new(), AccountID.new(), ContactCode.new())
            func ask(_ command: any CommandBody, _ account: AccountID) async throws -> Int {
                try await trial.handle([.init(command, by: account, at: .now)])[0].get().count
            }
            /// Returns how many responders hear of it.
            func relay(_ kind: AlertKind, _ alarm: AlarmID, _ repetition: Int = 0) async throws -> Int {
                try await ask(RelayAlert(kind: kind, alarm: alarm, occurred: .now, repetition: repetition), ben) - 1
            }
            _ = try await ask(OpenAccount(code: .new()), anna)
            _ = try await ask(OpenAccount(code: code), ben)
            _ = try await ask(AddContact(code: code, isMyResponder: false, iAmResponder: true), anna)
            let kept =
                "SELECT string_agg(e.kind || ' ' || e.alarm, ', ' ORDER BY e.kind) FROM contacts.ended_alarm AS e"
            for _ in 0..<2 {
                let (alert, missed) = (AlarmID.new(), AlarmID.new())
                for (begins, ends, alarm) in [
                    (AlertKind.alertRaised, AlertKind.alertCleared, alert), (.checkInMissed, .checkedIn, missed),
                ] {
                    #expect(try await relay(begins, alarm) == 1)
                    #expect(try await relay(ends, alarm) == 1)
                    #expect(try await relay(begins, alarm, 1) == 0)
                }
                #expect(try await database.psql(kept) == "alert \(alert), missedCheckIn \(missed)")
            }
            #expect(try await database.psql("SELECT count(*) FROM contacts.alarm") == "0")
            _ = try await ask(CloseAccount(), ben)
            #expect(try await database.psql(kept) == "")
            await trial.close()
        }
    }

    @Test("all answers of an account reach what was found unanswered and then cancelled, and so does a check-in (A4)")
    func cancelledPings() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let trial = try await Trial(ContactsStore(), in: database, as: "contacts")
            let start = Instant.now - .hours(2)
            func ask(
                _ command: any CommandBody, _ account: AccountID, byTimer: Bool = false, at time: Instant
            ) async throws -> [ContactsEvent] {
                let context = CommandContext(
                    commandID: .new(), account: byTimer ? nil : account, key: .account(account), time: time)
                return try await trial.handle([.init(command, context)])[0].get().map(\.event)
            }
            func answered(_ events: [ContactsEvent]) -> [AccountID] {
                events.compactMap { $0.body as? UnansweredPingsEnded }.flatMap { $0.pings.map(\.contact) }
            }
            for isLesser in [true, false] {
                let accounts = [AccountID.new(), .new()].sorted()
                let (anna, ben) = isLesser ? (accounts[0], accounts[1]) : (accounts[1], accounts[0])
                let code = ContactCode.new()
                _ = try await ask(OpenAccount(code: code), anna, at: start)
                _ = try await ask(OpenAccount(code: .new()), ben, at: start)
                _ = try await ask(AddContact(code: code, isMyResponder: false, iAmResponder: true), ben, at: start)
                _ = try await ask(SetPingEscalation(contact: ben, after: .minutes(30)), anna, at: start)
                for (number, isCheckIn) in [false, true].enumerated() {
                    let sent = start + .minutes(Int64(number) * 40)
                    _ = try await ask(SendPing(contact: anna), ben, at: sent)
                    for minutes in [25, 30] as [Int64] {
                        let due = sent + .minutes(minutes)
                        _ = try await ask(JudgePings(account: anna, due: due), anna, byTimer: true, at: due)
                    }
                    _ = try await ask(CancelPing(contact: anna), ben, at: sent + .minutes(31))
                    if isCheckIn {
                        let said = sent + .minutes(32)
                        _ = try await ask(RelayAlert(kind: .checkedIn, occurred: said), anna, at: said)
                    }
                    // After the check-in it is about nothing that was asked since.
                    let events = try await ask(RespondToAllPings(), anna, at: sent + .minutes(33))
                    #expect(answered(events) == (isCheckIn ? [] : [ben]))
                    let late = try await ask(RespondToPing(contact: ben, sent: sent), anna, at: sent + .minutes(34))
                    #expect(answered(late).isEmpty)
                }
            }
            await trial.close()
        }
    }

    @Test("someone who becomes a responder just as they are reached or no longer is counted as what they are (A16)")
    func reachMeanwhile() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                var limits = ContactsLimits()
                (limits.reachWindow, limits.reachSpread, limits.returnSpread) = (.seconds(0), .seconds(0), .seconds(0))
                let one = try await Trial(ContactsStore(limits: limits), in: database, as: "contacts")
                let two = try await Trial(ContactsStore(limits: limits), in: database, as: "contacts")
                var people = People(seed: random.next())
                let (anna, ben, code) = (people.id() as AccountID, people.id() as AccountID, people.id() as ContactCode)
                func command(_ command: any CommandBody, of account: AccountID) -> Trial.Command {
                    .init(command, by: account, id: people.id(), at: people.time)
                }
                _ = try await one.handle([
                    command(OpenAccount(code: code), of: anna), command(OpenAccount(code: people.id()), of: ben),
                ])
                for round in 0..<60 {
                    let flips: [any CommandBody] =
                        Bool.random(using: &random)
                        ? [LapseReach(account: ben)] : [RecordReached(), RestoreReach(account: ben)]
                    let flip = flips.map { command($0, of: ben) }
                    let change = command(
                        round.isMultiple(of: 2)
                            ? AddContact(code: code, isMyResponder: false, iAmResponder: true)
                            : RemoveContact(contact: anna), of: ben)
                    async let flipped = one.handleAtLast(flip)
                    async let changed = two.handleAtLast([change])
                    _ = try await (flipped, changed)
                    let wrong = try await database.psql(
                        """
                        SELECT a.account, a.responder_reach FROM contacts.account AS a
                         WHERE a.responder_reach <> (
                            SELECT CASE WHEN count(*) = 0 THEN 'nobody' WHEN bool_or(r.is_reachable) THEN 'reachable'
                                        ELSE 'unreachable' END
                              FROM contacts.contact AS c JOIN contacts.account AS r ON r.account = c.contact
                             WHERE c.account = a.account AND c.is_my_responder)
                        """)
                    try #require(wrong == "")
                }
                await one.close()
                await two.close()
            }
        }
    }

    @Test("what 0.1.0 left is shown as it was, a change of it is one, and nobody lapses unasked (A16)")
    func rowsOfBefore() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let trial = try await Trial(ContactsStore(), in: database, as: "contacts")
            var people = People()
            let (anna, ben, code) = (people.id() as AccountID, people.id() as AccountID, people.id() as ContactCode)
            func ask(_ command: any CommandBody, of account: AccountID) async throws {
                people.pass(.seconds(1))
                let asked = Trial.Command(command, by: account, id: people.id(), at: people.time)
                _ = try await trial.handle([asked])[0].get()
            }
            let reach = """
                SELECT string_agg(concat_ws(' ', s.state ->> 'responderReach', m.state ->> 'responderReach'), ', '
                                  ORDER BY s.account <> '\(anna)')
                  FROM contacts.contacts_state AS s JOIN contacts.contacts_summary AS m USING (account)
                """
            try await ask(OpenAccount(code: people.id()), of: anna)
            try await ask(OpenAccount(code: code), of: ben)
            try await ask(AddContact(code: code, isMyResponder: true, iAmResponder: false), of: anna)
            try await database.psql(
                """
                UPDATE contacts.account SET reachable_until = NULL, responder_reach = NULL, settled_reach = NULL,
                                            unsettled_at = NULL;
                DELETE FROM contacts.timer
                """)
            #expect(try await database.psql(reach) == "reachable reachable, nobody nobody")
            try await ask(LapseReach(account: ben), of: ben)
            try await ask(UpdateContact(contact: anna, expectedVersion: 1, notes: "a neighbour"), of: ben)
            #expect(try await database.psql("SELECT count(*) FROM contacts.timer") == "0")
            try await ask(RemoveContact(contact: ben), of: anna)
            #expect(try await database.psql(reach) == "nobody nobody, nobody nobody")
            let kept = """
                SELECT account = '\(anna)' AND settled_reach = 'reachable' AND unsettled_at IS NOT NULL AND reachable_until IS NULL
                  FROM contacts.account WHERE responder_reach IS NOT NULL
                """
            #expect(try await database.psql(kept) == "t")
            // Who becomes a responder now reads that it is shown.
            try await ask(AddContact(contact: anna, isMyResponder: false, iAmResponder: true), of: ben)
            try await ask(ApproveContactRequest(contact: ben, isMyResponder: true, iAmResponder: false), of: anna)
            let lapses = "SELECT string_agg(key, ' ') FROM contacts.timer WHERE name = 'LapseReach'"
            #expect(try await database.psql(lapses) == "account/\(ben)")
            await trial.close()
        }
    }

    @Test("no update is lost when both sides change one relation at the same moment, again and again (S8)")
    func bothSides() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let one = try await Trial(ContactsStore(), in: database, as: "contacts")
            let two = try await Trial(ContactsStore(), in: database, as: "contacts")
            var people = People()
            let (anna, ben) = (people.id() as AccountID, people.id() as AccountID)
            func command(_ command: any CommandBody, of account: AccountID) -> Trial.Command {
                people.pass(.seconds(20))
                return .init(command, by: account, id: people.id(), at: people.time)
            }
            let code: ContactCode = people.id()
            _ = try await one.handle([
                command(OpenAccount(code: people.id()), of: anna),
                command(OpenAccount(code: code), of: ben),
                command(AddContact(code: code, isMyResponder: true, iAmResponder: true), of: anna),
            ])
            for version in 1...100 as ClosedRange<Int64> {
                func work(of account: AccountID, on other: AccountID) -> [Trial.Command] {
                    [
                        command(
                            UpdateContact(contact: other, expectedVersion: version, notes: "\(version)"),
                            of: account),
                        command(SendPing(contact: other), of: account),
                        command(ClearReceivedPings(), of: account),
                    ]
                }
                let (mine, theirs) = (work(of: anna, on: ben), work(of: ben, on: anna))
                async let first = one.handleAtLast(mine)
                async let second = two.handleAtLast(theirs)
                for ended in try await first + second { _ = try ended.get() }
            }
            let seen = try await database.psql(
                "SELECT string_agg(c.version || ':' || c.notes, ' ') FROM contacts.contact AS c")
            #expect(seen == "101:100 101:100")
            await one.close()
            await two.close()
        }
    }
}
