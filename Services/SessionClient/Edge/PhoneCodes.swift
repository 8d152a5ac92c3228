import Crypto
import Foundation
import SessionContract
import Vocabulary

/// Makes codes for phones: six digits that follow from an id under the server's key, so that nothing from which they could
/// be guessed is stored or sent anywhere but to the phone.
struct PhoneCodes: Sendable {
    private let key: SymmetricKey
    private static let digits = 6

    init(key: SymmetricKey) {
        self.key = key
    }

    /// What a number is called where nobody should read it.
    func id(of number: PhoneNumber) -> PhoneID {
        PhoneID(firstOf: Array(mac("phone/1/\(number)")))
    }

    /// The digits of a code.
    func text(of code: PhoneCodeID) -> String {
        // 64 bits modulo a million: no digit is likelier than another by more than one in 10^13.
        let number = Self.word(Array(mac("phone-code/1/\(code)"))[0..<8]) % 1_000_000
        let text = String(number)
        return String(repeating: "0", count: Self.digits - text.count) + text
    }

    /// What shows that somebody has the digits.
    /// - Throws: ``Rejection`` for what can't be a code.
    func proof(_ text: String, of code: PhoneCodeID) throws(Rejection) -> Secret {
        let text = text.filter { $0 != " " }
        guard text.utf8.count == Self.digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let proof = Secret(Array(mac("phone-code-proof/1/\(code)/\(text)")))
        else {
            throw Rejection(.invalidField, "Write the six digits of the code.", field: "code")
        }
        return proof
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private func mac(_ text: String) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
    }
}
