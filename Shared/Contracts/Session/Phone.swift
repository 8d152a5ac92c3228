public import QuartetVocabulary

/// A phone number in E.164 form: `+`, then 7 to 15 digits, the first of them not 0.
///
/// Spaces, hyphens, dots and parentheses between the digits are removed.
public struct PhoneNumber: Hashable, Sendable, CustomStringConvertible {
    /// As stored and dialled.
    public let description: String

    /// - Throws: `invalidField`, saying what a number may be.
    public init(_ text: String) throws(Rejection) {
        guard text.utf8.count <= 64 else { throw Self.wrong }
        let number = String(text.filter { !" -.()\u{A0}".contains($0) })
        let digits = number.utf8.dropFirst()
        guard number.utf8.first == UInt8(ascii: "+"), (7...15).contains(digits.count),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            digits.first != UInt8(ascii: "0")
        else { throw Self.wrong }
        description = number
    }

    private static let wrong = Rejection(
        .invalidField, "Write the number with its country code, as in +49 30 123456: a + and 7 to 15 digits.",
        field: "phone")
}

/// An account's phone number, which its owner has confirmed.
public struct Phone: Codable, Hashable, Sendable {
    /// In the form of ``PhoneNumber``.
    public var number: String
    /// The region it was entered for: ISO 3166-1 alpha-2, two capital letters.
    public var region: String?

    public init(number: String, region: String? = nil) {
        self.number = number
        self.region = region
    }

    /// - Throws: `invalidField` for an invalid number or region.
    public func check() throws(Rejection) {
        guard try PhoneNumber(number).description == number else {
            throw Rejection(.invalidField, "Write the number without spaces and punctuation.", field: "phone")
        }
        if let region {
            guard region.utf8.count == 2,
                region.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
            else {
                throw Rejection(
                    .invalidField, "Write the region as two capital letters (ISO 3166-1), as in DE.", field: "region")
            }
        }
    }
}

public enum PhoneSubject {}

/// A name for a phone number that can't be turned back into the number: the edge derives it under a server key.
/// Commands before anyone has signed in use it, so that no log contains a stranger's number.
public typealias PhoneID = ID<PhoneSubject>

public enum PhoneCodeSubject {}

/// A code sent to a phone. The edge derives the six digits from this id under a server key; session knows only the hash
/// of a proof of them.
public typealias PhoneCodeID = ID<PhoneCodeSubject>

extension Key {
    /// The key of commands by phone before anyone has signed in.
    public static func phone(_ phone: PhoneID) -> Self { Self(kind: "phone", id: phone.description) }
}

/// The limits that a sender can know beforehand.
public enum PhoneCodeRules {
    public static let lifetime: Interval = .minutes(10)
    /// Wrong digits before the code is void.
    public static let attempts = 5
}
