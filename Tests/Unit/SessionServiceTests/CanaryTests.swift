import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import SessionService
import StoreKit
import TestKit
import Testing

@Suite("Session: canaries")
struct CanaryTests {
    private let canary = AccountID.canary(.person, of: Partition(3), among: 8)

    @Test("a canary is missed by the same rules as everybody, again and again, but as often as no person may be (A1)")
    func rounds() throws {
        var household = Household()
        try household.ask(canary, SetCanary(interval: .minutes(5), delay: .minutes(2)))
        for round in 0..<3 {
            let timer = try #require(household.rows.wantedTimers(of: canary).first)
            #expect(timer.due == household.time + .minutes(round == 0 ? 2 : 5))
            household.pass(timer.due - household.time)
            let missed = try household.ask(nil, timer.command.body).first(as: CheckInMissed.self)
            #expect(missed.account == canary && missed.deadline == timer.due)
            household.pass(.seconds(3))
            let checkedIn = try household.ask(canary, CheckIn()).first(as: CheckedIn.self)
            #expect(checkedIn.alarm == missed.alarm && checkedIn.due == household.time + .minutes(5))
        }
        // Sent again, as every replica does, it changes nothing.
        let due = household.rows[canary]?.checkIn.due
        household.pass(.minutes(1))
        try household.ask(canary, SetCanary(interval: .minutes(5), delay: .minutes(2)))
        #expect(household.rows[canary]?.checkIn.due == due)
        // The least interval of people stays.
        let anna = try household.person()
        #expect(try household.rejection(anna, SetCheckInInterval(interval: .minutes(5))) == .invalidField)
    }

    @Test("a canary that is to rest isn't missed any more, and may be woken (A1)")
    func rests() throws {
        var household = Household()
        try household.ask(canary, SetCanary(interval: .minutes(5), delay: .minutes(2)))
        try household.ask(canary, SetCanary(interval: nil, delay: .minutes(2)))
        #expect(household.rows.wantedTimers(of: canary).isEmpty)
        try household.ask(canary, SetCanary(interval: .minutes(1), delay: .seconds(10)))
        household.pass(.seconds(10))
        let timer = try #require(household.rows.wantedTimers(of: canary).first)
        try household.ask(nil, timer.command.body)
        // While its alarm is on, nothing changes: it ends first, so that its responder gets the all-clear.
        try household.ask(canary, SetCanary(interval: nil, delay: .minutes(2)))
        #expect(household.rows[canary]?.checkIn.missed == true)
    }

    @Test("nobody else can be a canary, and no canary can be somebody: signed up, found or invited (A1)")
    func others() throws {
        var household = Household()
        let anna = try household.person()
        let responder = AccountID.canary(.responder, of: Partition(3), among: 8)
        for account in [anna, responder] {
            let refusal = try household.rejection(account, SetCanary(interval: .minutes(5), delay: .minutes(2)))
            #expect(refusal == .accountNotFound)
        }
        for account in [canary, responder] {
            let signUp = SignUp(
                account: account, handle: "canary", verifier: try Household.proof("x"), device: try household.device())
            #expect(try household.rejection(nil, signUp) == .invalidField)
        }
        try household.ask(canary, SetCanary(interval: .minutes(5), delay: .minutes(2)))
        #expect(household.rows[canary]?.handle == nil)
    }

    @Test("the table keeps a canary without a handle, with or without a deadline, and SQL knows it as Swift does (A1)")
    func table() async throws {
        try await TestDatabase.with(DatabaseTemplate.session) { database in
            let trial = try await StoreTrial(SessionStore(), in: database, as: "session")
            for interval in [Interval.minutes(5), nil] {
                let command = StoreTrial<SessionStore>.Command(
                    SetCanary(interval: interval, delay: .minutes(2)), by: canary, at: .now)
                for ended in try await trial.handle([command]) { _ = try ended.get() }
                let due = try await database.psql("SELECT due_at IS NOT NULL FROM session.canary")
                #expect(due == (interval == nil ? "f" : "t"))
            }
            await trial.close()
            let (shown, profiles) = try await (
                database.psql("SELECT count(*) FROM session.handle"),
                database.psql("SELECT count(*) FROM session.profile")
            )
            #expect(shown == "0" && profiles == "0")
            let ids =
                CanaryRole.allCases.flatMap { role in
                    (0..<8).map { AccountID.canary(role, of: Partition($0), among: 8) }
                } + [.new(), AccountID(high: 0, low: 0), AccountID(high: canary.high + 0x1000, low: canary.low)]
            for id in ids {
                let (byID, byKey) = try await (
                    database.psql("SELECT session.is_canary('\(id)'::uuid)"),
                    database.psql("SELECT session.is_canary('account/\(id)'::text)")
                )
                #expect(byID == (id.isCanary ? "t" : "f") && byKey == byID, "\(id)")
            }
        }
    }
}
