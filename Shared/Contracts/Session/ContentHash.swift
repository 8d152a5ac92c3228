import Crypto
public import QuartetVocabulary

/// The SHA-256 of one chunk.
public struct ChunkHash: Hashable, Sendable {
    /// 32 bytes.
    public let bytes: [UInt8]

    public init(of chunk: some Sequence<UInt8>) {
        bytes = Array(SHA256.hash(data: Array(chunk)))
    }

    /// Nil unless there are exactly 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }
}

/// Names some bytes, which are stored under it: the SHA-256 of the SHA-256 hashes of their chunks, one after the other. In
/// JSON, 64 lowercase hexadecimal digits.
///
/// Every chunk has ``chunkSize`` bytes, but for the last one. So a part can be checked and stored before the rest is there,
/// and the whole is checked by its chunks' hashes alone.
public struct ContentHash: Hashable, Sendable, TextCodable {
    public static var form: String { "64 lowercase hexadecimal digits" }

    /// In bytes.
    public static let chunkSize = 65_536

    /// 32 bytes.
    public let bytes: [UInt8]

    public init(of content: [UInt8]) {
        self.init(
            of: stride(from: 0, to: content.count, by: Self.chunkSize).map {
                ChunkHash(of: content[$0..<min($0 + Self.chunkSize, content.count)])
            })
    }

    /// Names the content that has these chunks, in this order.
    public init(of chunks: [ChunkHash]) {
        bytes = Array(SHA256.hash(data: chunks.flatMap(\.bytes)))
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

extension ContentHash: Comparable {
    public static func < (left: Self, right: Self) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}
