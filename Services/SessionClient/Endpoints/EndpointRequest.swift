import QuartetAPI
import QuartetContractSupport
import QuartetVocabulary

/// A request that was let in, without anything of what carried it.
struct EndpointRequest: Sendable {
    /// Values of the path and the query, in their order.
    let parameters: [String: [String]]
    /// JSON; nothing is an empty object.
    let body: [UInt8]
    /// Nil at open endpoints.
    let caller: Caller?
    let call: Call
    /// When it began to arrive.
    let arrived: ContinuousClock.Instant

    /// The body, strictly decoded.
    /// - Throws: ``APIError``, `MessageError`.
    func decoded<Body: MessageBody>(_ type: Body.Type = Body.self) throws -> Body { try Body(sent: body) }

    /// The request of someone who is signed in.
    /// - Throws: `missingToken`.
    func signedIn() throws(APIError) -> SignedInRequest {
        guard let caller else { throw APIError(.missingToken) }
        return SignedInRequest(caller: caller, call: call, arrived: arrived)
    }
}

/// A request of someone who is signed in, besides its parameters and its body.
struct SignedInRequest: Sendable {
    let caller: Caller
    let call: Call
    let arrived: ContinuousClock.Instant
}

/// An answer, without anything of what carries it.
struct EndpointReply: Sendable {
    enum Meaning: Sendable {
        case done, created
        /// It isn't over yet.
        case accepted
    }

    var meaning: Meaning = .done
    /// A JSON document; nil for none.
    var json: [UInt8]?
    /// The path of what was made or goes on.
    var location: String?
    /// Names this state of what was read.
    var entityTag: EntityTag?
    /// Seconds after which asking again makes sense.
    var retryAfter: Int?
}

extension MessageBody {
    /// Reads what a client sent, strictly.
    /// - Parameter body: JSON; nothing is an empty object.
    /// - Throws: ``APIError``, `MessageError`.
    init(sent body: [UInt8]) throws {
        try BodyCheck.check(body)
        self = try Self.decodedStrictly(from: body.isEmpty ? Array("{}".utf8) : body)
    }
}
