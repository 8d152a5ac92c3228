import Foundation
package import QuartetVocabulary
import Synchronization

/// The clock that a connection waits on. It goes on while the device sleeps, and nobody can set it.
public struct Timekeeper: Sendable {
    /// The time since a moment that never changes.
    public var now: @Sendable () -> Duration
    /// Waits until ``now`` has reached a time.
    /// - Throws: `CancellationError`.
    public var sleep: @Sendable (_ until: Duration) async throws -> Void
    /// Where the connection's work is done; nil for anywhere.
    package var workplace: (any Workplace)?
    /// What the length of pauses is drawn from.
    package var draws = Draws()
    /// How long an app's call may take. The server promises an answer within as long.
    package var callLimit: Duration = .seconds(10)
    /// How long a request may take that carries few bytes, whatever its transport does. Those of the package give up after half as long
    /// without a word.
    package var requestLimit: Duration = .seconds(30)
    /// After so long without a word a stream counts as lost. The server says something every 15 seconds.
    package var silence: Duration = .seconds(35)
    /// What ``uptime`` counts from. Where it is the same, times that were kept may be compared.
    package var epoch = UUID().uuidString
    /// When ``now`` was zero.
    private var start: Duration = .zero
    /// The time since ``epoch``, which is the device's start where the system says when that was.
    package var uptime: Duration { start + now() }
    /// The device's clock, which anybody can set.
    package var wall: @Sendable () -> Instant = { .now }

    public init(
        now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (_ until: Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    public static let live: Self = {
        let start = ContinuousClock.now
        var keeper = Self(
            now: { ContinuousClock.now - start },
            sleep: { try await Task.sleep(until: start + $0, clock: .continuous) })
        if let id = Boot.id { (keeper.epoch, keeper.start) = (id, Boot.age) }
        return keeper
    }()
}

/// Random numbers, or those of a test.
package struct Draws: RandomNumberGenerator, Sendable {
    private let draw: @Sendable () -> UInt64

    package init(
        _ draw: @escaping @Sendable () -> UInt64 = {
            var random = SystemRandomNumberGenerator()
            return random.next()
        }
    ) {
        self.draw = draw
    }

    package mutating func next() -> UInt64 { draw() }
}

/// Where connections do their work, for a test's world: it has to know when none of them can go on without time.
package protocol Workplace: TaskExecutor {
    /// Waits until everything that happened before an app's call has been dealt with.
    func enter() async
    /// The call has ended.
    func leave()
}

extension Timekeeper {
    /// Waits for what another task does, also for a caller that is cancelled.
    /// - Returns: Nil if it hasn't ended by the deadline. It goes on.
    func value<Value: Sendable>(of work: Task<Value, Never>, until deadline: Duration) async -> Value? {
        let waiting = Mutex<CheckedContinuation<Value?, Never>?>(nil)
        let resume = { @Sendable (value: Value?) in
            let continuation = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            continuation?.resume(returning: value)
        }
        return await withCheckedContinuation { continuation in
            waiting.withLock { $0 = continuation }
            let limit = Task(executorPreference: workplace) {
                try? await sleep(deadline)
                resume(nil)
            }
            Task(executorPreference: workplace) {
                resume(await work.value)
                limit.cancel()
            }
        }
    }

    /// Makes an app's call where the connection's work is done. What the connection does by itself is there already.
    func call<Value, Failure>(
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let workplace,
            withUnsafeCurrentTask(body: { $0?.unownedTaskExecutor }) != workplace.asUnownedTaskExecutor()
        else { return try await body() }
        return try await withTaskExecutorPreference(workplace) { () async throws(Failure) in
            await workplace.enter()
            defer { workplace.leave() }
            return try await body()
        }
    }
}

/// The device's last start.
private enum Boot {
    /// How long ago it was.
    static var age: Duration {
        var time = timespec()
        #if canImport(Darwin)
            // Other than on Linux, this one goes on while the device sleeps.
            clock_gettime(CLOCK_MONOTONIC, &time)
        #else
            clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Differs from that of every other start; nil if the system doesn't say.
    static var id: String? {
        #if canImport(Darwin)
            var size = 0
            guard sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 1 else { return nil }
            var bytes = [UInt8](repeating: 0, count: size)
            guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        #else
            let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            return text?.trimmingCharacters(in: .whitespacesAndNewlines)
        #endif
    }
}
