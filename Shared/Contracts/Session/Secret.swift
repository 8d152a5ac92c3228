import Foundation

/// 32 secret bytes, such as a password's verifier or a token's hash. Never printed.
///
/// In JSON, base64.
public struct Secret: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public let bytes: [UInt8]

    /// Nil unless there are exactly 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    private init() { bytes = Array(repeating: 0, count: 32) }

    /// Belongs to no one, for a table's blank row.
    package static let blank = Self()

    /// Keeps the bytes out of logs.
    public var description: String { "(secret)" }
    /// Keeps the bytes out of dumps.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Secret: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let data = Data(base64Encoded: try container.decode(String.self)), let secret = Self(Array(data)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "must be 32 bytes in base64")
        }
        self = secret
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Data(bytes).base64EncodedString())
    }
}
