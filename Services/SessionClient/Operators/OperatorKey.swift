import Crypto
import Foundation
import QuartetAPI
import QuartetVocabulary

/// An operator's API key: its id, by which it is found and named, and a secret, of which only the hash is kept.
struct OperatorKey: Sendable {
    let id: OperatorKeyID
    private let secret: [UInt8]

    private static let prefix = "quartet-operator-"
    private static let idLength = 36
    private static let secretLength = 32

    /// A new one.
    init() {
        id = .new()
        secret = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
    }

    /// Reads what ``text`` wrote.
    init?(_ text: String) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == Self.idLength, let id = OperatorKeyID(String(parts[0])),
            let secret = Data(
                base64Encoded: String(parts[1]).replacing("-", with: "+").replacing("_", with: "/") + "="),
            secret.count == Self.secretLength
        else { return nil }
        (self.id, self.secret) = (id, Array(secret))
    }

    /// As operators get it, once. By its prefix, those who search texts for secrets find it.
    var text: String {
        let digits = Data(secret).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        return "\(Self.prefix)\(id).\(digits.prefix { $0 != "=" })"
    }

    /// The secret has 256 random bits, so a plain hash is as good as a slow one.
    var hash: [UInt8] { Array(SHA256.hash(data: secret)) }

    /// Compares in constant time, as swift-crypto does with digests.
    func matches(hash: [UInt8]) -> Bool { SHA256.hash(data: secret) == hash }
}

/// Who asks by an API key.
struct Operator: Sendable {
    let key: OperatorKeyID
    let name: String
    let role: OperatorRole
}
