import DequeModule
import QuartetVocabulary

/// The protocol by which a subscriber joins a stream without missing or repeating anything. It does no I/O.
///
/// 1. Register with the tail, which from then on offers every event of the stream. Note how far the tail has come.
/// 2. Take the snapshot, in one statement with its position *n*; or resume from a token's *n*, and read in one statement what
///    came after it. Either reaches at least as far as the tail had come.
/// 3. Take what was read, then what was offered, without anything at or before the last position that was read.
///
/// Events are offered in the order of the partition. The buffer is bounded: a subscriber that doesn't keep up falls behind,
/// which it learns once, and gets nothing after that. It resumes from its last position. A subscriber whose buffer fills up
/// while it joins still gets its beginning and what was read from the log, and resumes from there.
struct SubscriptionMachine<Event: Sendable>: Sendable {
    typealias Buffer = Deque<(position: Position, event: Event)>

    private enum Phase: Sendable {
        /// With what was offered meanwhile; nil if that was too much.
        case joining(Buffer?)
        case live(Buffer)
        /// With what is left to take before the subscriber learns that it fell behind.
        case behind(Buffer)
        case ended
    }

    private let limit: Int
    private var phase = Phase.joining([])
    /// The subscriber has taken everything up to here, or has it in its snapshot.
    private(set) var given: Position = .start

    init(limit: Int) {
        self.limit = limit
    }

    enum Next: Sendable {
        case event(Position, Event)
        case fellBehind
        case nothing
        case ended
    }

    /// The tail offers an event. Returns whether to wake the subscriber if it waits.
    mutating func offer(_ event: Event, at position: Position) -> Bool {
        switch phase {
        case .joining(var buffer?):
            phase = .joining(nil)
            if add(event, at: position, to: &buffer) { phase = .joining(buffer) }
            return false
        case .live(var buffer):
            phase = .behind([])
            if add(event, at: position, to: &buffer) { phase = .live(buffer) }
            return hasNext
        case .joining(nil), .behind, .ended: return false
        }
    }

    /// Returns false if the buffer is full. Skips what was read before the tail had come so far.
    private func add(_ event: Event, at position: Position, to buffer: inout Buffer) -> Bool {
        guard position > buffer.last?.position ?? given else { return true }
        guard buffer.count < limit else { return false }
        buffer.append((position, event))
        return true
    }

    /// The snapshot (or the token) is at `position`, and `between` was read from the log after it.
    mutating func join(at position: Position, between: [(Position, Event)]) {
        guard case .joining(let offered) = phase else { return }
        given = position
        let last = between.last?.0 ?? position
        let read = Buffer(between.lazy.filter { $0.0 > position }.map { (position: $0.0, event: $0.1) })
        phase = offered.map { .live(read + $0.filter { $0.position > last }) } ?? .behind(read)
    }

    /// Whether more was offered than fitted.
    var isBehind: Bool {
        switch phase {
        case .joining(nil), .behind: true
        case .joining, .live, .ended: false
        }
    }

    var isEnded: Bool { if case .ended = phase { true } else { false } }

    /// Whether ``next()`` has something to return.
    var hasNext: Bool {
        switch phase {
        case .joining: false
        case .live(let buffer): !buffer.isEmpty
        case .behind, .ended: true
        }
    }

    mutating func next() -> Next {
        switch phase {
        case .joining: return .nothing
        case .live(var buffer):
            phase = .ended
            defer { phase = .live(buffer) }
            return take(from: &buffer) ?? .nothing
        case .behind(var buffer):
            phase = .ended
            guard let next = take(from: &buffer) else { return .fellBehind }
            phase = .behind(buffer)
            return next
        case .ended: return .ended
        }
    }

    private mutating func take(from buffer: inout Buffer) -> Next? {
        guard let (position, event) = buffer.popFirst() else { return nil }
        given = position
        return .event(position, event)
    }

    /// Everything up to `position` was offered. A subscriber that has taken all of it has come that far; returns whether that is
    /// further than it was.
    mutating func advance(to position: Position) -> Bool {
        guard case .live(let buffer) = phase, buffer.isEmpty, position > given else { return false }
        given = position
        return true
    }

    /// Nothing more can be offered: the subscriber has to join again.
    mutating func interrupt() {
        switch phase {
        case .joining: phase = .joining(nil)
        case .live: phase = .behind([])
        case .behind, .ended: break
        }
    }

    /// The subscriber has left.
    mutating func end() { phase = .ended }
}
