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

/// The newest late call of an alarm, as a row has it. A process of an earlier release lets the row be about the next alarm without
/// changing this.
package struct KeptLateCall: Codable, Equatable, Sendable {
    private let alarm: AlarmID
    private let call: LateCall

    package init(_ call: LateCall, of alarm: AlarmID) { (self.alarm, self.call) = (alarm, call) }

    /// The call, if it is one of this alarm.
    package func call(of alarm: AlarmID?) -> LateCall? { self.alarm == alarm ? call : nil }
}

extension KeptLateCall? {
    /// Keeps the newer one of two calls.
    /// - Returns: The given one if it is now kept.
    @discardableResult
    package mutating func keep(_ late: LateCall?, of alarm: AlarmID) -> LateCall? {
        guard let late, self?.call(of: alarm).map({ $0.pressed < late.pressed }) ?? true else { return nil }
        self = KeptLateCall(late, of: alarm)
        return late
    }
}
