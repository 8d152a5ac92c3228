import Dispatch
import Foundation
import QuartetVocabulary
import Synchronization

/// What rang since it was last looked at.
struct Rings: Sendable {
    /// Every partition counts as rung: after a reconnect, or when a poll is due.
    var all = false
    var partitions: Set<Partition> = []
    /// The members that share a source changed.
    var membership = false
    /// The careful turn of the process is kept for this loop's worker, or is once the first in the line didn't come.
    var turn = false
    /// The loop is to finish its batch and return.
    var stop = false

    var isEmpty: Bool { !all && partitions.isEmpty && !membership && !turn && !stop }
}

/// Wakes a loop that lives on a connection's thread. Ringing never blocks, and rings are kept until somebody looks.
final class Bell: Sendable {
    private let rings = Mutex(Rings())
    private let semaphore = DispatchSemaphore(value: 0)

    func ring(_ change: (inout Rings) -> Void) {
        let wasEmpty = rings.withLock { rings in
            defer { change(&rings) }
            return rings.isEmpty
        }
        if wasEmpty { semaphore.signal() }
    }

    var isStopped: Bool { rings.withLock(\.stop) }

    func stop() { ring { $0.stop = true } }

    /// Takes what rang, without waiting. A stop stays rung forever.
    func take() -> Rings {
        rings.withLock { rings in
            defer { rings = Rings(stop: rings.stop) }
            return rings
        }
    }

    /// Blocks this thread until then, whatever rings; not once it is stopped.
    func rest(until time: ContinuousClock.Instant) {
        let nanoseconds = (time - .now) / .nanoseconds(1)
        guard nanoseconds > 0, !isStopped else { return }
        Thread.sleep(forTimeInterval: nanoseconds / 1e9)
    }

    /// Blocks this thread until something rings or the time-out has passed.
    func wait(_ timeout: Duration) -> Rings {
        if rings.withLock(\.isEmpty) {
            let nanoseconds = max(0, timeout / .nanoseconds(1))
            _ = semaphore.wait(timeout: .now() + .nanoseconds(Int(min(nanoseconds, 1e15))))
        }
        return take()
    }
}
