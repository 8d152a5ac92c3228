import Logging
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// The caller, as a verified access token names it.
struct Caller: Hashable, Sendable {
    let account: AccountID
    let device: DeviceID
    /// When the token ends; a stream doesn't outlive it.
    let expiresAt: ContinuousClock.Instant
}

/// What an action needs to know of a request besides its caller and its content, whatever carries it.
struct Call: Sendable {
    let key: IdempotencyKey
    /// When the request arrived, by the database's clock: a wrong clock of this machine refuses nothing.
    let arrival: Instant
    /// The client's network address, by which customers are told apart.
    let address: String
    /// Shared by everything that this request leads to.
    let correlationID: CorrelationID
    /// W3C trace context.
    let traceParent: String?
    let logger: Logger
    /// The client's name and version, if it says them.
    let client: String?
    /// What the answer says besides.
    let fields: AnswerFields
    /// Set when it turns out that the request was answered before.
    let replay = Replay()
}

/// Whether an answer is that of an earlier request with the same key.
final class Replay: Sendable {
    private let mark = Atomic(false)

    var isReplayed: Bool { mark.load(ordering: .relaxed) }

    @Sendable func note() { mark.store(true, ordering: .relaxed) }
}
