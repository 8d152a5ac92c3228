/// A closed set of messages, such as all commands of one service. Readers decode rows into it.
///
/// It is an enum with a case for each message and one list of these cases. A case may hold another set, so that a
/// service's set is made of its subjects' sets:
///
///     enum PingCommand: MessageSet {
///         case sendPing(SendPing)
///         case cancelPing(CancelPing)
///
///         static let cases: Cases<Self> = [Case(Self.sendPing), Case(Self.cancelPing)]
///
///         var body: any CommandBody {
///             switch self {
///             case .sendPing(let body): body
///             case .cancelPing(let body): body
///             }
///         }
///     }
///
///     enum ContactsCommand: MessageSet {
///         case ping(PingCommand)
///
///         static let cases: Cases<Self> = [Case(Self.ping)]
///
///         var body: any CommandBody {
///             switch self {
///             case .ping(let set): set.body
///             }
///         }
///     }
///
/// The compiler checks everything except that the list is complete. A message that the list lacks can't be read, so any
/// test that sends it as bytes finds the mistake.
package protocol MessageSet<Body>: Hashable, Sendable {
    /// `any CommandBody` or `any EventBody`.
    associatedtype Body: Sendable
    static var cases: Cases<Self> { get }
    /// The message itself, without its cases.
    var body: Body { get }
}

extension MessageSet {
    /// - Throws: ``MessageError`` if the type or version is unknown, or the body doesn't match it.
    package init(type: String, version: Int16, body: [UInt8]) throws(MessageError) {
        guard let decode = Self.cases.decoders[type] else { throw .unknownType(type, version: version) }
        self = try decode(body, version)
    }

    /// The family of a message that lives may depend on; nil for any other. Reads its body only if the type alone doesn't say.
    /// - Throws: ``MessageError`` if the type or version is unknown.
    package static func urgentFamily(
        type: String, version: Int16, body: [UInt8]
    ) throws(MessageError) -> UrgentFamily? {
        guard let known = cases.types[type], version >= 1, version <= known.version else {
            throw .unknownType(type, version: version)
        }
        if known.isUrgent { return known.urgentFamily }
        guard let known = known as? any SometimesUrgent.Type else { return nil }
        let isUrgent = (try? known.decoded(from: body, version: version))?.isUrgent ?? false
        return isUrgent ? known.urgentFamily : nil
    }

    /// The types of all its messages, including those of nested sets.
    package static var types: [any MessageBody.Type] { cases.messages.map(\.type) }
}

extension MessageSet<any EventBody> {
    /// The account that the event is about.
    package var account: AccountID { body.account }
}

/// One case of a ``MessageSet``.
package struct Case<Messages: MessageSet>: Sendable {
    typealias Decode = @Sendable (_ body: [UInt8], _ version: Int16) throws(MessageError) -> Messages

    let messages: [(type: any MessageBody.Type, decode: Decode)]

    /// A case that holds a message.
    package init<Body: MessageBody>(_ make: @escaping @Sendable (Body) -> Messages) {
        messages = [
            (
                Body.self,
                { @Sendable body, version throws(MessageError) in make(try .decoded(from: body, version: version)) }
            )
        ]
    }

    /// A case that holds a set.
    package init<Inside: MessageSet>(_ make: @escaping @Sendable (Inside) -> Messages) {
        messages = Inside.cases.messages.map { message in
            (message.type, { @Sendable body, version throws(MessageError) in make(try message.decode(body, version)) })
        }
    }
}

/// The list of a ``MessageSet``'s cases, which gives its types and its decoding.
package struct Cases<Messages: MessageSet>: Sendable, ExpressibleByArrayLiteral {
    let messages: [(type: any MessageBody.Type, decode: Case<Messages>.Decode)]
    let decoders: [String: Case<Messages>.Decode]
    let types: [String: any MessageBody.Type]

    /// - Precondition: No two messages have the same name.
    package init(arrayLiteral cases: Case<Messages>...) {
        messages = cases.flatMap(\.messages)
        decoders = Dictionary(uniqueKeysWithValues: messages.map { ($0.type.type, $0.decode) })
        types = Dictionary(uniqueKeysWithValues: messages.map { ($0.type.type, $0.type) })
    }
}
