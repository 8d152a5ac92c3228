import Crypto
import Foundation
import QuartetNotificationsContract

/// Encrypts messages for browsers (RFC 8291), as one record of the content coding `aes128gcm` (RFC 8188): push services read none of it.
enum WebPushEncryption {
    /// What push services take at least (RFC 8030, section 7.2).
    static let bodyLimit = 4096
    private static let saltSize = 16
    private static let tagSize = 16
    /// Salt, record size, the length of the sender's key, and this key (RFC 8188, section 2.1).
    private static let headerSize = saltSize + 4 + 1 + 65
    /// The greatest message.
    static let messageLimit = bodyLimit - headerSize - tagSize - 1
    /// Messages are padded to one of these lengths and the limit, so that a body's says little about what it holds.
    private static let lengths = [1024, 2048]
    /// Ends the message in the last record; zeros follow.
    private static let delimiter: UInt8 = 2

    /// The message and zeros, as long as others are.
    static func padding(of message: [UInt8]) -> Int {
        (lengths.first { $0 >= message.count } ?? messageLimit) - message.count
    }

    /// The body of a request.
    /// - Parameters:
    ///   - padding: How many zeros follow the message, which with them has at most ``messageLimit`` bytes.
    ///   - own: Used for this message alone.
    /// - Throws: if the browser's key is no point of the curve.
    static func body(
        _ message: [UInt8], padding: Int, to subscription: WebSubscription, own: P256.KeyAgreement.PrivateKey = .init(),
        salt: [UInt8] = (0..<saltSize).map { _ in UInt8.random(in: .min ... .max) }
    ) throws -> [UInt8] {
        let browser = try P256.KeyAgreement.PublicKey(x963Representation: subscription.key)
        let ownKey = own.publicKey.x963Representation
        let input = try own.sharedSecretFromKeyAgreement(with: browser).hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: subscription.secret,
            sharedInfo: Data("WebPush: info\u{0}".utf8) + subscription.key + ownKey, outputByteCount: 32)
        func derived(_ info: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: input, salt: salt, info: Data("\(info)\u{0}".utf8), outputByteCount: count)
        }
        // The number of the first record is zero, so nothing changes the nonce.
        let nonce = try AES.GCM.Nonce(data: derived("Content-Encoding: nonce", 12).withUnsafeBytes { Data($0) })
        let record = message + [delimiter] + [UInt8](repeating: 0, count: padding)
        let sealed = try AES.GCM.seal(record, using: derived("Content-Encoding: aes128gcm", 16), nonce: nonce)
        let size = withUnsafeBytes(of: UInt32(bodyLimit).bigEndian, Array.init)
        return salt + size + [UInt8(ownKey.count)] + Array(ownKey) + Array(sealed.ciphertext) + Array(sealed.tag)
    }
}
