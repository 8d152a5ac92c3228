import Foundation

/// 32 bytes that nobody else may see: what became of a password, or the hash of a token. Never printed.
///
/// In JSON it is base64.
public struct Secret: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The bytes.
    public let bytes: [UInt8]

    /// Returns nil unless there are exactly 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    private init() { bytes = Array(repeating: 0, count: 32) }

    /// Nobody's: for a table's blank row.
    package static let blank = Self()

    /// Says nothing of the bytes, so that no log line can.
    public var description: String { "(secret)" }
    /// Shows nothing of the bytes, so that no dump can.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Secret: Codable {
    /// Reads base64 of 32 bytes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let data = Data(base64Encoded: try container.decode(String.self)), let secret = Self(Array(data)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "must be 32 bytes in base64")
        }
        self = secret
    }

    /// Writes base64.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Data(bytes).base64EncodedString())
    }
}
