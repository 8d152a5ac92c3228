import API
import Vocabulary

/// Keeps an app's copy of one or more sequences.
protocol StreamConsumer: AnyObject, Sendable {
    var sequences: Set<StreamName> { get }
    /// - Parameter opening: The number of the stream's opening.
    /// - Throws: If the copy can't be continued by this event. The sequence then begins again with a snapshot.
    func take(_ event: StreamEvent, opening: Int) throws
    /// The stream is quiet. What happened some time ago has arrived.
    func heartbeat()
    func liveness(_ liveness: Liveness)
    /// Forgets everything about the account.
    /// - Parameter opening: The newest stream that was about it: what still comes from there is ignored.
    func reset(opening: Int)
}

/// Whether a copy is what the server has.
enum Liveness: Hashable, Sendable {
    case live
    case stale(since: Instant)
    case unavailable(ConnectionError, since: Instant)
}
