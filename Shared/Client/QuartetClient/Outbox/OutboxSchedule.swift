import QuartetVocabulary

/// Which item is sent next, without sending it.
///
/// Each precedence has places of its own, so nothing waits behind a lower one; of the urgent ones, a call for help has one for itself
/// and goes first, then check-ins. Items of a lane are sent one after the other. What failed rests: an urgent item for itself, the
/// others of a precedence together where the network or the server is the reason.
struct OutboxSchedule: Sendable {
    struct Rest: Sendable {
        let until: Duration
        /// What the item's caller hears meanwhile.
        let error: QuartetError
        fileprivate let attempts: Int
    }

    /// Nobody is signed in, so nothing can be sent.
    var isBlocked = false
    private var busy: [String: OutboxItem] = [:]
    private var rests: [String: Rest] = [:]

    /// How many items are sent at a time.
    static func places(of precedence: Sending.Precedence) -> Int {
        switch precedence {
        case .urgent: 4
        case .normal: 2
        case .background: 1
        }
    }

    /// The last place is kept for a call for help.
    private func hasPlace(for item: OutboxItem) -> Bool {
        let places = Self.places(of: item.precedence)
        let others = busy.values.filter { $0.precedence == item.precedence }
        guard item.precedence == .urgent, item.topic != .alert else { return others.count < places }
        return others.count { $0.topic != .alert } < places - 1
    }

    /// Those of a precedence, in the order in which they are sent where nothing hinders them.
    private static func order(_ items: [OutboxItem], of precedence: Sending.Precedence) -> [OutboxItem] {
        let items = items.filter { $0.precedence == precedence }
        guard precedence == .urgent else { return items }
        let first: [Sending.Topic] = [.alert, .checkIn]
        return first.flatMap { topic in items.filter { $0.topic == topic } }
            + items.filter { item in !first.contains { $0 == item.topic } }
    }

    /// Nothing rests for longer, whatever a server asks; but half a minute to a minute longer what a newer server has refused for a
    /// while by a code that this version doesn't know.
    static func restLimit(of precedence: Sending.Precedence) -> Duration {
        precedence == .urgent ? .seconds(5) : .seconds(1200)
    }

    /// How long what failed rests.
    static func policy(of precedence: Sending.Precedence) -> ReconnectionPolicy {
        precedence == .urgent
            ? ReconnectionPolicy(
                attempts: nil, initial: .milliseconds(500), maximum: restLimit(of: .urgent), multiplier: 2)
            : .forever
    }

    /// Takes the next item's lane until ``end(_:)``.
    /// - Parameters:
    ///   - items: In the order in which people made them.
    ///   - canSend: Whether there is a client that knows how to send it.
    mutating func next(of items: [OutboxItem], now: Duration, canSend: (OutboxItem) -> Bool) -> OutboxItem? {
        guard !isBlocked else { return nil }
        for precedence in Sending.Precedence.allCases {
            guard !isResting(precedence.rawValue, now) else { continue }
            var lanes: Set<String> = []
            for item in Self.order(items, of: precedence) where lanes.insert(item.lane).inserted {
                guard busy[item.lane] == nil, !isResting(item.lane, now), canSend(item) else { continue }
                guard hasPlace(for: item) else { break }
                busy[item.lane] = item
                return item
            }
        }
        return nil
    }

    private func isResting(_ place: String, _ now: Duration) -> Bool { rests[place].map { now < $0.until } ?? false }

    mutating func end(_ item: OutboxItem) { busy[item.lane] = nil }

    /// Whether it is being sent.
    func isBusy(_ item: OutboxItem) -> Bool { busy[item.lane]?.id == item.id }

    /// Why an item isn't sent now; nil if it may be.
    func rest(of item: OutboxItem, now: Duration) -> Rest? {
        let own = rests[item.lane].flatMap { now < $0.until ? $0 : nil }
        return own ?? rests[item.precedence.rawValue].flatMap { now < $0.until ? $0 : nil }
    }

    /// When an item that waits may be sent again; nil if no item waits for time alone.
    func nextEnd(of items: [OutboxItem], now: Duration) -> Duration? {
        guard !isBlocked, !rests.isEmpty else { return nil }
        var lanes: Set<String> = []
        return items.filter { lanes.insert($0.lane).inserted && busy[$0.lane] == nil }
            .compactMap { rest(of: $0, now: now)?.until }.min()
    }

    /// An item couldn't be sent.
    /// - Parameters:
    ///   - pause: How long the server asked to wait. What it refused at the same time doesn't come back at the same time.
    ///   - isShared: Whether others of its precedence would fare no better.
    mutating func rest(
        _ item: OutboxItem, _ error: QuartetError, pause: Duration?, isShared: Bool, now: Duration,
        using random: inout some RandomNumberGenerator
    ) {
        let precedence = item.precedence
        let place = isShared && precedence != .urgent ? precedence.rawValue : item.lane
        let attempts = (rests[place]?.attempts ?? 0) + 1
        let policy = Self.policy(of: precedence)
        let limit = Self.restLimit(of: precedence)
        let asked = min(pause ?? .zero, limit / 2)
        let spread = min(max(policy.limit(beforeAttempt: attempts), asked / 4), limit - asked)
        let delay = asked + spread * Double.random(in: 0...1, using: &random)
        // What this version can't read may be final, and it isn't the only app that asks.
        let isForeign = if case .serverError(let error) = error { error.unknownCode?.retry == .newKey } else { false }
        let isSlow = isForeign && attempts > Outbox.failureLimit
        let more = isSlow ? .seconds(30) * Double.random(in: 1...2, using: &random) : Duration.zero
        rests[place] = Rest(until: now + delay + more, error: error, attempts: attempts)
    }

    /// The server decided an item, so it can be reached.
    mutating func decided(_ item: OutboxItem) {
        rests[item.lane] = nil
        rests[item.precedence.rawValue] = nil
    }

    /// What rests is sent now.
    mutating func wake() { (rests, isBlocked) = ([:], false) }
}
