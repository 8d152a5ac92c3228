import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import Testing

@Suite("Session: the server's keys")
struct ServerKeyTests {
    private static let (old, new) = ("3fa91c07", "90b2d6e4")

    private static func signIn(
        under keys: [String], password: String = "secret", _ household: inout Household
    ) throws -> any CommandBody {
        SignIn(
            handle: "anna", verifier: try Household.proof(password, under: keys), device: try household.device(),
            source: Household.source())
    }

    @Test("a password stays valid under an earlier key, and moves to the current one when it is used (R11)")
    func passwords() throws {
        var household = Household()
        let account = try household.person()
        #expect(household.rows.credentials[account]?.key.description == Self.old)
        let wrong = try household.ask(nil, try Self.signIn(under: [Self.new, Self.old], password: "x", &household))
        _ = try wrong.first(as: SignInFailed.self)
        #expect(household.rows.credentials[account]?.key.description == Self.old)
        let right = try household.ask(nil, try Self.signIn(under: [Self.new, Self.old], &household))
        _ = try right.first(as: DeviceSignedIn.self)
        #expect(household.rows.credentials[account]?.key.description == Self.new)
        let later = try household.ask(nil, try Self.signIn(under: [Self.new], &household))
        _ = try later.first(as: DeviceSignedIn.self)
        // Proofs under the dropped key are refused.
        let dropped = try household.ask(nil, try Self.signIn(under: [Self.old], &household))
        _ = try dropped.first(as: SignInFailed.self)
    }

    @Test("a confirmation moves the password, too; one under a dropped key is refused like a wrong one (R11)")
    func confirmation() throws {
        var household = Household()
        let account = try household.person()
        let device = try household.signIn()
        func confirm(_ keys: [String]) throws -> [SessionEvent] {
            try household.ask(
                account, ConfirmIdentity(verifier: try Household.proof("secret", under: keys), device: device))
        }
        _ = try confirm([Self.new]).first(as: SignInFailed.self)
        _ = try confirm([Self.new, Self.old]).first(as: IdentityConfirmed.self)
        _ = try confirm([Self.new]).first(as: IdentityConfirmed.self)
        let same = ChangePassword(
            verifier: try Household.proof("secret", under: [Self.new, Self.old]),
            next: try Household.proof("secret", under: Self.new), by: device)
        #expect(try household.rejection(account, same) == .samePassword)
    }

    @Test("a phone is found by the name of either key, and is one account's under both (R11)")
    func phones() throws {
        var household = Household()
        let (anna, ben) = (try household.person("anna"), try household.person("ben"))
        let (old, new): (PhoneID, PhoneID) = (household.id(), household.id())
        let number = Phone(number: "+4930123456")
        func change(of account: AccountID, _ name: PhoneID, _ keys: [String]) throws -> any CommandBody {
            let code: PhoneCodeID = household.id()
            let device = try household.confirmed(account)
            try household.ask(
                account,
                RequestPhoneChange(
                    phone: number, phoneID: name, code: code, proof: try Household.proof("1", under: keys[0]),
                    by: device))
            return ChangePhone(code: code, proof: try Household.proof("1", under: keys))
        }
        try household.ask(anna, try change(of: anna, old, [Self.old]))
        let taken = try change(of: ben, new, [Self.new, Self.old])
        #expect(try household.rejection(ben, taken) == .phoneTaken)

        func signIn() throws -> [SessionEvent] {
            let code: PhoneCodeID = household.id()
            let proof: [Proof] = try Household.proof("1", under: [Self.new, Self.old])
            try household.ask(
                nil,
                RequestSignInCode(
                    phone: new, earlier: [old], code: code, proof: proof[0], source: Household.source()))
            household.pass(.minutes(1))
            return try household.ask(
                nil,
                SignInByPhone(
                    phone: new, earlier: [old], code: code, proof: proof, device: try household.device(),
                    source: Household.source()))
        }
        let first = try signIn().first(as: DeviceSignedIn.self)
        let rename = try RenamePhone(phone: old, next: new, key: Household.proof("", under: Self.new).key)
        #expect(try household.ask(anna, rename).isEmpty && household.rows.owner(of: new) == anna)
        #expect(household.rows.owner(of: old) == nil && household.rows[anna]?.phoneKey?.description == Self.new)
        #expect(try household.ask(anna, rename).isEmpty, "once is enough")
        _ = try signIn().first(as: DeviceSignedIn.self)
        #expect(household.state(anna).devices[first.device.id] != nil)
    }
}
