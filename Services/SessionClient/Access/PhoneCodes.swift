import QuartetSessionContract
import QuartetVocabulary

/// Makes codes for phones: six digits that follow from an id under the server's key, so that nothing from which they could
/// be guessed is stored or sent anywhere but to the phone.
struct PhoneCodes: Sendable {
    let keys: ServerKeys
    private static let digits = 6

    /// The name of a number, for places where the number itself must not be read.
    func id(of number: PhoneNumber) -> PhoneID { Self.id(of: number, keys.current) }

    /// Its names under earlier keys; nil if there are none.
    func earlierIDs(of number: PhoneNumber) -> [PhoneID]? {
        keys.earlier.isEmpty ? nil : keys.earlier.map { Self.id(of: number, $0) }
    }

    private static func id(of number: PhoneNumber, _ key: ServerKeys.ServerKey) -> PhoneID {
        PhoneID(firstOf: key.mac("phone/1/\(number)"))
    }

    /// The digits of a code that is sent now.
    func text(of code: PhoneCodeID) -> String {
        // 64 bits modulo a million: no digit is likelier than another by more than one in 10^13.
        let word = keys.current.mac("phone-code/1/\(code)").prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let text = String(word % 1_000_000)
        return String(repeating: "0", count: Self.digits - text.count) + text
    }

    /// The proof that session keeps of a code that is sent now.
    func proof(of code: PhoneCodeID) throws(Rejection) -> Proof {
        try Self.proof(text(of: code), of: code, keys.current)
    }

    /// Proofs of knowing the digits, one for each key under which they may have been made.
    /// - Throws: ``Rejection`` for what can't be a code.
    func proofs(_ text: String, of code: PhoneCodeID) throws(Rejection) -> [Proof] {
        let text = text.filter { $0 != " " }
        var proofs: [Proof] = []
        for key in keys.all { proofs.append(try Self.proof(text, of: code, key)) }
        return proofs
    }

    private static func proof(
        _ text: String, of code: PhoneCodeID, _ key: ServerKeys.ServerKey
    ) throws(Rejection) -> Proof {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let secret = key.secret("phone-code-proof/1/\(code)/\(text)")
        else {
            throw Rejection(.invalidField, "Enter the six digits of the code.", field: "code")
        }
        return Proof(key: key.version, secret: secret)
    }
}
