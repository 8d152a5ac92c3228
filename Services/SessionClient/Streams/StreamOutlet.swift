import Bus
import QuartetAPI
import Synchronization

/// An item of one connection; each stream's are in its order.
enum StreamItem: Sendable {
    /// A sequence and where it is with an event.
    struct Place: Sendable {
        let name: StreamName
        let token: ResumeToken?

        init(_ name: StreamName, _ token: ResumeToken?) {
            (self.name, self.token) = (name, token)
        }
    }

    /// Nil for an event that moves no sequence.
    case event(StreamEvent, at: Place? = nil)
    /// A sequence has come this far; the app gets nothing of what lies between, and its place with whatever it gets next.
    case moved(Place)
    /// Whatever signals wait by the time that the writer comes to this.
    case signals
    case heartbeat
    /// The app has left; nothing more is written.
    case left
}

/// Collects the events of one connection's streams for its writer.
///
/// Bounded: streams wait for the writer, and the writer waits for the socket. Events that an app doesn't read stay in its
/// streams' bounded buffers. When one of those overflows, the app gets that stream's snapshot again.
final class StreamOutlet: Sendable {
    /// What the writer takes, in order.
    let items: AsyncStream<StreamItem>
    /// Signals that the writer has not taken.
    let signals = SignalQueue()
    private let source: AsyncStream<StreamItem>.Continuation
    private let credit: Credit
    /// Items that the writer has not taken.
    private let waiting = Atomic(0)
    private let ending = Mutex<StreamEnd?>(nil)
    private let (ends, ender) = AsyncStream<Void>.makeStream()
    /// How long the last write may take once the stream is over. An app that doesn't read holds no place after that.
    static let endDeadline: Duration = .seconds(1)

    init(room: Int) {
        (items, source) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
        credit = Credit(limit: room)
    }

    /// Waits until the writer has room, then hands it an item.
    func put(_ item: StreamItem) async {
        await waitForRoom()
        putNow(item)
    }

    /// Waits until the writer has room for one item, which is then to be put, or the room given back. A cancelled task doesn't
    /// wait: its connection is over.
    func waitForRoom() async { try? await credit.take() }

    /// Makes room for so many items: those that were written.
    func giveRoom(_ count: Int = 1) { credit.give(count) }

    /// Hands over an item that there is room for, or one that takes no room: a heartbeat, or that the app has left.
    func putNow(_ item: StreamItem) {
        waiting.add(1, ordering: .relaxed)
        source.yield(item)
    }

    /// Ends the stream. What still waits is not written: an app that comes again gets it then. The first reason counts.
    func end(_ reason: StreamEnd) {
        let isFirst = ending.withLock { ending in
            defer { ending = ending ?? reason }
            return ending == nil
        }
        guard isFirst else { return }
        source.finish()
        ender.finish()
    }

    /// Why the stream ends, once it does.
    var end: StreamEnd? { ending.withLock(\.self) }

    /// Waits until the stream ends, or the task is cancelled.
    func waitForEnd() async { for await _ in ends {} }

    /// Lets all waiters go: nothing more is written.
    func close() { credit.close() }

    /// The writer has taken one. Returns whether there are more.
    func taken() -> Bool { waiting.subtract(1, ordering: .relaxed).newValue > 0 }
}
