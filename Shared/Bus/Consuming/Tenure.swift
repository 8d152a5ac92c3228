import Synchronization

/// How long a worker's leases hold by this machine's clock, and how long it may go on before it counts as stuck. Its
/// thread and the keeper of its leases share it.
final class Tenure: Sendable {
    private struct State {
        /// Counted from before the renewal was asked for.
        var until = ContinuousClock.now
        var renewedAt = ContinuousClock.now
        /// When the thread has to have said again that it goes on.
        var deadline = ContinuousClock.now
        var wasSlow = false
    }

    private let state = Mutex(State())

    /// Whether the leases hold.
    var holds: Bool { state.withLock { ContinuousClock.now < $0.until } }

    /// They were renewed, as asked at a time.
    func renewed(_ asked: ContinuousClock.Instant, until end: ContinuousClock.Instant) {
        state.withLock { state in
            state.renewedAt = max(state.renewedAt, asked)
            state.until = max(state.until, end)
        }
    }

    /// The thread goes on, and may take so long for what it does next.
    func progressed(for duration: Duration) {
        state.withLock { $0.deadline = .now + duration }
    }

    /// Whether somebody else must renew the leases: the thread is busy, and not stuck.
    func needsRenewal(after interval: Duration) -> Bool {
        state.withLock { .now - $0.renewedAt >= interval && .now < $0.deadline && .now < $0.until }
    }

    /// The server ended the session because the thread left a transaction idle for too long.
    func wasSlow() { state.withLock { $0.wasSlow = true } }

    /// Whether that happened since the last time that this was asked.
    func takeSlowness() -> Bool {
        state.withLock { state in
            defer { state.wasSlow = false }
            return state.wasSlow
        }
    }
}
