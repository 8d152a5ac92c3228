import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: confirmations")
struct ConfirmationTests {
    /// Commands that could take an account away from its person.
    private static func sensitive(_ device: DeviceID?, _ household: inout Household) throws -> [any CommandBody] {
        [
            UpdateSecurity(isSingleDevice: true, by: device),
            try Phones.change(&household, phone: household.id(), by: device).1, RemovePhone(by: device),
            CloseAccount(by: device),
        ]
    }

    @Test("anything that could take the account away needs the password, given minutes ago on the same device (S48)")
    func confirmation() throws {
        var household = Household()
        let account = try household.person()
        let (phone, tablet) = (try household.signIn(), try household.signIn())
        try Phones.phone(of: account, household.id(), in: &household)
        household.pass(.minutes(6))
        for device in [phone, nil] {
            for command in try Self.sensitive(device, &household) {
                #expect(try household.rejection(account, command) == .confirmationRequired, "\(command)")
            }
        }
        #expect(
            try household.rejection(
                account, ResetPassword(next: try Household.proof("thief"), by: phone))
                == .confirmationRequired)
        let wrong = ConfirmIdentity(verifier: try Household.proof("x"), device: phone)
        _ = try household.ask(account, wrong).first(as: SignInFailed.self)
        let right = ConfirmIdentity(verifier: try Household.proof("secret"), device: phone)
        #expect(
            try household.ask(account, right) == [
                .identityConfirmed(
                    .init(account: account, device: phone, until: household.time + .minutes(5), at: household.time))
            ])
        #expect(try household.rejection(account, RemovePhone(by: tablet)) == .confirmationRequired)
        household.pass(.minutes(5))
        #expect(try household.rejection(account, RemovePhone(by: phone)) == .confirmationRequired)
        try household.ask(account, right)
        household.pass(.minutes(4))
        for command in try Self.sensitive(phone, &household) {
            #expect(try household.rejection(account, command) == nil, "\(command)")
        }
    }

    @Test("where the account asks for it, signing other devices out needs a confirmation, too (S48)")
    func confirmationOfMore() throws {
        var household = Household()
        let account = try household.person()
        let (phone, tablet) = (try household.signIn(), try household.signIn())
        try household.ask(account, UpdateSecurity(isConfirmationRequired: true, by: phone))
        household.pass(.minutes(6))
        for command in [SignOut(device: tablet, by: phone), SignOut(by: phone)] {
            #expect(try household.rejection(account, command) == .confirmationRequired, "\(command)")
        }
        // Ending only one's own access needs none.
        #expect(try household.rejection(account, SignOut(device: tablet, by: tablet)) == nil)
    }

    @Test("a device that isn't signed in can't confirm (S48)")
    func confirmationOfAStranger() throws {
        var household = Household()
        let account = try household.person()
        let confirm = ConfirmIdentity(verifier: try Household.proof("secret"), device: household.id())
        #expect(try household.rejection(account, confirm) == .deviceSignedOut)
    }

    @Test("a stranger's wrong passwords don't keep the person from confirming; their own do (S48)")
    func guessesByDevice() throws {
        var household = Household()
        let account = try household.person()
        let phone = try household.signIn()
        let wrong: [Proof] = try Household.proof("x")
        for _ in 0..<5 {
            try household.ask(
                nil,
                SignIn(handle: "anna", verifier: wrong, device: try household.device(), source: Household.source()))
        }
        let right: [Proof] = try Household.proof("secret")
        let confirm = ConfirmIdentity(verifier: right, device: phone)
        #expect(try household.rejection(account, confirm) == nil)
        for _ in 0..<5 { try household.ask(account, ConfirmIdentity(verifier: wrong, device: phone)) }
        #expect(try household.rejection(account, confirm) == .tooManyAttempts)
    }

    @Test("a sign-in refused for its device's id leaves the count of wrong passwords unchanged (S41)")
    func sameDevice() throws {
        var household = Household()
        let account = try household.person()
        let known = try #require(household.state(account).devices.first?.id)
        let wrong = SignIn(
            handle: "anna", verifier: try Household.proof("x"), device: try household.device(),
            source: Household.source())
        try household.ask(nil, wrong)
        let again = SignIn(
            handle: "anna", verifier: try Household.proof("secret"),
            device: NewDevice(id: known, name: "phone", token: try Household.secret("t")), source: Household.source())
        #expect(try household.rejection(nil, again) == .invalidField)
        let key = AttemptKey(.handle(try Handle("anna")), Household.source())
        #expect(household.rows.attempts[key]?.guesses.failures == 1)
    }

    @Test("a forgotten password is reset after signing in by a code; other devices are signed out (S41)")
    func forgottenPassword() throws {
        var household = Household()
        let account = try household.person()
        let thief = try household.signIn()
        let phone: PhoneID = household.id()
        try Phones.phone(of: account, phone, in: &household)
        household.pass(.minutes(6))
        let device = try Phones.signIn(by: phone, &household)
        try household.ask(account, ResetPassword(next: try Household.proof("new"), by: device))
        #expect(household.state(account).devices.map(\.id) == [device])
        #expect(household.rows[account, thief]?.reason == .passwordChanged)
        func signIn(_ password: String) throws -> [SessionEvent] {
            try household.ask(
                nil,
                SignIn(
                    handle: "anna", verifier: try Household.proof(password), device: try household.device(),
                    source: Household.source()))
        }
        _ = try signIn("secret").first(as: SignInFailed.self)
        _ = try signIn("new").first(as: DeviceSignedIn.self)
    }
}
