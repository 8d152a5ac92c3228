/// Which of the server's keys something was made under: eight hexadecimal digits, which follow from the key.
public struct KeyVersion: Hashable, Sendable, CustomStringConvertible {
    /// The digits.
    public let description: String

    /// Returns nil for anything but eight hexadecimal digits in lower case.
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

    /// No key's: for a table's blank row.
    package static let blank = Self()
}

extension KeyVersion: Codable {
    /// From one JSON value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let version = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "must be eight lowercase hexadecimal digits")
        }
        self = version
    }

    /// As one JSON value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Shows that somebody knows a password, or has a code: the edge makes it of that under one of the server's keys.
///
/// What was kept under an earlier key is known by it as long as that key is listed, so commands carry one for each, the
/// current key's first.
public struct Proof: Codable, Hashable, Sendable {
    /// Under which key it was made.
    public let key: KeyVersion
    /// What was made.
    public let secret: Secret

    /// Its parameters are the properties of the same names.
    public init(key: KeyVersion, secret: Secret) {
        self.key = key
        self.secret = secret
    }
}
