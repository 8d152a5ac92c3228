import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: recovery codes")
struct RecoveryTests {
    /// An account with ten codes, and a device that is signed in.
    private static func person(_ household: inout Household) throws -> (AccountID, DeviceID, [Secret]) {
        let account = try household.person()
        let device = try household.confirmed(account)
        let codes = try household.newRecoveryCodes()
        let events = try household.ask(account, MakeRecoveryCodes(proofs: codes, by: device))
        #expect(events == [.recoveryCodesMade(.init(account: account, count: 10, at: household.time))])
        return (account, device, codes)
    }

    private static func signIn(_ code: Secret, _ household: inout Household) throws -> any CommandBody {
        SignInByRecoveryCode(handle: "anna", proof: code, device: try household.device("new"))
    }

    @Test("ten codes are made after a fresh confirmation; new ones void the old (S41)")
    func making() throws {
        var household = Household()
        let (account, device, codes) = try Self.person(&household)
        #expect(household.state(account).recoveryCodes == 10)
        household.pass(.minutes(6))
        let next = try household.newRecoveryCodes()
        let again = MakeRecoveryCodes(proofs: next, by: device)
        #expect(try household.rejection(account, again) == .confirmationRequired)
        _ = try household.confirmed(account)
        try household.ask(account, again)
        #expect(try household.rejection(nil, try Self.signIn(codes[0], &household)) == .invalidCredentials)
        #expect(try household.rejection(nil, try Self.signIn(next[0], &household)) == nil)
        let few = MakeRecoveryCodes(proofs: Array(next.dropLast()), by: device)
        #expect(try household.rejection(account, few) == .invalidField)
        let twice = MakeRecoveryCodes(proofs: next.dropLast() + [next[0]], by: device)
        #expect(try household.rejection(account, twice) == .invalidField)
    }

    @Test("each code signs in or confirms once, and a sign-in by one may set a password (S41)")
    func using() throws {
        var household = Household()
        let (account, phone, codes) = try Self.person(&household)
        household.pass(.minutes(6))
        let events = try household.ask(nil, try Self.signIn(codes[3], &household))
        let signedIn = try events.first(as: DeviceSignedIn.self)
        #expect(
            events[1]
                == .recoveryCodeUsed(
                    .init(account: account, device: signedIn.device.id, left: 9, at: household.time)))
        #expect(household.state(account).recoveryCodes == 9)
        #expect(try household.rejection(nil, try Self.signIn(codes[3], &household)) == .invalidCredentials)

        let confirm = ConfirmByRecoveryCode(proof: codes[4], device: phone)
        #expect(
            try household.ask(account, confirm) == [
                .identityConfirmed(
                    .init(account: account, device: phone, until: household.time + .minutes(5), at: household.time)),
                .recoveryCodeUsed(.init(account: account, device: phone, left: 8, at: household.time)),
            ])
        _ = try household.ask(account, confirm).first(as: SignInFailed.self)
        let reset = ResetPassword(next: try Household.proof("new"), by: signedIn.device.id)
        try household.ask(account, reset)
        #expect(household.state(account).devices.map(\.id) == [signedIn.device.id])
        try household.signIn(password: "new")
    }

    @Test("a wrong code is answered like an unknown handle and locks nobody out; on a device it is counted (S48)")
    func guessing() throws {
        var household = Household()
        let (account, phone, codes) = try Self.person(&household)
        let wrong = try Household.secret("wrong")
        for _ in 0..<100 {
            #expect(try household.rejection(nil, try Self.signIn(wrong, &household)) == .invalidCredentials)
        }
        let unknown = SignInByRecoveryCode(handle: "nobody", proof: wrong, device: try household.device())
        #expect(throws: SignInByRecoveryCode.rejection) { try household.ask(nil, unknown) }
        let known = SignInByRecoveryCode(handle: "anna", proof: wrong, device: try household.device())
        #expect(throws: SignInByRecoveryCode.rejection) { try household.ask(nil, known) }
        for _ in 0..<5 {
            try household.ask(account, ConfirmByRecoveryCode(proof: wrong, device: phone))
        }
        let right = ConfirmByRecoveryCode(proof: codes[0], device: phone)
        #expect(try household.rejection(account, right) == .tooManyAttempts)
        household.pass(.minutes(1))
        #expect(try household.rejection(account, right) == nil)
    }

    @Test("a code belongs to its account, and a closed account keeps none (S18)")
    func ownership() throws {
        var household = Household()
        let (account, _, codes) = try Self.person(&household)
        let ben = try household.person("ben")
        let byBen = SignInByRecoveryCode(handle: "ben", proof: codes[0], device: try household.device())
        #expect(try household.rejection(nil, byBen) == .invalidCredentials)
        let ofBen = try household.confirmed(ben)
        let confirm = ConfirmByRecoveryCode(proof: codes[0], device: ofBen)
        _ = try household.ask(ben, confirm).first(as: SignInFailed.self)
        try household.ask(account, CloseAccount(by: try household.confirmed(account)))
        #expect(household.rows.recoveries.keys.isEmpty && household.rows.securityChanges.keys.isEmpty)
        #expect(try household.rejection(nil, try Self.signIn(codes[0], &household)) == .invalidCredentials)
    }
}
