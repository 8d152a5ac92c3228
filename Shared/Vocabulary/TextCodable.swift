/// A type whose JSON is one string: its description.
public protocol TextCodable: Codable, LosslessStringConvertible {
    /// A phrase to follow "must be", for texts that aren't one: `a UUID`.
    static var form: String { get }
}

extension TextCodable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "must be \(Self.form)")
        }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
