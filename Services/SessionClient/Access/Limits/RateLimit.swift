import QuartetAPI
import Synchronization

/// Admits so many acts of each subject in a time: a token bucket each (as in RFC 2697, section 3, with one bucket).
///
/// Per process and bounded: it keeps those that were seen since as long as a bucket takes to fill, and forgets some when they are
/// too many. What must hold across replicas and restarts is a rule of the service that owns it.
final class RateLimit<Subject: Hashable & Sendable>: Sendable {
    private struct Bucket: Sendable {
        var tokens: Double
        var filled: ContinuousClock.Instant
    }

    /// A bucket that nobody touched for as long as it takes to fill is full, and so needs no entry. All that were last touched
    /// before ``began`` stand in ``earlier``, which is dropped as a whole, so memory goes back after a crowd has left.
    private struct State: Sendable {
        var buckets: [Subject: Bucket] = [:]
        var earlier: [Subject: Bucket] = [:]
        var began = ContinuousClock.now

        subscript(subject: Subject) -> Bucket? {
            get { buckets[subject] ?? earlier[subject] }
            set {
                buckets[subject] = newValue
                earlier[subject] = nil
            }
        }

        var count: Int { buckets.count + earlier.count }
    }

    let rate: Rate
    private var perMinute: Double { rate.perMinute }
    private var burst: Double { Double(rate.burst) }
    private let subjectLimit: Int
    /// How long an empty bucket takes to fill, and ten seconds more for what has to wait (``delay(_:longest:at:)``).
    private let refill: Duration
    private let state = Mutex(State())

    init(_ rate: Rate, subjectLimit: Int = 100_000) {
        self.rate = rate
        self.subjectLimit = subjectLimit
        refill = .seconds(10 + Double(rate.burst) * 60 / rate.perMinute)
    }

    /// As ``EdgeLimits`` has it.
    convenience init(_ limit: Limit<Rate>) { self.init(limit.value) }

    /// Seconds after which one more is admitted, at the latest.
    var pause: Int { max(1, Int((60 / perMinute).rounded(.up))) }

    /// Takes an admission back: it doesn't count.
    func giveBack(_ subject: Subject) {
        state.withLock { state in
            guard let bucket = state[subject] else { return }
            // A subject with a full bucket needs no entry.
            state[subject] =
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
            var bucket = current(subject, in: &state, at: now)
            let isAdmitted = bucket.tokens >= 1
            if isAdmitted { bucket.tokens -= 1 }
            state[subject] = bucket
            return Level(
                isAdmitted: isAdmitted, left: Int(bucket.tokens),
                refill: Int(((burst - bucket.tokens) * 60 / perMinute).rounded(.up)))
        }
    }

    /// Counts one in any case.
    /// - Parameter longest: What doesn't get its turn in this time isn't counted.
    /// - Returns: When its turn is.
    func delay(_ subject: Subject, longest: Duration, at now: ContinuousClock.Instant = .now) -> Duration {
        state.withLock { state in
            var bucket = current(subject, in: &state, at: now)
            let turn = Duration.seconds((1 - bucket.tokens) * 60 / perMinute)
            if turn < longest { bucket.tokens -= 1 }
            state[subject] = bucket
            return min(max(.zero, turn), longest)
        }
    }

    /// How many more would be admitted now.
    func left(of subject: Subject, at now: ContinuousClock.Instant = .now) -> Int {
        state.withLock { state in state[subject].map { Int(filled($0, at: now)) } ?? rate.burst }
    }

    /// Of how many subjects something is remembered.
    var count: Int { state.withLock(\.count) }

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

    /// The subject's bucket as it is now.
    private func current(_ subject: Subject, in state: inout State, at now: ContinuousClock.Instant) -> Bucket {
        if now - state.began > refill {
            (state.earlier, state.buckets, state.began) = (state.buckets, [:], now)
        }
        guard let bucket = state[subject] else {
            if state.count >= subjectLimit { makeRoom(&state) }
            return Bucket(tokens: burst, filled: now)
        }
        return Bucket(tokens: filled(bucket, at: now), filled: now)
    }

    /// Forgets any one: a crowd of others refuses nobody.
    private func makeRoom(_ state: inout State) {
        if let any = state.earlier.keys.first ?? state.buckets.keys.first { state[any] = nil }
    }
}
