import Metrics
import Synchronization

/// How this process leaves: it opens no more streams and ends the open ones one after the other, so that their apps don't all
/// come to the other processes at once. Meanwhile it goes on answering requests, because whoever balances the load needs a
/// moment to see that it isn't ready.
final class Drain: Sendable {
    private struct State {
        var isBegun = false
        var streams: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())
    private let open = Meter(label: "quartet_streams_open")

    var isBegun: Bool { state.withLock(\.isBegun) }

    /// One of the streams, until it is removed or released.
    final class Stream: Sendable {
        private let removal: Mutex<(@Sendable () -> Void)?>

        fileprivate init(_ remove: @escaping @Sendable () -> Void) {
            removal = Mutex(remove)
        }

        deinit { remove() }

        func remove() {
            let remove = removal.withLock { removal in
                defer { removal = nil }
                return removal
            }
            remove?()
        }
    }

    /// Adds a stream, for which `end` is called when it is its turn. Nil when none may begin any more.
    func add(_ end: @escaping @Sendable () -> Void) -> Stream? {
        let id: UInt64? = state.withLock { state in
            guard !state.isBegun else { return nil }
            state.last += 1
            state.streams[state.last] = end
            return state.last
        }
        guard let id else { return nil }
        open.increment()
        return Stream { [self] in
            state.withLock { $0.streams[id] = nil }
            open.decrement()
        }
    }

    /// Ends the streams, evenly within a time, and returns when it is over.
    func run(over time: Duration) async {
        let streams = state.withLock { state in
            state.isBegun = true
            return state.streams.keys.shuffled()
        }
        let begun = ContinuousClock.now
        for (index, id) in streams.enumerated() {
            try? await Task.sleep(until: begun + time * index / streams.count, clock: .continuous)
            let end = state.withLock { $0.streams[id] }
            end?()
        }
        try? await Task.sleep(until: begun + time, clock: .continuous)
    }
}
