import API
import Synchronization

/// Admits so many acts of each subject in a time: a token bucket each (as in RFC 2697, section 3, with one bucket).
///
/// Per process and bounded: it keeps those that were seen lately, and forgets some when they are too many. What must hold
/// across replicas and restarts is a rule of the service that owns it.
final class RateLimit<Subject: Hashable & Sendable>: Sendable {
    private struct Bucket: Sendable {
        var tokens: Double
        var filled: ContinuousClock.Instant
    }

    private struct State: Sendable {
        var buckets: [Subject: Bucket] = [:]
        var swept = ContinuousClock.now
    }

    let rate: Rate
    private var perMinute: Double { rate.perMinute }
    private var burst: Double { Double(rate.burst) }
    private let subjectLimit: Int
    private let state = Mutex(State())

    init(_ rate: Rate, subjectLimit: Int = 100_000) {
        self.rate = rate
        self.subjectLimit = subjectLimit
    }

    /// As ``EdgeLimits`` has it.
    convenience init(_ limit: Limit<Rate>) { self.init(limit.value) }

    /// Seconds after which one more is admitted, at the latest.
    var pause: Int { max(1, Int((60 / perMinute).rounded(.up))) }

    /// Takes an admission back: it doesn't count.
    func giveBack(_ subject: Subject) {
        state.withLock { state in
            guard let bucket = state.buckets[subject] else { return }
            // A subject with a full bucket needs no entry.
            state.buckets[subject] =
                bucket.tokens + 1 >= burst ? nil : Bucket(tokens: bucket.tokens + 1, filled: bucket.filled)
        }
    }

    /// Whether the subject may do it now. Counts it if so.
    func admit(_ subject: Subject, at now: ContinuousClock.Instant = .now) -> Bool {
        take(subject, at: now).isAdmitted
    }

    /// What ``take(_:at:)`` found.
    struct Level: Hashable, Sendable {
        let isAdmitted: Bool
        /// How many more would be admitted now.
        let left: Int
        /// Seconds until as many are as there can be.
        let refill: Int
    }

    /// The same, and what is left.
    func take(_ subject: Subject, at now: ContinuousClock.Instant = .now) -> Level {
        state.withLock { state in
            var bucket = state.buckets[subject] ?? Bucket(tokens: burst, filled: now)
            bucket.tokens = filled(bucket, at: now)
            bucket.filled = now
            if state.buckets[subject] == nil, state.buckets.count >= subjectLimit { makeRoom(&state, now) }
            let isAdmitted = bucket.tokens >= 1
            if isAdmitted { bucket.tokens -= 1 }
            state.buckets[subject] = bucket
            return Level(
                isAdmitted: isAdmitted, left: Int(bucket.tokens),
                refill: Int(((burst - bucket.tokens) * 60 / perMinute).rounded(.up)))
        }
    }

    /// How many are admitted at once, and in how many seconds as many more.
    var policy: (quota: Int, window: Int) {
        (Int(burst), max(1, Int((burst * 60 / perMinute).rounded(.up))))
    }

    /// - Throws: The error to refuse with, and when to come again.
    func require(_ subject: Subject, orElse code: APIError.Code) throws(APIError) {
        guard admit(subject) else { throw APIError(code, retryAfter: pause) }
    }

    private func filled(_ bucket: Bucket, at now: ContinuousClock.Instant) -> Double {
        min(burst, bucket.tokens + (now - bucket.filled) / .seconds(60) * perMinute)
    }

    /// Forgets subjects whose buckets are full again, or else any one: a crowd of others refuses nobody.
    private func makeRoom(_ state: inout State, _ now: ContinuousClock.Instant) {
        if now - state.swept > .seconds(1) {
            state.swept = now
            state.buckets = state.buckets.filter { filled($0.value, at: now) < burst }
        }
        if state.buckets.count >= subjectLimit, let any = state.buckets.keys.first { state.buckets[any] = nil }
    }
}
