public import Vocabulary

/// Why a message failed, as far as one try can tell.
public struct Fault: Hashable, Sendable, CustomStringConvertible {
    /// As in the columns `parked.cause` and `dead_letter.code`, and as the code of the outcome `failed`.
    public enum Code: String, Sendable, Hashable {
        /// The message asks for something that can't be done: the rules or a constraint refuse it each time.
        case error
        /// The database or its environment is in trouble. That passes, so no message is given up for it.
        case trouble
        /// A newer sender's message: this replica doesn't know its type, version or one of its words. Another replica
        /// may.
        case unknown
        /// It ended its owner as often as the limits allow.
        case crashed
        /// An operator gave it up.
        case discarded
    }

    public let code: Code
    public let description: String
    /// What a replica has to know to handle the message, if that is what was missing.
    public let needs: String?

    public init(_ code: Code, _ description: String, needs: String? = nil) {
        self.code = code
        self.description = description
        self.needs = needs
    }
}

/// The first message of a parked key. Later messages of the key wait behind it.
public struct Parked<OrderKey: Hashable & Sendable>: Hashable, Sendable {
    public var key: OrderKey
    public var position: Position
    /// How it failed last; nil if it only waited behind another message, which is gone.
    public var cause: Fault.Code?
    /// How often in a row it failed that way.
    public var attempts: Int
    /// When it first failed that way.
    public var since: ContinuousClock.Instant
    public var retryAt: ContinuousClock.Instant
    public var isDiscarded: Bool

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

/// A message that failed alone.
public struct FailedMessage<Item: PartitionItem>: Sendable {
    public let item: Item
    /// How it was parked before; nil for a message of the queue, which the cursor has not passed.
    public let former: Parked<Item.OrderKey>?
    public let fault: Fault
    /// How often in a row it failed that way.
    public let attempts: Int
    /// When it first failed that way.
    public let since: ContinuousClock.Instant

    /// A message of the queue.
    /// - Parameter earlier: How it failed before.
    init(_ item: Item, _ fault: Fault, tries: Int = 1, after earlier: Self? = nil, at now: ContinuousClock.Instant) {
        let earlier = earlier.flatMap { $0.fault.code == fault.code ? $0 : nil }
        self.item = item
        former = nil
        self.fault = fault
        attempts = (earlier?.attempts ?? 0) + tries
        since = earlier?.since ?? now
    }

    /// A parked message that failed again, or that an operator discarded.
    init(
        _ item: Item, _ fault: Fault, tries: Int = 1, parkedAs former: Parked<Item.OrderKey>,
        at now: ContinuousClock.Instant
    ) {
        let isSame = former.cause == fault.code || fault.code == .discarded
        self.item = item
        self.former = former
        self.fault = fault
        attempts = (isSame ? former.attempts : 0) + tries
        since = isSame ? former.since : now
    }

    /// How the machine knows this message once it is parked.
    func parked(for pause: Duration, at now: ContinuousClock.Instant) -> Parked<Item.OrderKey> {
        Parked(
            key: item.orderKey, position: item.position, cause: fault.code, attempts: attempts, since: since,
            retryAt: now + pause)
    }
}
