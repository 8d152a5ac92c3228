public import Vocabulary

/// A telephone number in the form of ITU-T E.164: `+`, then 7 to 15 digits, the first of them not 0.
///
/// Spaces, hyphens, dots and parentheses between the digits are left out, so that people may write it as they do.
public struct PhoneNumber: Hashable, Sendable, CustomStringConvertible {
    /// The number as it is kept and dialled.
    public let description: String

    /// - Throws: `invalidField` that says what a number may be.
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

/// A phone number of an account, after its person proved that it is theirs.
public struct Phone: Codable, Hashable, Sendable {
    /// As ``PhoneNumber`` writes it.
    public var number: String
    /// Where it was given: ISO 3166-1 alpha-2, two capital letters.
    public var region: String?

    /// Its parameters are the properties of the same names.
    public init(number: String, region: String? = nil) {
        self.number = number
        self.region = region
    }

    /// - Throws: `invalidField` for a number or a region that can't be.
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

/// What ``PhoneID`` identifies.
public enum PhoneSubject {}

/// A name for a phone number that nobody can turn back into the number: the edge makes it under the server's key. What is
/// asked before anybody is signed in goes by it, so that no log has a stranger's number.
public typealias PhoneID = ID<PhoneSubject>

/// What ``PhoneCodeID`` identifies.
public enum PhoneCodeSubject {}

/// A code that was sent to a phone. The edge makes the six digits from this id under the server's key; session knows no
/// more than the hash of a proof of them.
public typealias PhoneCodeID = ID<PhoneCodeSubject>

extension Key {
    /// The key of what is asked by phone before anybody is signed in.
    public static func phone(_ phone: PhoneID) -> Self { Self(kind: "phone", id: phone.description) }
}

/// The numbers of phone codes that a sender can know beforehand.
public enum PhoneCodeRules {
    /// How long a code is good for.
    public static let lifetime: Interval = .minutes(10)
    /// How often it may be tried.
    public static let attempts = 5
}
