import ContractSupport
import SessionContract
import Vocabulary

extension DrillState {
    func timers(of account: AccountID) -> [WantedTimer<SessionCommand>] {
        guard isOn else { return [] }
        return [WantedTimer(.drill(.endDrill(.init(account: account, drill: id))), due: ends)]
    }

    mutating func finish(_ end: DrillEnd, at time: Instant) { (ended, self.end) = (time, end) }
}

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: DrillCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .runDrill:
            let (account, row) = try asker(rows, context)
            return try runDrill(&rows, account, row, context)
        case .endDrill(let command): return try endDrill(&rows, command, context.time)
        }
    }

    private static func runDrill(
        _ rows: inout SessionRows, _ account: AccountID, _ row: AccountRow, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        // The rules' time may be far ahead of the clock after a failover.
        let clock = min(context.recordedAt, context.time)
        try checkNoAlarm(of: row, at: clock)
        if let last = row.drill, last.next > clock {
            let left = last.next - clock
            throw Rejection(
                .tooSoon, "You can run one drill a day; wait \(left.inWords) and try again.", retryAfter: left)
        }
        let drill = DrillState(
            id: .derived(at: context.time, from: Array("drill".utf8), context.commandID.bytes), began: clock,
            ends: clock + DrillRules.length)
        rows[account]?.drill = drill
        let began = DrillBegan(
            account: account, drill: drill.id, began: drill.began, ends: drill.ends, at: context.time)
        return [.drill(.drillBegan(began))]
    }

    /// Nobody is to take for a drill what is about to be an alarm: not from the deadline on, though others don't hear of it yet.
    private static func checkNoAlarm(of row: AccountRow, at clock: Instant) throws(Rejection) {
        guard row.checkIn.alarm == nil, row.alert.raised == nil else {
            throw Rejection(.alarmOn, "An alarm of yours is on; end it before you run a drill.")
        }
        guard let due = row.checkIn.due, row.checkIn.fixedGraceEnd == nil, due > clock else {
            throw Rejection(.checkInDue, "Your check-in is due; check in first, then you can run a drill.")
        }
        if let trip = row.trip?.shown, trip.graceEnds != nil || trip.eta <= clock {
            throw Rejection(.tripMissed, "The time of your trip has passed; say that you have arrived first.")
        }
    }

    private static func endDrill(
        _ rows: inout SessionRows, _ command: EndDrill, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard let row = rows[command.account], row.closed == nil, let drill = row.drill, drill.id == command.drill,
            drill.isOn
        else { return [] }
        try requireDue(drill.ends, time)
        return end(&rows, drill, of: command.account, .over, at: time)
    }

    /// An alarm that began ends the person's drill at once, whether others hear of the alarm yet or not.
    static func endDrills(
        _ rows: inout SessionRows, because events: [SessionEvent], at time: Instant
    ) -> [SessionEvent] {
        events.filter(\.beginsAlarm).flatMap { event in
            guard let drill = rows[event.account]?.drill, drill.isOn else { return [SessionEvent]() }
            return end(&rows, drill, of: event.account, .alarm, at: time)
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
    fileprivate var beginsAlarm: Bool {
        switch self {
        case .alertRaised, .checkInMissed: true
        default: false
        }
    }
}
