import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// Access tokens whose signature was verified lately: an app sends the same one with every request, and verifying costs more than
/// everything else about it. Whether a device is still signed in isn't kept here.
final class VerifiedTokens: Sendable {
    /// What a token says.
    struct Bearer: Hashable, Sendable {
        let account: AccountID
        let device: DeviceID
        /// From when on it isn't good any more.
        let end: Instant
    }

    /// Two generations: one that fills, and the one before, of which what is used moves on.
    private struct Generations {
        var young: [String: Bearer] = [:]
        var old: [String: Bearer] = [:]
    }

    private let limit: Int
    private let generations = Mutex(Generations())

    /// - Parameter limit: How many a generation has at most.
    init(limit: Int = 8192) { self.limit = limit }

    subscript(token: String) -> Bearer? {
        generations.withLock { generations in
            if let bearer = generations.young[token] { return bearer }
            guard let bearer = generations.old[token] else { return nil }
            Self.insert(bearer, for: token, into: &generations, limit)
            return bearer
        }
    }

    func insert(_ bearer: Bearer, for token: String) {
        generations.withLock { Self.insert(bearer, for: token, into: &$0, limit) }
    }

    private static func insert(_ bearer: Bearer, for token: String, into generations: inout Generations, _ limit: Int) {
        if generations.young.count >= limit { generations = Generations(old: generations.young) }
        generations.young[token] = bearer
    }
}
