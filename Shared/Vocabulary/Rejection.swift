/// Why a command was refused.
public struct Rejection: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// Lower camel case, stable forever, for example `alreadyContact`.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public init(stringLiteral value: StaticString) {
            rawValue = "\(value)"
        }
    }

    public let code: Code
    /// For people: a sentence that says what to do.
    public let message: String
    /// The name of the field at fault as in the command's JSON, with dots for nested ones.
    public let field: String?
    /// After how long the same command may be accepted, if only time is in the way.
    public let retryAfter: Interval?

    public init(_ code: Code, _ message: String, field: String? = nil, retryAfter: Interval? = nil) {
        self.code = code
        self.message = message
        self.field = field
        self.retryAfter = retryAfter
    }

    public var description: String {
        field.map { "\(code.rawValue) (\($0)): \(message)" } ?? "\(code.rawValue): \(message)"
    }
}

extension Rejection.Code {
    /// The command expired before its service got to it.
    public static let expired: Self = "expired"
    /// The command's id was used before, with another body.
    public static let idReused: Self = "idReused"
    /// The command's id is older than the memory for outcomes, so it may have been done already.
    public static let idTooOld: Self = "idTooOld"
    /// The command's body doesn't match its type and version.
    public static let malformed: Self = "malformed"
    /// A field's value breaks its rule.
    public static let invalidField: Self = "invalidField"
}
