import Foundation
import QuartetAPI
import QuartetVocabulary

/// Keeps an app's copy of one or more sequences.
protocol StreamConsumer: AnyObject, Sendable {
    var sequences: Set<StreamName> { get }
    /// A stream is about to be asked for: what was accepted before is in its snapshots.
    func begins(_ opening: Int)
    /// Takes in events of one sequence that arrived together, in their order.
    /// - Parameter opening: The number of the stream's opening.
    /// - Throws: If the copy can't be continued by one of them. The sequence then begins again with a snapshot.
    func take(_ events: [StreamEvent], opening: Int) throws
    /// The copy without edits, to be encoded; nil while nothing has arrived.
    var encodable: (@Sendable () throws -> Data)? { get }
    /// Shows what the device kept.
    /// - Returns: False if an earlier version of the app kept it, which didn't know all that this one does.
    /// - Throws: If this version of the app can't read it.
    func restore(_ encoded: Data, asOf time: Instant) throws -> Bool
    /// The stream is quiet. What happened some time ago has arrived.
    /// - Returns: Whether the copy needs a snapshot, since something that it waits for doesn't come.
    func heartbeat() -> Bool
    func liveness(_ liveness: Liveness)
    /// Forgets everything about the account.
    /// - Parameter opening: The newest stream that was about it: what still comes from there is ignored.
    func reset(opening: Int)
}

extension StreamConsumer {
    /// Nothing of it is kept on the device.
    var encodable: (@Sendable () throws -> Data)? { nil }
    func restore(_ encoded: Data, asOf time: Instant) -> Bool { true }
}

/// Whether a copy is what the server has.
enum Liveness: Hashable, Sendable {
    case live
    case stale(since: Instant)
    case unavailable(ConnectionError, since: Instant)
}

extension StreamedEvent {
    /// Nil for an event that only a newer server knows: what it is about isn't in this app's states.
    func decoded<Event: MessageSet>(as type: Event.Type) throws -> Event? {
        do {
            return try Event(type: self.type, version: version, body: body)
        } catch {
            guard case .unknownType = error else { throw error }
            return nil
        }
    }
}
