import QuartetAPI
import QuartetVocabulary

/// The name that a caller gave a request, so that sending it again is the same request. Made up where none is given.
///
/// A UUID of version 7 (RFC 9562), since it carries its time: one that is too old to be remembered is refused.
struct IdempotencyKey: Sendable {
    let id: ID<RequestSubject>
    /// Whether the caller chose it, and so may have sent the request before.
    let isGiven: Bool

    /// - Parameters:
    ///   - text: The UUID, bare or quoted as the header's draft has it.
    ///   - time: When the request arrived: the time of a key that is made up.
    /// - Throws: For anything but a UUID of version 7.
    init(_ text: String?, at time: Instant) throws(APIError) {
        guard var text else {
            (id, isGiven) = (.new(at: time), false)
            return
        }
        if text.count > 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = String(text.dropFirst().dropLast()) }
        guard let key = ID<RequestSubject>(text), key.version == 7 else {
            throw APIError(.invalidIdempotencyKey, field: "Idempotency-Key")
        }
        (id, isGiven) = (key, true)
    }

    /// Refuses a request that was made long ago: who somebody was then, they may not be any more.
    /// - Parameter time: When the request arrived.
    func requireRecent(at time: Instant) throws(APIError) {
        guard !isGiven || id.time.map({ $0 > time - .days(1) }) ?? false else {
            throw APIError(
                .idTooOld, "This Idempotency-Key is older than a day; use a new one.", field: "Idempotency-Key")
        }
    }

    /// An id for something that the request leads to. No other caller's request can have it.
    /// - Parameters:
    ///   - purpose: Which kind of request it is: a key names one request of each kind.
    ///   - scope: Whose request it is.
    func derive<Subject>(_ purpose: String, _ scope: [UInt8], as: ID<Subject>.Type = ID<Subject>.self)
        -> ID<Subject>
    {
        .derived(at: id.time ?? .now, from: Array("edge/\(purpose)".utf8), scope, id.bytes)
    }
}
