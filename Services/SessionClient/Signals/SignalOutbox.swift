import QuartetSessionContract
import QuartetVocabulary

/// The signals that wait for the next notification. Bounded: a newer one replaces what it supersedes, and when there are too
/// many the oldest goes.
struct SignalOutbox: Sendable {
    /// Signals to different people don't supersede each other.
    private struct Subject: Hashable {
        let group: GroupID
        let sender: AccountID
        let topic: String
        let to: [AccountID]?

        init(_ signal: Signal) {
            (group, sender, topic, to) = (signal.group, signal.sender, signal.topic, signal.to)
        }
    }

    private var waiting = Newest<Subject, Signal>(limit: 1024)
    /// How old a signal is sent at most: after an outage nobody wants to know where a cursor was.
    static let longestWait: Interval = .seconds(1)
    /// How many payloads one statement sends at most.
    private static let payloadLimit = 32

    var isEmpty: Bool { waiting.isEmpty }

    /// Returns how many signals were dropped for this one.
    mutating func put(_ signal: Signal) -> Int { waiting.put(signal, for: Subject(signal)) }

    /// Takes the texts of the next payloads, each with as many signals as fit, and how many signals were too old.
    mutating func take(now: Instant) -> (texts: [[UInt8]], dropped: Int) {
        var (texts, text, dropped) = ([[UInt8]](), [UInt8](), 0)
        while let signal = waiting.first {
            if now - signal.at > Self.longestWait {
                dropped += 1
            } else {
                if text.count + signal.encodedSize > SignalSealer.capacity, !text.isEmpty {
                    texts.append(text)
                    text = []
                    guard texts.count < Self.payloadLimit else { break }
                }
                signal.encode(into: &text)
            }
            waiting.removeFirst()
        }
        if !text.isEmpty { texts.append(text) }
        return (texts, dropped)
    }
}

/// Values that wait, the newest one for each subject, in the order in which their subjects came. Bounded: the oldest goes.
struct Newest<Subject: Hashable & Sendable, Value: Sendable>: Sendable {
    private var values: [Subject: Value] = [:]
    private var order: [Subject] = []
    /// How much of the beginning of `order` was taken.
    private var taken = 0
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    var isEmpty: Bool { values.isEmpty }
    var count: Int { values.count }
    var first: Value? { order.dropFirst(taken).first.flatMap { values[$0] } }

    /// Returns how many values were dropped for this one: the subject's earlier one, or the oldest of all.
    mutating func put(_ value: Value, for subject: Subject) -> Int {
        if values.updateValue(value, forKey: subject) != nil { return 1 }
        order.append(subject)
        guard values.count > limit else { return 0 }
        removeFirst()
        return 1
    }

    mutating func removeFirst() {
        guard let subject = order.dropFirst(taken).first else { return }
        values[subject] = nil
        taken += 1
        if taken > limit || taken == order.count {
            order.removeFirst(taken)
            taken = 0
        }
    }

    mutating func removeAll(where isGone: (Subject) -> Bool) {
        order = order.dropFirst(taken).filter { !isGone($0) }
        taken = 0
        values = values.filter { !isGone($0.key) }
    }
}
