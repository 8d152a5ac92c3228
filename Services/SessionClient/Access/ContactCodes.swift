import Crypto
import Foundation
import QuartetContactsContract
import QuartetVocabulary

/// Makes contact codes that nobody without the server's key can guess, and that are the same each time a message is
/// handled again.
struct ContactCodes: Sendable {
    private let key: SymmetricKey

    init(key: SymmetricKey) {
        self.key = key
    }

    /// The code that a message leads to.
    func code<Subject>(for message: ID<Subject>, at time: Instant) -> ContactCode {
        let secret = HMAC<SHA256>.authenticationCode(for: Data("contact-code/1/\(message)".utf8), using: key)
        return .derived(at: time, from: Array(secret))
    }
}
