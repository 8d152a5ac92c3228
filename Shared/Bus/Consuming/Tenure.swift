import Synchronization

/// How long a worker's leases hold by this machine's clock, and how long its thread may be silent before it counts as
/// stuck. Shared by the worker's thread and the keeper of its leases.
final class Tenure: Sendable {
    private struct State {
        /// Counted from before the renewal was requested.
        var until = ContinuousClock.now
        var renewedAt = ContinuousClock.now
        /// When the thread has to report progress.
        var deadline = ContinuousClock.now
        var wasSlow = false
    }

    private let state = Mutex(State())

    var holds: Bool { state.withLock { ContinuousClock.now < $0.until } }

    /// Records a renewal that was requested at `asked`.
    func renewed(_ asked: ContinuousClock.Instant, until end: ContinuousClock.Instant) {
        state.withLock { state in
            state.renewedAt = max(state.renewedAt, asked)
            state.until = max(state.until, end)
        }
    }

    /// Reports progress. The thread may take this long for its next step.
    func progressed(for duration: Duration) {
        state.withLock { $0.deadline = .now + duration }
    }

    /// Whether the keeper must renew the leases: the thread is busy, but not stuck.
    func needsRenewal(after interval: Duration) -> Bool {
        state.withLock { .now - $0.renewedAt >= interval && .now < $0.deadline && .now < $0.until }
    }

    /// Records that the server ended the session because the thread left a transaction idle for too long.
    func wasSlow() { state.withLock { $0.wasSlow = true } }

    /// Whether ``wasSlow()`` was called since this was last asked.
    func takeSlowness() -> Bool {
        state.withLock { state in
            defer { state.wasSlow = false }
            return state.wasSlow
        }
    }
}
