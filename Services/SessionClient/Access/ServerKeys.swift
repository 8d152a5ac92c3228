import Crypto
import Foundation
import QuartetSessionContract
import ServiceKit

/// The server's keys. Everything is made under the first one; what was made under another is known by it as long as it is
/// listed.
struct ServerKeys: Sendable {
    struct ServerKey: Sendable {
        let version: KeyVersion
        let key: SymmetricKey

        /// The text's HMAC under the key.
        func mac(_ text: String) -> [UInt8] {
            Array(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
        }

        /// The same as a secret.
        func secret(_ text: String) -> Secret? { Secret(mac(text)) }
    }

    let current: ServerKey
    let earlier: [ServerKey]

    var all: [ServerKey] { [current] + earlier }

    subscript(version: KeyVersion) -> ServerKey? { all.first { $0.version == version } }

    /// A sign-in hashes its password under each: more would make that slow.
    private static let limit = 4

    /// - Parameter text: base64 of 32 bytes or more, each on a line of its own, the current one first.
    /// - Throws: what would be right.
    init(_ text: String) throws(SettingProblem) {
        var keys: [ServerKey] = []
        for line in text.split(whereSeparator: \.isWhitespace) {
            guard let bytes = Data(base64Encoded: String(line)), bytes.count >= 32 else { throw Self.wrong }
            let key = SymmetricKey(data: bytes)
            // The key's own fingerprint: nobody has to number keys.
            let digits = Array(HMAC<SHA256>.authenticationCode(for: Data("version/1".utf8), using: key)).prefix(4)
                .map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
            guard let version = KeyVersion(digits), !keys.contains(where: { $0.version == version }) else {
                throw Self.wrong
            }
            keys.append(ServerKey(version: version, key: key))
        }
        guard let current = keys.first, keys.count <= Self.limit else { throw Self.wrong }
        self.current = current
        earlier = Array(keys.dropFirst())
    }

    private static let wrong = SettingProblem(
        expected:
            "at least 32 bytes in base64 (head -c 32 /dev/urandom | base64), or up to \(limit) such keys, one a line, all different"
    )
}
