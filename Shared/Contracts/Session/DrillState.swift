public import Vocabulary

/// A drill as its owner sees it: the responders were told of it as they would be of an alarm, and it is none.
public struct DrillState: Codable, Hashable, Sendable, Identifiable {
    public var id: DrillID
    public var began: Instant
    /// When it is over by itself.
    public var ends: Instant
    /// When it was over; nil while it is on.
    public var ended: Instant?
    public var end: DrillEnd?

    public init(id: DrillID, began: Instant, ends: Instant, ended: Instant? = nil, end: DrillEnd? = nil) {
        self.id = id
        self.began = began
        self.ends = ends
        self.ended = ended
        self.end = end
    }

    public var isOn: Bool { ended == nil }

    /// When the person may run another one.
    public var next: Instant { began + DrillRules.pause }
}

public enum DrillRules {
    /// How long a drill is on, unless an alarm ends it.
    public static let length: Interval = .hours(1)
    /// From the beginning of one drill to that of the next.
    public static let pause: Interval = .days(1)
    /// How long a drill may wait to begin.
    public static let patience: Interval = .minutes(1)
    /// For how long it is reported whom a drill reached. What it is read from is kept for longer.
    public static let report: Interval = .days(7)
    /// After how long another drill is proposed.
    public static let proposal: Interval = .days(30)
}

/// How a drill ended.
public enum DrillEnd: String, Codable, Hashable, Sendable, CaseIterable {
    /// By itself.
    case over
    /// A deadline or the end of a trip passed, of which others hear unless the person says something.
    case deadline
    /// An alarm of the person began.
    case alarm
}

extension Rejection.Code {
    /// An alarm of the person is on.
    public static let alarmOn: Self = "alarmOn"
    /// A deadline or the end of a trip is so near that an alarm could be taken for a drill.
    public static let deadlineNear: Self = "deadlineNear"
}

extension AccountState {
    mutating func apply(_ event: DrillEvent) {
        switch event {
        case .drillBegan(let event): drill = DrillState(id: event.drill, began: event.began, ends: event.ends)
        case .drillEnded(let event):
            guard drill?.id == event.drill else { return }
            drill?.ended = event.at
            drill?.end = event.end
        }
    }
}
