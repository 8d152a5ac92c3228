public import QuartetVocabulary

/// Drills: the responders are told as they would be of an alarm, so that the person knows whom an alarm would reach.
package enum DrillCommand: MessageSet {
    case runDrill(RunDrill)
    case endDrill(EndDrill)

    package static let cases: Cases<Self> = [Case(Self.runDrill), Case(Self.endDrill)]

    package var body: any CommandBody {
        switch self {
        case .runDrill(let body): body
        case .endDrill(let body): body
        }
    }
}

/// Tells all responders, once and at the same time, that this is a drill. It is no alarm: nobody has to answer it, it isn't repeated, and it is
/// over after an hour, or as soon as a deadline of the person passes or an alarm begins.
///
/// Rejected: `alarmOn` while an alarm of the person is on; `checkInDue` from their deadline until they have checked in; `tripMissed` once the
/// time of their trip has passed; `deadlineNear` within 75 minutes before one of these; `tooSoon`, with the time left, within a day of the last one
/// or after four in 30 days; `expired` if it waited for over a minute; `confirmationRequired` where the account demands a confirmation. While nobody would hear of it, the
/// edge refuses with `noResponder`. Result: ``DrillBegan``.
public struct RunDrill: CommandBody {
    /// The asking device.
    public let by: DeviceID

    public init(by: DeviceID) {
        self.by = by
    }
}

/// Ends a drill whose time is over. A timer sends this; it changes nothing if the drill has ended.
///
/// Rejected: `notDue`. Result: ``DrillEnded``.
package struct EndDrill: OwnCommandBody {
    package let account: AccountID
    package let drill: DrillID

    package init(account: AccountID, drill: DrillID) {
        self.account = account
        self.drill = drill
    }
}
