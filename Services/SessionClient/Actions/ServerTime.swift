import QuartetAPI
import QuartetVocabulary
import ServiceKit

/// The time that positions of shared playback are counted in: the database's, which is the same at every edge.
struct ServerTime: Sendable {
    let clock: DatabaseClock
    /// How often an account may ask; a client asks once a minute, and three times to begin with.
    private let limit = RateLimit<AccountID>(EdgeLimits.clock)

    init(clock: DatabaseClock) {
        self.clock = clock
    }

    /// - Parameter arrival: When the request arrived.
    /// - Throws: `tooManyRequests`.
    func now(for caller: Caller, since arrival: ContinuousClock.Instant) throws(APIError) -> ServerTimeReply {
        try limit.require(caller.account, orElse: .tooManyRequests)
        let sent = clock.now
        return ServerTimeReply(received: sent - Interval(.now - arrival), sent: sent)
    }
}
