import Foundation

/// Thirty-two bytes that only sender and receiver should see: base64 in JSON, never in a description.
///
/// The parameter says what they are, so that a verifier can't stand where a refresh token's hash is meant.
public struct Secret<Subject>: Hashable, Sendable {
    /// Exactly 32.
    public let bytes: [UInt8]

    /// Returns nil unless there are 32 bytes.
    public init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Compares in a time that doesn't tell where the first difference is.
    public static func == (left: Self, right: Self) -> Bool {
        zip(left.bytes, right.bytes).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<secret>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let data = Data(base64Encoded: try container.decode(String.self)), let secret = Self(bytes: data) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "it must be 32 bytes in base64")
        }
        self = secret
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Data(bytes).base64EncodedString())
    }
}

/// What ``Verifier`` identifies a person by.
public enum VerifierSubject {}
/// What ``RefreshHash`` is the hash of.
public enum RefreshSubject {}

/// What the edge's scrypt makes of a password. Session keeps only a SHA-256 of it.
public typealias Verifier = Secret<VerifierSubject>
/// A hash of a refresh token, made at the edge: session never sees the token.
public typealias RefreshHash = Secret<RefreshSubject>
