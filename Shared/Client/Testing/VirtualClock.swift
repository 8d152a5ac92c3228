public import QuartetClient
import Synchronization

/// A clock that a test moves.
public final class VirtualClock: Sendable {
    private struct Sleeper: Sendable {
        let id: Int
        let until: Duration
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State: Sendable {
        var now: Duration = .zero
        var next = 0
        var sleepers: [Sleeper] = []
        var waiting: [(until: Duration, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    public init() {}

    public var now: Duration { state.withLock { $0.now } }

    /// When the first of those who sleep is to wake; nil if nobody sleeps.
    package var nextDue: Duration? { state.withLock { $0.sleepers.map(\.until).min() } }

    /// What code under test waits on.
    public var timekeeper: Timekeeper {
        Timekeeper(now: { self.now }, sleep: { try await self.sleep(until: $0) })
    }

    /// Moves it, and wakes everyone whose time has come.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.until <= state.now }
            state.sleepers.removeAll { $0.until <= state.now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume(returning: true) }
    }

    /// Waits until somebody sleeps until a time that is no later than `duration` from now.
    public func waitForSleeper(within duration: Duration) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                let until = state.now + duration
                guard !state.sleepers.contains(where: { $0.until <= until }) else { return true }
                state.waiting.append((until, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Waits until a time, also in a task that is cancelled.
    package func wait(until: Duration) async {
        _ = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let isOver = state.withLock { state in
                guard until > state.now else { return true }
                state.next += 1
                state.sleepers.append(Sleeper(id: state.next, until: until, continuation: continuation))
                return false
            }
            if isOver { continuation.resume(returning: true) }
        }
    }

    private func sleep(until: Duration) async throws {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (result, watchers) = state.withLock { state -> (Bool?, [CheckedContinuation<Void, Never>]) in
                    if Task.isCancelled { return (false, []) }
                    if until <= state.now { return (true, []) }
                    state.sleepers.append(Sleeper(id: id, until: until, continuation: continuation))
                    let watchers = state.waiting.filter { until <= $0.until }.map(\.continuation)
                    state.waiting.removeAll { until <= $0.until }
                    return (nil, watchers)
                }
                for watcher in watchers { watcher.resume() }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(returning: false)
        }
        guard isOver else { throw CancellationError() }
    }
}
