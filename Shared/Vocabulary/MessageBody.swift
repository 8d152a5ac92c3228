import Foundation

/// A type that encodes to a JSON object and knows its name and version.
///
/// The name is the Swift type's own, the same in SQL, docs and logs. A version never changes its meaning: a changed
/// body is a new version, and old ones stay readable.
public protocol MessageBody: Codable, Hashable, Sendable {
    static var type: String { get }
    static var version: Int16 { get }
    /// Whether lives may depend on it. Urgent messages of a key keep an order of their own, and never wait for one that
    /// isn't.
    static var isUrgent: Bool { get }
    /// Which urgent messages of a key it keeps its order with. The others of the key don't wait for it.
    static var urgentFamily: UrgentFamily { get }

    /// Translates a body of an older version. Rows are kept, so every version that was ever published stays readable. A
    /// newer version is never read as an older one.
    /// - Throws: ``MessageError`` if there never was such a version, or the body doesn't match it.
    static func upcast(from body: [UInt8], version: Int16) throws(MessageError) -> Self
}

extension MessageBody {
    public static var type: String { "\(Self.self)" }
    public static var version: Int16 { 1 }
    public static var isUrgent: Bool { false }
    public static var urgentFamily: UrgentFamily { .alarm }

    public static func upcast(from body: [UInt8], version: Int16) throws(MessageError) -> Self {
        throw .unknownType(type, version: version)
    }
}

/// What urgent messages of a key are about: one that fails doesn't hold back what is about something else.
public enum UrgentFamily: String, CaseIterable, Sendable {
    /// Alerts, missed check-ins and their ends, and whatever tells others of them.
    case alarm
    /// A person's own check-ins.
    case checkIn
    /// Answers to pings and to others' alarms.
    case answer
}

/// An imperative request to one service.
public protocol CommandBody: MessageBody {
    /// How long it may wait for its service when an app asks for it. Older, it expires: it isn't done, and the app may ask again.
    static var validity: Interval { get }
    /// Checks what needs no state: lengths, forms, ranges. It runs at the edge and again in the service.
    /// - Throws: A ``Rejection`` that names the field and the rule.
    func validate() throws(Rejection)
}

extension CommandBody {
    public static var validity: Interval { .minutes(5) }

    public func validate() throws(Rejection) {}
}

/// A message whose urgency depends on its kind.
package protocol SometimesUrgent: MessageBody {
    /// The words in the body's member `kind` that make it urgent.
    static var urgentKinds: [String] { get }
    /// As ``MessageBody/isUrgent`` of the type, for this one.
    var isUrgent: Bool { get }
}

/// A command that apps may send as it is, for the account that is signed in.
public protocol PublicCommandBody: CommandBody, AppCommandBody {}

/// A command that a service sends to itself, for example by a timer. No account asks for it, so it names one.
package protocol OwnCommandBody: CommandBody {
    var account: AccountID { get }
}

/// A past-tense state change, published by its owner.
public protocol EventBody: MessageBody {
    /// The account that it is about.
    var account: AccountID { get }
    /// The stream that it is in: the account's, unless the type says otherwise.
    var stream: Key { get }
}

extension EventBody {
    /// The stream of the account that it is about.
    public var stream: Key { .account(account) }
}

/// Why a row can't be read.
public enum MessageError: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownType(String, version: Int16)
    /// A word that isn't on one of the type's closed lists, as this program knows them.
    case unknownWord(type: String, version: Int16, field: String?, reason: String)
    case malformed(type: String, reason: String, field: String?)

    public var description: String {
        switch self {
        case .unknownType(let type, let version):
            "\(type) version \(version) is unknown here. If a newer sender uses it, update this service"
        case .unknownWord(let type, let version, let field, let reason):
            "\(type) version \(version) has an unknown word in \(field ?? "its body"): \(reason)"
        case .malformed(let type, let reason, let field):
            "the body of \(type) \(field.map { "has a wrong \($0): " } ?? "can't be read: ")\(reason)"
        }
    }

    /// What a program has to know to read it, if that is what is missing: a type with its version, or a word of one.
    public var needs: String? {
        switch self {
        case .unknownType(let type, let version): "\(type)@\(version)"
        case .unknownWord(let type, let version, let field, let reason):
            String("\(type)@\(version) \(field ?? ""): \(reason)".prefix(200))
        case .malformed: nil
        }
    }
}

extension MessageBody {
    /// The canonical encoding: keys sorted, so that equal bodies have equal hashes.
    public func encoded() throws -> [UInt8] {
        if let plain = PlainEncoder.encode(self) { return plain }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }

    /// Reads a body of this type, in any published version.
    public static func decoded(from body: [UInt8], version: Int16) throws(MessageError) -> Self {
        if version == Self.version { return try decoded(from: body) }
        guard (1..<Self.version).contains(version) else { throw .unknownType(type, version: version) }
        return try upcast(from: body, version: version)
    }

    /// Reads a body of this very version.
    public static func decoded(from body: [UInt8]) throws(MessageError) -> Self {
        if let plain = PlainDecoder.decode(Self.self, from: body) { return plain }
        do {
            return try JSONDecoder().decode(Self.self, from: Data(body))
        } catch let error as DecodingError {
            if error.isUnknownWord {
                throw .unknownWord(type: type, version: version, field: error.field, reason: error.reason)
            }
            throw .malformed(type: type, reason: error.reason, field: error.field)
        } catch {
            throw .malformed(type: type, reason: "\(error)", field: nil)
        }
    }
}

extension DecodingError {
    /// Whether a value isn't among an enum's cases, as the standard library reports it when `init(rawValue:)` returns
    /// nil. Our own types word their refusals differently.
    var isUnknownWord: Bool {
        guard case .dataCorrupted(let context) = self else { return false }
        return context.debugDescription.hasPrefix("Cannot initialize ")
            && context.debugDescription.contains(" from invalid ")
    }

    /// The path of the field at fault, with dots; nil if it is the whole document.
    public var field: String? {
        let path: [any CodingKey]
        switch self {
        case .keyNotFound(let key, let context): path = context.codingPath + [key]
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            path = context.codingPath
        @unknown default: path = []
        }
        return path.isEmpty ? nil : path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }

    /// A phrase that follows the field's name.
    public var reason: String {
        switch self {
        case .keyNotFound: "it is missing"
        case .typeMismatch(let type, _): "it must be a \(type)"
        case .valueNotFound: "it must not be null"
        case .dataCorrupted(let context): context.debugDescription
        @unknown default: "\(self)"
        }
    }
}
