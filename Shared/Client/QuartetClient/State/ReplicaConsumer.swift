import Foundation
import QuartetAPI
import QuartetVocabulary

/// A consumer that keeps its copy in a replica, which is all that differs between one client's copy and another's.
protocol ReplicaConsumer: StreamConsumer {
    associatedtype State: Sendable
    associatedtype Value: Hashable & Sendable

    var holder: ReplicaHolder<State, Value> { get }

    /// What an event does; nil for one that the copy has nothing of. It is asked for one event after the other.
    /// - Throws: If the copy can't be continued by this event.
    func change(by event: StreamEvent, opening: Int) throws -> StreamChange<State>?
}

/// What an event of a stream does to a copy.
struct StreamChange<State: Sendable>: Sendable {
    /// Whom it is about; nil for anything.
    var person: AccountID?
    /// Nil if it changes nothing that readers see.
    var apply: (@Sendable (inout Replica<State>) -> Void)?
    /// Tells others, once readers see it.
    var tell: (@Sendable () -> Void)?

    init(
        about person: AccountID? = nil, _ apply: (@Sendable (inout Replica<State>) -> Void)?,
        tell: (@Sendable () -> Void)? = nil
    ) {
        self.person = person
        self.apply = apply
        self.tell = tell
    }
}

extension ReplicaConsumer {
    func take(_ events: [StreamEvent], opening: Int) throws {
        var changes: [StreamChange<State>] = []
        changes.reserveCapacity(events.count)
        // What came before an event that can't be read is taken in.
        defer {
            holder.receive(changes, from: opening)
            for change in changes { change.tell?() }
        }
        for event in events {
            if let change = try change(by: event, opening: opening) { changes.append(change) }
        }
    }

    func begins(_ opening: Int) { holder.change(touched: []) { $0.begins(opening) } }
    func heartbeat() -> Bool { holder.heartbeat() }
    func liveness(_ liveness: Liveness) { holder.liveness(liveness) }
    func reset(opening: Int) { holder.reset(opening: opening) }
}

/// A copy that the device keeps.
protocol KeptConsumer: ReplicaConsumer where State: Codable {
    /// The number of what the state has. A new one is given when it gets a member that no event brings to a copy that an earlier
    /// version of the app kept, since it dropped what it didn't know.
    static var format: Int { get }
}

extension KeptConsumer {
    static var format: Int { 0 }

    var encodable: (@Sendable () throws -> Data)? { holder.encodable(as: Self.format) }
    func restore(_ encoded: Data, asOf time: Instant) throws -> Bool {
        try holder.restore(encoded, asOf: time) == Self.format
    }
}
