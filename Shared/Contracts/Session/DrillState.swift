public import QuartetVocabulary

/// A drill as its owner sees it: the responders were told of it as they would be of an alarm, and it is none.
public struct DrillState: Codable, Hashable, Sendable, Identifiable {
    public var id: DrillID
    public var began: Instant
    /// When it is over by itself.
    public var ends: Instant
    /// When it was over; nil while it is on.
    public var ended: Instant?
    public var end: DrillEnd?
    /// When earlier drills began that still count toward ``DrillRules/most``, the oldest first; nil if there are none.
    public var earlier: [Instant]?

    public init(
        id: DrillID, began: Instant, ends: Instant, ended: Instant? = nil, end: DrillEnd? = nil,
        earlier: [Instant]? = nil
    ) {
        self.id = id
        self.began = began
        self.ends = ends
        self.ended = ended
        self.end = end
        self.earlier = earlier
    }

    public var isOn: Bool { ended == nil }

    /// When the person may run another one.
    public var next: Instant {
        let begun = (earlier ?? []) + [began]
        guard begun.count >= DrillRules.most else { return began + DrillRules.pause }
        return max(began + DrillRules.pause, begun[begun.count - DrillRules.most] + DrillRules.period)
    }
}

public enum DrillRules {
    /// How long a drill is on, unless an alarm ends it.
    public static let length: Interval = .hours(1)
    /// From the beginning of one drill to that of the next.
    public static let pause: Interval = .days(1)
    /// How many there may be in a ``period``: responders who hear of one every day stop looking.
    public static let most = 4
    public static let period: Interval = .days(30)
    /// The least time between the end of a drill and the next known deadline, so that the drill is off everybody's screen before an alarm.
    public static let margin: Interval = .minutes(15)
    /// How long a drill may wait to begin.
    public static let patience: Interval = .minutes(1)
    /// For how long a drill's report can be read. The rows behind it are kept longer.
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
    mutating func apply(_ event: SessionDrillEvent) {
        switch event {
        case .drillBegan(let event):
            drill = DrillState(id: event.drill, began: event.began, ends: event.ends, earlier: event.earlier)
        case .drillEnded(let event):
            guard drill?.id == event.drill else { return }
            drill?.ended = event.at
            drill?.end = event.end
        }
    }
}
