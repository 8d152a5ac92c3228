import QuartetVocabulary

/// The first parked message of an order. Later messages of that order wait behind it.
struct Parked<OrderKey: Hashable & Sendable>: Hashable, Sendable {
    var key: OrderKey
    var position: Position
    /// How it failed last; nil if it only waited behind another message, which is gone.
    var cause: Fault.Code?
    /// How often in a row it failed that way.
    var attempts: Int
    /// When it first failed that way.
    var since: ContinuousClock.Instant
    var retryAt: ContinuousClock.Instant
    var isDiscarded = false
    /// How often in a row, under this lease, trying it again met contention.
    var contentions = 0
    /// How often in a row, under this lease, it could be neither parked again nor given up. Counted by itself, so that neither
    /// makes a pause of the other longer or a contention a failure.
    var unsettled = 0

    var isSetBack: Bool { contentions > 0 || unsettled > 0 }

    /// As it was read again: it keeps what set it back, with the pause for that, and its place among those that are due.
    /// - Parameter former: What is known of its order.
    func inPlace(of former: Self?) -> Self {
        // What an operator discards is due at once, but not again each time it is read.
        guard let former, former.position == position, former.isDiscarded || !isDiscarded else { return self }
        var parked = self
        (parked.contentions, parked.unsettled) = (former.contentions, former.unsettled)
        parked.retryAt = parked.isSetBack ? former.retryAt : min(former.retryAt, retryAt)
        return parked
    }
}

/// A message that failed alone.
struct FailedMessage<Item: PartitionItem>: Sendable {
    let item: Item
    /// The order in which it is parked.
    var key: Item.OrderKey
    /// How it was parked before; nil for a message of the queue, which the cursor has not passed.
    let former: Parked<Item.OrderKey>?
    let fault: Fault
    /// How often in a row it failed that way.
    let attempts: Int
    /// When it first failed that way.
    let since: ContinuousClock.Instant

    /// A message of the queue.
    /// - Parameter earlier: How it failed before.
    init(
        _ item: Item, _ fault: Fault, tries: Int = 1, in key: Item.OrderKey, after earlier: Self? = nil,
        at now: ContinuousClock.Instant
    ) {
        let earlier = earlier.flatMap { $0.fault.code == fault.code ? $0 : nil }
        self.item = item
        self.key = key
        former = nil
        self.fault = fault
        attempts = (earlier?.attempts ?? 0) + tries
        since = earlier?.since ?? now
    }

    /// A parked message that failed again, or that an operator discarded.
    init(
        _ item: Item, _ fault: Fault, tries: Int = 1, in key: Item.OrderKey, parkedAs former: Parked<Item.OrderKey>,
        at now: ContinuousClock.Instant
    ) {
        let isSame = former.cause == fault.code || fault.code == .discarded
        self.item = item
        self.key = key
        self.former = former
        self.fault = fault
        attempts = (isSame ? former.attempts : 0) + tries
        since = isSame ? former.since : now
    }

    /// How the machine knows this message once it is parked.
    func parked(for pause: Duration, at now: ContinuousClock.Instant) -> Parked<Item.OrderKey> {
        Parked(
            key: key, position: item.position, cause: fault.code, attempts: attempts, since: since,
            retryAt: now + pause)
    }
}
