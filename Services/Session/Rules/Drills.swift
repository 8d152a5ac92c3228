import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

extension DrillState {
    func timers(of account: AccountID) -> [WantedTimer<SessionCommand>] {
        guard isOn else { return [] }
        return [WantedTimer(.drill(.endDrill(.init(account: account, drill: id))), due: ends)]
    }

    /// When this drill and earlier ones began, as far as they still count against the next one; nil if none does.
    fileprivate func counted(at time: Instant) -> [Instant]? {
        let begun = ((earlier ?? []) + [began]).filter { $0 + DrillRules.period > time }.suffix(DrillRules.most - 1)
        return begun.isEmpty ? nil : Array(begun)
    }

    mutating func finish(_ end: DrillEnd, at time: Instant) { (ended, self.end) = (time, end) }
}

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: DrillCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .runDrill(let command):
            let (account, row) = try asker(rows, context)
            if row.isConfirmationRequired { try requireConfirmed(rows, account, by: command.by, context.time) }
            return try runDrill(&rows, account, row, context)
        case .endDrill(let command): return try endDrill(&rows, command, context.time)
        }
    }

    private static func runDrill(
        _ rows: inout SessionRows, _ account: AccountID, _ row: AccountRow, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        // The rules' time may be far ahead of the clock after a failover.
        let clock = min(context.recordedAt, context.time)
        // After an outage the timer of a deadline that has passed may still be on its way, and the person is no longer waiting for a drill.
        guard context.time <= clock + DrillRules.patience else {
            throw Rejection(.expired, "Quartet couldn’t begin a drill when you asked for it; try again in a while.")
        }
        try checkNoAlarm(of: row, at: context.time)
        if let last = row.drill, last.next > clock {
            let left = last.next - clock
            throw Rejection(
                .tooSoon,
                "You can run one drill a day, and \(DrillRules.most) in 30 days; wait \(left.inWords) and try again.",
                retryAfter: left)
        }
        let drill = DrillState(
            id: .derived(at: context.time, from: Array("drill".utf8), context.commandID.bytes), began: clock,
            ends: clock + DrillRules.length, earlier: row.drill.flatMap { $0.counted(at: clock) })
        rows[account]?.drill = drill
        let began = DrillBegan(
            account: account, drill: drill.id, began: drill.began, ends: drill.ends, earlier: drill.earlier,
            at: context.time)
        return [.drill(.drillBegan(began))]
    }

    /// No known deadline may pass while the drill is on, so that nobody takes the alarm for the drill.
    private static func checkNoAlarm(of row: AccountRow, at time: Instant) throws(Rejection) {
        let end = time + DrillRules.length + DrillRules.margin
        guard row.checkIn.alarm == nil, row.alert.raised == nil else {
            throw Rejection(.alarmOn, "An alarm of yours is on; end it before you run a drill.")
        }
        guard let due = row.checkIn.due, row.checkIn.fixedGraceEnd == nil, due > time else {
            throw Rejection(.checkInDue, "Your check-in is due; check in first, then you can run a drill.")
        }
        let trip = row.trip?.shown
        if let trip, trip.graceEnds != nil || trip.eta <= time {
            throw Rejection(.tripMissed, "The time of your trip has passed; say that you have arrived first.")
        }
        guard due >= end, trip.map({ $0.eta >= end }) ?? true else {
            throw Rejection(
                .deadlineNear,
                "Your check-in is due or your trip ends within 75 minutes, and an alarm could be taken for the drill. Check in first, or run it after the trip."
            )
        }
    }

    private static func endDrill(
        _ rows: inout SessionRows, _ command: EndDrill, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard let row = rows[command.account], row.closed == nil, let drill = row.drill, drill.id == command.drill,
            drill.isOn
        else { return [] }
        try requireDue(drill.ends, time)
        // A process of an earlier release may have begun an alarm, and left the drill as it was.
        let isAlarmed = row.checkIn.alarm != nil || row.alert.raised != nil
        return end(&rows, drill, of: command.account, isAlarmed ? .alarm : .over, at: time)
    }

    /// An alarm ends the person's drill at once, and so does a missed deadline, even while a grace still keeps it from others.
    static func endDrills(
        _ rows: inout SessionRows, because events: [SessionEvent], at time: Instant
    ) -> [SessionEvent] {
        events.flatMap { event in
            guard let reason = event.endOfDrill, let drill = rows[event.account]?.drill, drill.isOn else {
                return [SessionEvent]()
            }
            return end(&rows, drill, of: event.account, reason, at: time)
        }
    }

    private static func end(
        _ rows: inout SessionRows, _ drill: DrillState, of account: AccountID, _ end: DrillEnd, at time: Instant
    ) -> [SessionEvent] {
        rows[account]?.drill?.finish(end, at: time)
        return [.drill(.drillEnded(.init(account: account, drill: drill.id, end: end, at: time)))]
    }
}

extension SessionEvent {
    /// How it ends a drill that is on; nil if it doesn't. Repetitions count, too: a process that knows no drills may have begun the alarm.
    fileprivate var endOfDrill: DrillEnd? {
        switch self {
        case .alertRaised, .checkInMissed, .alarmRepeated, .alertAnnounced, .alertRaisedAgain: .alarm
        case .checkInGraceBegan, .trip(.tripGraceBegan): .deadline
        default: nil
        }
    }
}
