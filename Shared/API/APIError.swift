public import QuartetVocabulary

/// Why a request was refused or could not be answered: a code from one closed list, and what is particular to this case.
public struct APIError: Error, Hashable, Sendable {
    public let code: Code
    /// Says what to do, in a sentence.
    public let detail: String
    /// Which field of the request is at fault.
    public var field: String?
    /// Seconds after which trying again makes sense.
    public var retryAfter: Int?
    /// For programs: which of several causes of one code it was.
    public var reason: String?
    /// With ``Code/staleVersion``: the present state of what was changed meanwhile, as JSON.
    public var current: [UInt8]?
    /// For programs: what they need besides the code, for example who has the seat.
    public var details: [String: JSONValue]?
    /// With ``Code/methodNotAllowed``: the methods that the path has.
    public var allowed: [String]?
    /// With ``Code/rangeNotSatisfiable``: how many bytes there are.
    public var size: Int?
    /// With ``Code/noOutcomeYet``: the Idempotency-Key under which the same request asks how it ended.
    public var key: ID<RequestSubject>?

    /// Of a code that this release doesn't know, what else the server said. ``code`` is then ``Code/refused``.
    public var unknownCode: UnknownCode?

    /// What the server said of a refusal whose code is new.
    public struct UnknownCode: Hashable, Sendable {
        /// The status over HTTP.
        public var status: Int
        /// Whether and how it may be sent again; nil if the server didn't say.
        public var retry: Retry?

        public init(status: Int, retry: Retry?) {
            self.status = status
            self.retry = retry
        }
    }

    /// - Parameter detail: The code's own sentence, unless there is more to say.
    public init(_ code: Code, _ detail: String? = nil, field: String? = nil, retryAfter: Int? = nil) {
        self.code = code
        self.detail = detail ?? code.sentence
        self.field = field
        self.retryAfter = retryAfter
    }

    /// A service's refusal. A code that only a newer release knows becomes ``Code/refused``, with the service's code as
    /// the reason.
    public init(_ rejection: Rejection) {
        let known = Code(rawValue: rejection.code.rawValue)
        // Nobody's account is no account yet. Somebody else's isn't there.
        let code: Code = known == .accountNotFound && rejection.field != nil ? .notFound : known ?? .refused
        self.init(
            code, rejection.message,
            field: rejection.field ?? ([.idReused, .idTooOld].contains(code) ? "Idempotency-Key" : nil),
            retryAfter: rejection.retryAfter.map(\.secondsRoundedUp).map(Int.init(clamping:)))
        details = rejection.details
        if known == nil { reason = rejection.code.rawValue }
    }
}

/// What an Idempotency-Key identifies.
public enum RequestSubject {}

extension Rejection {
    /// The same with its field named as in the request, where the command has another name for it.
    package func naming(_ names: [String: String]) -> Self {
        Rejection(
            code, message, field: field.map { names[$0] ?? $0 }, retryAfter: retryAfter, details: details)
    }
}
