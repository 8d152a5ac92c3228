import QuartetAPI
import QuartetVocabulary

/// How much an account and an address may ask of this process, by kind of request: a token bucket each.
///
/// Searches, uploads, guesses, sign-ups and codes have narrower limits besides, where they are handled.
struct RequestLimits: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case reads, commands
        /// Commands on which lives may depend (``MessageBody/isUrgent``): nothing else that somebody did, and nothing that
        /// strangers of the address did, uses them up.
        case urgent
        case operations
        /// Opening a stream.
        case streams

        var refusal: APIError.Code {
            switch self {
            case .reads: .tooManyReads
            case .commands, .urgent: .tooManyCommands
            case .operations: .tooManyOperations
            case .streams: .tooManyStreams
            }
        }
    }

    /// What is left of a limit after a request.
    struct Quota: Hashable, Sendable {
        let kind: Kind
        /// So many in ``window`` seconds.
        let quota: Int
        let window: Int
        let left: Int
        /// Seconds until it is whole again.
        let refill: Int
    }

    private let accounts: [Kind: RateLimit<AccountID>]
    private let addresses: [Kind: RateLimit<String>]
    /// Of urgent requests of people whose token was used here lately (``Admission``).
    private let known: RateLimit<String>?
    private let repeats = RateLimit<AccountID>(EdgeLimits.repeats)
    private let urgentRepeats = RateLimit<AccountID>(EdgeLimits.repeats)

    /// - Parameters:
    ///   - perMinute: How much of each kind an account may ask in a minute (``Rate/requests(_:)``).
    ///   - addressFactor: How many times as much an address may, behind which there may be many people.
    init(perMinute: [Kind: Int], addressFactor: Int) {
        func limits<Subject>(_ factor: Int) -> [Kind: RateLimit<Subject>] {
            perMinute.mapValues { RateLimit(.requests($0 * factor)) }
        }
        accounts = limits(1)
        addresses = limits(addressFactor)
        known = perMinute[.urgent].map { RateLimit(.requests($0 * addressFactor)) }
    }

    /// Counts an account's request.
    /// - Throws: The kind's refusal; `quota` says what is left in any case.
    func admit(_ kind: Kind, of account: AccountID, _ quota: (Quota) -> Void) throws(APIError) {
        try admit(kind, account, accounts[kind], APIError(kind.refusal), quota)
    }

    /// Counts a request beyond the account's limit that may have been answered before. Whether it was is still to be looked up.
    func admitRepeat(_ kind: Kind, of account: AccountID) -> Bool {
        (kind == .urgent ? urgentRepeats : repeats).admit(account)
    }

    /// Counts a request from an address, whoever asks.
    /// - Parameter isKnown: Whether it counts with the urgent ones of people whose token was used here lately.
    /// - Throws: `tooManyRequests`; `quota` says what is left in any case.
    func admit(
        _ kind: Kind, from address: String, isKnown: Bool = false, _ quota: (Quota) -> Void
    ) throws(APIError) {
        try admit(
            kind, address, isKnown ? known : addresses[kind],
            APIError(.tooManyRequests, "There were too many requests from your address; wait a moment."), quota)
    }

    private func admit<Subject>(
        _ kind: Kind, _ subject: Subject, _ limit: RateLimit<Subject>?, _ refusal: APIError,
        _ quota: (Quota) -> Void
    ) throws(APIError) {
        guard let limit else { return }
        let level = limit.take(subject)
        let policy = limit.policy
        quota(
            Quota(
                kind: kind, quota: policy.quota, window: policy.window, left: level.left, refill: level.refill))
        guard !level.isAdmitted else { return }
        var refusal = refusal
        refusal.retryAfter = limit.pause
        throw refusal
    }
}
