public import Vocabulary

/// Why a message failed, as far as one try can tell.
public struct Fault: Hashable, Sendable, CustomStringConvertible {
    /// As in the columns `parked.cause` and `dead_letter.code`, and the code of the outcome `failed`.
    public enum Code: String, Sendable, Hashable {
        /// What the message asks for can't be done: the rules or a constraint say so each time.
        case error
        /// The database or its environment is in trouble. That passes, so nothing is given up for it.
        case trouble
        /// A newer sender's: this replica doesn't know its type, version or one of its words. Another, or an update, does.
        case unknown
        /// It ended its owner, as often as the limits allow.
        case crashed
        /// An operator gave it up.
        case discarded
    }

    /// What kind it is.
    public let code: Code
    /// What was said.
    public let description: String
    /// What a replica has to know to handle it, where that is what is missing.
    public let needs: String?

    /// All its parts, as the properties describe them.
    public init(_ code: Code, _ description: String, needs: String? = nil) {
        self.code = code
        self.description = description
        self.needs = needs
    }
}

/// The first message of a parked key. Later ones of the key wait behind it.
public struct Parked<OrderKey: Hashable & Sendable>: Hashable, Sendable {
    /// The key that it holds back.
    public var key: OrderKey
    /// Its place in the partition.
    public var position: Position
    /// How it failed last; nil when it only waited behind another, which is gone.
    public var cause: Fault.Code?
    /// How often in a row it failed in this way.
    public var attempts: Int
    /// When that began.
    public var since: ContinuousClock.Instant
    /// When it is tried again.
    public var retryAt: ContinuousClock.Instant
    /// An operator gave it up.
    public var isDiscarded: Bool

    /// All its parts, as the properties describe them.
    public init(
        key: OrderKey, position: Position, cause: Fault.Code?, attempts: Int, since: ContinuousClock.Instant,
        retryAt: ContinuousClock.Instant, isDiscarded: Bool = false
    ) {
        self.key = key
        self.position = position
        self.cause = cause
        self.attempts = attempts
        self.since = since
        self.retryAt = retryAt
        self.isDiscarded = isDiscarded
    }
}

/// One message that failed alone.
public struct FailedMessage<Item: PartitionItem>: Sendable {
    /// The message.
    public let item: Item
    /// It had been parked before; nil for one that the cursor has not passed.
    public let former: Parked<Item.OrderKey>?
    /// How it failed last.
    public let fault: Fault
    /// How often in a row it failed in this way.
    public let attempts: Int
    /// When that began.
    public let since: ContinuousClock.Instant

    /// Counts on from `earlier` if that was the same kind of failure.
    init(
        _ item: Item, former: Parked<Item.OrderKey>?, fault: Fault, adding tries: Int = 1,
        to earlier: (cause: Fault.Code?, attempts: Int, since: ContinuousClock.Instant)?,
        at now: ContinuousClock.Instant
    ) {
        let earlier = earlier.flatMap { $0.cause == fault.code ? $0 : nil }
        self.item = item
        self.former = former
        self.fault = fault
        attempts = (earlier?.attempts ?? 0) + tries
        since = earlier?.since ?? now
    }

    /// The row that waits for `pause`, as the machine knows it.
    func parked(for pause: Duration, at now: ContinuousClock.Instant) -> Parked<Item.OrderKey> {
        Parked(
            key: item.orderKey, position: item.position, cause: fault.code, attempts: attempts, since: since,
            retryAt: now + pause)
    }
}
