import QuartetAPI
import QuartetContractSupport
import QuartetVocabulary
import Synchronization

/// The server's time, as far as it is known. A device's own clock may be years off.
final class KnownServerTime: Sendable {
    private let time: Timekeeper
    /// The server's time at the timekeeper's zero.
    private let origin = Mutex<Instant?>(nil)
    /// The same from questions that were asked for nothing else.
    private let filter = Mutex(ServerClock())

    init(_ time: Timekeeper) {
        self.time = time
    }

    /// The server said its time just now.
    func heard(_ server: Instant?) {
        guard let server else { return }
        let now = time.now()
        origin.withLock { $0 = server - Interval(now) }
    }

    /// - Parameter sent: When the question was sent, by the timekeeper.
    func heard(_ reply: ServerTimeReply, sent: Duration) {
        let arrived = time.now()
        filter.withLock { filter in
            filter.take(
                ServerClock.Sample(
                    sent: Interval(sent), received: reply.received, replied: reply.sent, arrived: Interval(arrived)))
        }
    }

    /// The device slept, or has another network.
    func restart() { filter.withLock { $0.restart() } }

    /// How long to wait before the next question.
    var pause: Duration { filter.withLock { $0.pause }.duration }

    /// To some milliseconds; nil before the first question was answered.
    var precise: Instant? {
        let now = Interval(time.now())
        return filter.withLock { $0.time(at: now) }
    }

    /// Nil before the server said its time.
    var now: Instant? { at(time.now()) }

    /// The server's time at a time of the timekeeper.
    func at(_ moment: Duration) -> Instant? { origin.withLock { $0 }.map { $0 + Interval(moment) } }
}
