import Foundation

/// A value as JSON: encoded once, however many connections carry it.
public struct Encoded<Value>: Hashable, Sendable {
    public let json: [UInt8]

    /// What somebody else encoded: an owner who publishes it, for example.
    public init(json: [UInt8]) {
        self.json = json
    }
}

extension Encoded where Value: Encodable {
    public init(_ value: Value) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        json = Array(try encoder.encode(value))
    }
}

extension Encoded where Value: Decodable {
    public func decoded() throws -> Value { try JSONDecoder().decode(Value.self, from: Data(json)) }
}
