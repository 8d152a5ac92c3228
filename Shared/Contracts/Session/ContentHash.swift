import Crypto
public import Vocabulary

/// The SHA-256 of some bytes, which are stored under it. In JSON, 64 lowercase hexadecimal digits.
public struct ContentHash: Hashable, Sendable, TextCodable {
    public static var form: String { "64 lowercase hexadecimal digits" }

    /// 32 bytes.
    public let bytes: [UInt8]

    public init(of content: some Sequence<UInt8>) {
        bytes = Array(SHA256.hash(data: Array(content)))
    }

    /// Nil unless there are exactly 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Reads the hexadecimal form. Nil for anything else.
    public init?(_ text: String) {
        guard text.utf8.count == 64 else { return nil }
        var digits: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.append(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digits.append(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        bytes = stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// The hexadecimal form.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 0xF)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
