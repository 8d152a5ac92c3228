import Synchronization
import Vocabulary

/// The server's time, as far as it is known. A device's own clock may be years off.
final class KnownServerTime: Sendable {
    private let time: Timekeeper
    /// The server's time at the timekeeper's zero.
    private let origin = Mutex<Instant?>(nil)

    init(_ time: Timekeeper) {
        self.time = time
    }

    /// The server said its time just now.
    func heard(_ server: Instant?) {
        guard let server else { return }
        let now = time.now()
        origin.withLock { $0 = server - Interval(now) }
    }

    /// Nil before the server said its time.
    var now: Instant? { at(time.now()) }

    /// The server's time at a time of the timekeeper.
    func at(_ moment: Duration) -> Instant? { origin.withLock { $0 }.map { $0 + Interval(moment) } }
}
