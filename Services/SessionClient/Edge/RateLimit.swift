import Synchronization

/// Admits so many acts of each subject a minute: a token bucket each (as in RFC 2697, section 3, with one bucket).
///
/// Per process and bounded: it keeps those that were seen lately. What must hold across replicas and restarts is a rule
/// of the service that owns it.
final class RateLimit<Subject: Hashable & Sendable>: Sendable {
    private struct Bucket: Sendable {
        var tokens: Double
        var filled: ContinuousClock.Instant
    }

    private let perMinute: Double
    private let subjectLimit: Int
    private let buckets = Mutex<[Subject: Bucket]>([:])

    init(perMinute: Int, subjectLimit: Int = 100_000) {
        self.perMinute = Double(perMinute)
        self.subjectLimit = subjectLimit
    }

    /// Seconds after which one more is admitted, at the latest.
    var pause: Int { max(1, Int((60 / perMinute).rounded(.up))) }

    /// What was admitted doesn't count after all.
    func giveBack(_ subject: Subject) {
        buckets.withLock { buckets in
            guard let bucket = buckets[subject] else { return }
            buckets[subject]?.tokens = min(perMinute, bucket.tokens + 1)
        }
    }

    /// Whether the subject may do it now. Counts it if so.
    func admit(_ subject: Subject, at now: ContinuousClock.Instant = .now) -> Bool {
        buckets.withLock { buckets in
            if buckets.count >= subjectLimit {
                // Whose bucket is full again is as good as unknown.
                buckets = buckets.filter { now - $0.value.filled < .seconds(60) }
                if buckets.count >= subjectLimit { return false }
            }
            var bucket = buckets[subject] ?? Bucket(tokens: perMinute, filled: now)
            let elapsed = (now - bucket.filled) / .seconds(60)
            bucket.tokens = min(perMinute, bucket.tokens + elapsed * perMinute)
            bucket.filled = now
            defer { buckets[subject] = bucket }
            guard bucket.tokens >= 1 else { return false }
            bucket.tokens -= 1
            return true
        }
    }
}
