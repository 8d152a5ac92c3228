public import QuartetVocabulary

/// Identifies a server key by eight hexadecimal digits derived from it.
public struct KeyVersion: Hashable, Sendable, TextCodable {
    public static var form: String { "eight lowercase hexadecimal digits" }

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
