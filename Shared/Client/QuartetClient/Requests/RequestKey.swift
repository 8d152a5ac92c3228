import QuartetVocabulary

/// The Idempotency-Key of a request: random bits from the moment when a person acts, and the server's time from the moment before
/// it is first sent. It never changes after that, so the request can be repeated.
struct RequestKey: Codable, Hashable, Sendable {
    private enum Stage: Codable, Hashable, Sendable {
        case unsent(UInt64, UInt64)
        case minted(ID<RequestSubject>)
    }

    private var stage: Stage

    init() {
        stage = .unsent(.random(in: 0 ... .max), .random(in: 0 ... .max))
    }

    /// A key that was minted before.
    init(_ id: ID<RequestSubject>) {
        stage = .minted(id)
    }

    /// Nil before its time was added.
    var id: ID<RequestSubject>? {
        if case .minted(let id) = stage { id } else { nil }
    }

    /// A UUID of version 7 (RFC 9562, section 5.7).
    mutating func minted(at time: Instant) -> ID<RequestSubject> {
        switch stage {
        case .minted(let id): return id
        case .unsent(let first, let second):
            let id = ID<RequestSubject>(
                high: UInt64(clamping: time.milliseconds) << 16 | 0x7000 | first & 0x0FFF,
                low: 0x8000_0000_0000_0000 | second & 0x3FFF_FFFF_FFFF_FFFF)
            stage = .minted(id)
            return id
        }
    }
}
