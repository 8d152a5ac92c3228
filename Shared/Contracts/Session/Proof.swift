/// Identifies a server key by eight hexadecimal digits derived from it.
public struct KeyVersion: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Nil for anything but eight lowercase hexadecimal digits.
    public init?(_ text: String) {
        guard text.utf8.count == 8,
            text.utf8.allSatisfy({
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            })
        else { return nil }
        description = text
    }

    private init() { description = "00000000" }

    /// Stands for no key, in a table's blank row.
    package static let blank = Self()
}

extension KeyVersion: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let version = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "must be eight lowercase hexadecimal digits")
        }
        self = version
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Proves knowledge of a password or code. The edge derives it under a server key.
///
/// A hash stored under an older key still matches while that key is in use: commands carry a proof for each key, the
/// current one's first.
public struct Proof: Codable, Hashable, Sendable {
    /// The server key that it was made with.
    public let key: KeyVersion
    public let secret: Secret

    public init(key: KeyVersion, secret: Secret) {
        self.key = key
        self.secret = secret
    }
}
