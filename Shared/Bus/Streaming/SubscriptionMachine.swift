import DequeModule
public import Vocabulary

/// The protocol by which a subscriber joins a stream without missing or repeating anything. It does no I/O.
///
/// 1. Register with the tail, which from now on offers every event of the stream; note how far the tail has come.
/// 2. Take the snapshot, in one statement with its position *n*; or resume from a token's *n*, and read in one statement
///    what came after it. Either reaches at least as far as the tail had come.
/// 3. Give what was read, then what was offered, dropping everything at or before the last position that was read.
///
/// Events are offered in the order of the partition. The buffer is bounded: a subscriber that doesn't keep up is told
/// that it fell behind, once, and gets nothing after that; it resumes from its last position. One whose buffer fills up
/// while it joins still gets its beginning and what was read from the log, and resumes from there.
public struct SubscriptionMachine<Event: Sendable>: Sendable {
    private enum Phase: Sendable {
        case joining
        case live
        case behind
        case ended
    }

    private let limit: Int
    private var phase: Phase = .joining
    private var buffer: Deque<(Position, Event)> = []
    /// Everything up to here was given, or is in the snapshot.
    public private(set) var given: Position = .start

    public init(limit: Int) {
        self.limit = limit
    }

    /// What the subscriber may take now.
    public enum Next: Sendable {
        case event(Position, Event)
        case fellBehind
        case nothing
        case ended
    }

    /// The tail offers an event. Returns whether a waiting subscriber should be woken.
    public mutating func offer(_ event: Event, at position: Position) -> Bool {
        switch phase {
        case .ended, .behind: return false
        case .joining, .live:
            // Joining may have read further than the tail has come.
            guard position > buffer.last?.0 ?? given else { return false }
            guard buffer.count < limit else {
                buffer.removeAll()
                phase = .behind
                return true
            }
            buffer.append((position, event))
            return phase == .live
        }
    }

    /// The snapshot (or the token) is at `position`, and `between` was read from the log after it.
    public mutating func join(at position: Position, between: [(Position, Event)]) {
        guard phase != .ended else { return }
        given = position
        let last = between.last?.0 ?? position
        buffer = Deque(between.filter { $0.0 > position } + buffer.filter { $0.0 > last })
        if phase == .joining { phase = .live }
    }

    /// Whether it was offered more than it took.
    public var isBehind: Bool { if case .behind = phase { true } else { false } }

    /// Whether `next()` has something to say.
    public var hasNext: Bool {
        switch phase {
        case .joining: false
        case .live: !buffer.isEmpty
        case .behind, .ended: true
        }
    }

    /// Takes what comes next.
    public mutating func next() -> Next {
        switch phase {
        case .ended: return .ended
        case .joining: return .nothing
        case .live, .behind:
            if let (position, event) = buffer.popFirst() {
                given = position
                return .event(position, event)
            }
            guard phase == .behind else { return .nothing }
            phase = .ended
            return .fellBehind
        }
    }

    /// Nothing more can be offered: the subscriber must join anew.
    public mutating func interrupt() {
        guard phase == .joining || phase == .live else { return }
        phase = .behind
        buffer.removeAll()
    }

    /// The subscriber has left.
    public mutating func end() {
        phase = .ended
        buffer.removeAll()
    }
}
