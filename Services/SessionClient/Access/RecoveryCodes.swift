import Crypto
import Foundation
import QuartetSessionContract
import QuartetVocabulary

/// Makes recovery codes: 20 letters and digits each, which are 100 random bits. So many can't be guessed, not even by
/// somebody who has the hashes. So a plain hash of one proves it, and codes outlive the server's key.
struct RecoveryCodes: Sendable {
    private let key: SymmetricKey
    /// Crockford's base 32: no letter looks like a digit.
    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz")
    private static let length = 20

    init(key: SymmetricKey) {
        self.key = key
    }

    /// The codes that a request makes: the same if it is sent again. The request's key is stored nowhere, so they can't be
    /// made again from stored data, not even with the server's key.
    func make(for account: AccountID, sentAs request: IdempotencyKey) -> [String] {
        (0..<RecoveryRules.codes).map { number in
            let mac = HMAC<SHA256>.authenticationCode(
                for: Data("recovery-code/1/\(account)/\(request.id)/\(number)".utf8), using: key)
            // 32 values of a byte's 256: none is likelier than another.
            let letters = mac.prefix(Self.length).map { Self.alphabet[Int($0) % Self.alphabet.count] }
            return stride(from: 0, to: Self.length, by: 5).map { String(letters[$0..<$0 + 5]) }.joined(separator: "-")
        }
    }

    /// What shows that somebody has a code, however they wrote it.
    /// - Throws: ``Rejection`` for what can't be a code.
    static func proof(_ text: String) throws(Rejection) -> Secret {
        let letters = text.lowercased().filter { $0 != "-" && $0 != " " }.map { letter in
            switch letter {
            case "o": Character("0")
            case "i", "l": Character("1")
            default: letter
            }
        }
        guard letters.count == length, letters.allSatisfy(alphabet.contains),
            let proof = Secret(Array(SHA256.hash(data: Data("recovery-code-proof/1/\(String(letters))".utf8))))
        else {
            throw Rejection(
                .invalidField, "Enter the \(length) letters and digits of a recovery code.", field: "recoveryCode")
        }
        return proof
    }
}
