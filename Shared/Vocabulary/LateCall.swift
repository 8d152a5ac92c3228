/// A call for help that reached the server late, as from a phone without a network. Whoever is told of it sees both times.
public struct LateCall: Codable, Hashable, Sendable {
    /// How much later the server has such a call, at least.
    public static let delay: Interval = .minutes(1)

    /// When the person called, as their app says.
    public let pressed: Instant
    /// When the server had the call.
    public let received: Instant

    /// Nil if the call came in time.
    public init?(pressed: Instant, received: Instant) {
        guard pressed <= received - Self.delay else { return nil }
        (self.pressed, self.received) = (pressed, received)
    }
}

/// The newest call for help of an alarm, as a row has it. A process of an earlier release lets the row be about the next alarm without
/// changing this.
package struct KeptLateCall: Codable, Equatable, Sendable {
    private let alarm: AlarmID
    /// Nil if the newest came in time.
    private let call: LateCall?
    /// When the newest was made, if it came in time.
    private let inTime: Instant?

    package init(_ call: LateCall, of alarm: AlarmID) { (self.alarm, self.call, inTime) = (alarm, call, nil) }

    fileprivate init(inTime: Instant, of alarm: AlarmID) { (self.alarm, call, self.inTime) = (alarm, nil, inTime) }

    /// The newest call of this alarm, if it came late.
    package func call(of alarm: AlarmID?) -> LateCall? { self.alarm == alarm ? call : nil }

    fileprivate func pressed(of alarm: AlarmID) -> Instant? { self.alarm == alarm ? call?.pressed ?? inTime : nil }
}

extension KeptLateCall? {
    /// Keeps a call if no newer one is known. One that came in time ends what is said of an older one.
    /// - Parameters:
    ///   - late: The call, if it came late.
    ///   - inTime: When it was made otherwise; nil if there was none.
    package mutating func keep(_ late: LateCall?, inTime: Instant? = nil, of alarm: AlarmID) {
        let known = self?.pressed(of: alarm)
        if let late {
            if known.map({ $0 > late.pressed }) != true { self = KeptLateCall(late, of: alarm) }
        } else if let inTime, known.map({ $0 >= inTime }) != true {
            self = KeptLateCall(inTime: inTime, of: alarm)
        }
    }
}
