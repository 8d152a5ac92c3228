import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import Testing

/// Commands about phones, as the edge sends them.
enum Phones {
    static let number = "+4930123456"

    /// A code for a phone change, as the edge would ask for it. The digits' proof is what `digits` makes.
    static func change(
        _ household: inout Household, phone: PhoneID, number: String = number, digits: String = "123456",
        by device: DeviceID? = nil
    ) throws -> (PhoneCodeID, any CommandBody) {
        let code: PhoneCodeID = household.id()
        return (
            code,
            RequestPhoneChange(
                phone: Phone(number: number, region: "DE"), phoneID: phone, code: code,
                proof: try Household.proof(digits), by: device)
        )
    }

    /// Gives an account a phone.
    static func phone(
        of account: AccountID, _ phone: PhoneID, in household: inout Household
    ) throws {
        let device = try household.confirmed(account)
        let (code, request) = try change(&household, phone: phone, by: device)
        try household.ask(account, request)
        try household.ask(account, ChangePhone(code: code, proof: try Household.proof("123456")))
    }

    /// A code for a sign-in, as the edge would ask for it; its digits are 111111.
    static func signInCode(
        for phone: PhoneID, from source: SourceID = Household.source(), known: KnownDevice? = nil,
        _ household: inout Household
    ) throws -> (PhoneCodeID, any CommandBody) {
        let code: PhoneCodeID = household.id()
        let proof: Proof = try Household.proof("111111")
        return (
            code, RequestSignInCode(phone: phone, code: code, proof: proof, source: source, known: known)
        )
    }

    static func signIn(
        by phone: PhoneID, _ code: PhoneCodeID, _ digits: String, from source: SourceID = Household.source(),
        known: KnownDevice? = nil, _ household: inout Household
    ) throws -> any CommandBody {
        SignInByPhone(
            phone: phone, code: code, proof: try Household.proof(digits), device: try household.device("new"),
            source: source, known: known)
    }

    /// Signs in by a code that was sent to a phone.
    static func signIn(by phone: PhoneID, _ household: inout Household) throws -> DeviceID {
        let (code, proof): (PhoneCodeID, Proof) = (household.id(), try Household.proof("123456"))
        try household.ask(
            nil, RequestSignInCode(phone: phone, code: code, proof: proof, source: Household.source()))
        let events = try household.ask(
            nil,
            SignInByPhone(
                phone: phone, code: code, proof: [proof], device: try household.device(), source: Household.source()
            )
        )
        let event = try events.first(as: DeviceSignedIn.self)
        return event.device.id
    }
}
