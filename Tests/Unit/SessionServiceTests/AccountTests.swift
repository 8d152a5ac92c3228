import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: the beginning and the end of an account")
struct AccountTests {
    @Test("an account needs a profile until it has a name (S44)")
    func onboarding() throws {
        var household = Household()
        let account: AccountID = household.id()
        try household.ask(
            nil,
            SignUp(
                account: account, handle: "anna", verifier: try Household.proof("x"),
                device: try household.device()))
        #expect(household.state(account).onboarding == .needsProfile)
        try household.ask(account, UpdateProfile(expectedVersion: 1, name: "Anna"))
        #expect(household.state(account).onboarding == .done)
    }

    @Test("after a month a closed account's handle is free, and nothing of the person is left (S18)")
    func freeHandle() throws {
        var household = Household()
        let account = try household.person()
        try Phones.phone(of: account, household.id(), in: &household)
        let closed = household.time
        try household.ask(account, CloseAccount(by: try household.confirmed(account)))
        #expect(household.rows.phoneCodes.keys.isEmpty && household.rows[account]?.phone == nil)
        let timers = household.rows.wantedTimers(of: account)
        #expect(timers.map(\.due) == [closed + .days(30)])
        #expect(timers.map(\.command) == [.account(.freeHandle(FreeHandle(account: account)))])
        household.pass(.days(29))
        #expect(try household.rejection(nil, timers[0].command.body) == .notDue)
        household.pass(.days(1))
        #expect(try household.ask(nil, timers[0].command.body).isEmpty)
        #expect(household.rows[account]?.handle == nil && household.rows.wantedTimers(of: account).isEmpty)
    }
}
