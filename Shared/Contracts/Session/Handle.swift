public import Vocabulary

/// The name by which an account signs in and is found: 3 to 30 of the characters a–z, 0–9, `.`, `_` and `-`, with at
/// least one letter or digit. One handle is one account's.
///
/// Only ASCII: a Cyrillic а beside a Latin a would let one person pass for another.
public struct Handle: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let description: String

    /// Takes what a person typed: spaces around it are dropped and capital letters made small.
    /// - Throws: a ``Vocabulary/Rejection`` with the field `handle` that names the rule.
    public init(_ text: String) throws(Rejection) {
        let scalars = text.unicodeScalars.drop { $0 == " " }
        let trimmed = String.UnicodeScalarView(scalars.reversed().drop { $0 == " " }.reversed())
        var handle = ""
        for scalar in trimmed {
            // ASCII first: lowercasing Unicode would turn the Kelvin sign into a k.
            guard scalar.isASCII else { throw Self.wrong(scalar) }
            let lowered = "A"..."Z" ~= scalar ? Unicode.Scalar(UInt8(scalar.value) + 32) : scalar
            guard "a"..."z" ~= lowered || "0"..."9" ~= lowered || ".-_".unicodeScalars.contains(lowered) else {
                throw Self.wrong(scalar)
            }
            handle.unicodeScalars.append(lowered)
        }
        guard (3...30).contains(handle.utf8.count) else {
            throw Rejection(.invalidField, "a handle has 3 to 30 characters; choose another", field: "handle")
        }
        guard handle.contains(where: { $0.isLetter || $0.isNumber }) else {
            throw Rejection(.invalidField, "a handle needs a letter or a digit; choose another", field: "handle")
        }
        description = handle
    }

    private static func wrong(_ scalar: Unicode.Scalar) -> Rejection {
        let code = String(scalar.value, radix: 16, uppercase: true)
        let number = "U+" + String(repeating: "0", count: max(0, 4 - code.count)) + code
        return Rejection(
            .invalidField,
            "a handle has only the letters a to z, digits, dots, hyphens and underscores; \(number) is none of them",
            field: "handle")
    }

    public static func < (left: Self, right: Self) -> Bool { left.description < right.description }
}

extension Handle: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(Rejection) { try self.init(text) } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
