import QuartetContractSupport
package import QuartetSessionContract
package import QuartetVocabulary

/// A trip that is on, or that made an alert.
package struct TripRow: Codable, Equatable, Sendable {
    package var shown: TripState
    /// When it began or was last moved.
    package var since: Instant
    /// When the person was reminded of its end; nil if they weren't yet.
    package var reminded: Instant?
    /// Since when the alarm has been held back for a command that waits to be handled, and when that is looked at again.
    package var hold: AlarmHold?

    package init(_ shown: TripState, since: Instant) {
        self.shown = shown
        self.since = since
    }

    /// How long before its end the person is reminded: a quarter of the way, if that is shorter.
    private static let lead: Interval = .minutes(15)

    var reminder: Instant {
        let quarter = Interval(microseconds: (shown.eta - since).microseconds / 4)
        return shown.eta - min(Self.lead, quarter)
    }

    var missed: MissedTrip { MissedTrip(trip: shown.id, eta: shown.eta, reminded: reminded) }

    /// Its time has passed.
    /// - Parameter isCalled: Whether the person has called for help by hand before.
    mutating func miss(_ alarm: AlarmID, isCalled: Bool) {
        (shown.alarm, shown.graceEnds, hold) = (alarm, nil, nil)
        shown.isCalled = isCalled ? true : nil
    }

    func timers(of account: AccountID) -> [WantedTimer<SessionCommand>] {
        guard shown.alarm == nil else { return [] }
        let hear = shown.graceEnds ?? shown.eta
        let miss = MissTrip(account: account, trip: shown.id, eta: shown.eta)
        let end = WantedTimer(SessionCommand.trip(.missTrip(miss)), due: max(hold?.reconsideredAt ?? hear, hear))
        guard reminded == nil, shown.graceEnds == nil else { return [end] }
        let remind = RemindTrip(account: account, trip: shown.id, eta: shown.eta)
        return [WantedTimer(.trip(.remindTrip(remind)), due: reminder), end]
    }
}

/// How often a person has started and moved trips within a day.
package struct TripCount: Equatable, Sendable {
    /// The start of the day.
    package var since: Instant?
    package var starts = 0
    package var moves = 0

    package init() {}

    /// Counts another one. Returns how long to wait if there were too many.
    mutating func take(
        _ kind: WritableKeyPath<Self, Int>, at time: Instant, _ limits: SessionLimits
    ) -> Interval? {
        if since.map({ $0 + .days(1) <= time }) ?? true { (since, starts, moves) = (time, 0, 0) }
        guard self[keyPath: kind] < limits.tripsADay else { return since.map { $0 + .days(1) - time } }
        self[keyPath: kind] += 1
        return nil
    }
}

extension AccountRow {
    /// The trip that is on, or that was missed and made the alert that is on. A process of an earlier release, which doesn't know trips,
    /// ends the alert alone.
    package var trip: TripRow? {
        get { keptTrip.flatMap { $0.shown.alarm == nil || $0.shown.alarm == alert.alarm ? $0 : nil } }
        set { keptTrip = newValue }
    }
}

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: TripCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .startTrip(let command):
            let (account, row) = try asker(rows, context)
            return try startTrip(&rows, command, account, row, context)
        case .extendTrip(let command):
            let (account, row) = try asker(rows, context)
            return try extendTrip(&rows, command, account, row, context)
        case .endTrip(let command):
            let (account, row) = try asker(rows, context)
            return try endTrip(&rows, command, account, row, context)
        case .remindTrip(let command): return try remindTrip(&rows, command, context)
        case .missTrip(let command): return try missTrip(&rows, command, context)
        }
    }

    private static func startTrip(
        _ rows: inout SessionRows, _ command: StartTrip, _ account: AccountID, _ row: AccountRow,
        _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        guard row.trip == nil else {
            throw Rejection(.tripOn, "You are on a trip already; end it first, or give it another end.")
        }
        // People choose by the clock, of which the rules' time may be far ahead after a failover.
        let clock = min(context.recordedAt, context.time)
        try checkTripEnd(command.eta, clock, rows.limits)
        var count = row.tripCount
        if let wait = count.take(\.starts, at: clock, rows.limits) {
            throw .tooSoon("You started too many trips", left: wait)
        }
        let shown = TripState(
            id: .derived(at: context.time, from: Array("trip".utf8), context.commandID.bytes), name: command.name,
            note: command.note.flatMap { $0.isEmpty ? nil : $0 }, eta: command.eta,
            grace: command.grace.flatMap { $0 > .seconds(0) ? $0 : nil })
        rows[account]?.trip = TripRow(shown, since: clock)
        rows[account]?.tripCount = count
        return [.trip(.tripStarted(.init(account: account, trip: shown, at: context.time)))]
    }

    private static func extendTrip(
        _ rows: inout SessionRows, _ command: ExtendTrip, _ account: AccountID, _ row: AccountRow,
        _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        guard var trip = row.trip, trip.shown.id == command.trip else { throw anotherTrip }
        let clock = min(context.recordedAt, context.time)
        // Its timer's command may come later than this one.
        guard trip.shown.alarm == nil, clock <= trip.shown.othersHear else {
            throw Rejection(
                .tripMissed, "Its time has passed. Say that you have arrived, or that you need help.", field: "eta")
        }
        let former = trip.shown
        guard command.eta != former.eta else { return [] }
        try checkTripEnd(command.eta, clock, rows.limits)
        var count = row.tripCount
        if let wait = count.take(\.moves, at: clock, rows.limits) {
            throw .tooSoon("You moved a trip too often", left: wait)
        }
        (trip.shown.eta, trip.shown.graceEnds) = (command.eta, nil)
        let reminded = trip.reminded
        (trip.since, trip.reminded, trip.hold) = (clock, nil, nil)
        rows[account]?.trip = trip
        rows[account]?.tripCount = count
        let extended = TripExtended(
            account: account, trip: command.trip, eta: command.eta, former: former.eta, reminded: reminded,
            at: context.time)
        return [.trip(.tripExtended(extended))]
    }

    private static func endTrip(
        _ rows: inout SessionRows, _ command: EndTrip, _ account: AccountID, _ row: AccountRow,
        _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        guard let trip = row.trip else { return [] }
        guard trip.shown.id == command.trip else { throw anotherTrip }
        if trip.shown.alarm != nil { try checkTripEndsAlert(trip, command, row, context) }
        let clock = min(context.recordedAt, context.time)
        let said = min(command.pressed ?? clock, clock)
        // Who gives up a trip before its end hasn't said how they are.
        let isAllRight = command.end == .arrived || trip.shown.alarm != nil
        rows[account]?.trip = nil
        let ended = TripEnded(
            account: account, trip: command.trip, end: command.end, eta: trip.shown.eta, reminded: trip.reminded,
            said: isAllRight ? said : nil, at: context.time)
        guard isAllRight else { return [.trip(.tripEnded(ended))] }
        if let alarm = trip.shown.alarm, row.lastPinged.map({ $0 <= said }) ?? true {
            return [.trip(.tripEnded(ended))] + endAlert(&rows, account, row, alarm, said: said, context.time)
        }
        // Pings that were sent after that aren't answered.
        return [.trip(.tripEnded(ended))] + answerPings(&rows, of: account, said: said, context.time)
    }

    /// A trip that was missed and its alert end together, so that responders know what the alert is about for as long as it is on.
    private static func checkTripEndsAlert(
        _ trip: TripRow, _ command: EndTrip, _ row: AccountRow, _ context: CommandContext
    ) throws(Rejection) {
        guard trip.shown.isItsAlert else {
            throw Rejection(.alertChanged, "You called for help, too: end your alert if you are safe.", field: "trip")
        }
        // Whoever said so before the alert was raised doesn't know what has been said since.
        let pressed = min(command.pressed ?? context.recordedAt, context.time)
        guard row.alert.wasRaised(before: pressed) else {
            throw Rejection(
                .alertChanged, "An alert was raised after you said so; if you have arrived, say it again.",
                field: "pressed")
        }
    }

    private static var anotherTrip: Rejection {
        Rejection(.notFound, "This trip isn't on; look which one is.", field: "trip")
    }

    private static func checkTripEnd(
        _ eta: Instant, _ clock: Instant, _ limits: SessionLimits
    ) throws(Rejection) {
        guard eta >= clock + limits.leastTrip, eta <= clock + TripRules.longest else {
            throw Rejection(
                .invalidField,
                "Choose a time from \(limits.leastTrip.inWords) to \(TripRules.longest.inWords) from now.", field: "eta"
            )
        }
    }

    private static func remindTrip(
        _ rows: inout SessionRows, _ command: RemindTrip, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        guard let row = rows[command.account], row.closed == nil, let trip = row.trip, trip.shown.id == command.trip,
            trip.shown.eta == command.eta, trip.shown.alarm == nil, trip.shown.graceEnds == nil, trip.reminded == nil,
            command.eta > min(context.recordedAt, context.time)
        else { return [] }
        try requireDue(trip.reminder, context.time)
        rows[command.account]?.trip?.reminded = context.time
        let reminded = TripReminded(
            account: command.account, trip: command.trip, eta: command.eta, at: context.time)
        return [.trip(.tripReminded(reminded))]
    }

    private static func missTrip(
        _ rows: inout SessionRows, _ command: MissTrip, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, time) = (command.account, context.time)
        guard let row = rows[account], row.closed == nil, var trip = row.trip, trip.shown.id == command.trip,
            trip.shown.eta == command.eta, trip.shown.alarm == nil
        else { return [] }
        try requireDue(command.eta, time)
        let hear = trip.shown.othersHear
        // The rules' time may be far ahead of the clock after a failover, by which people were told when others hear.
        let clock = min(max(context.recordedAt, command.eta), time)
        if trip.shown.graceEnds != nil, hear > clock {
            rows.woken.insert(account)
            return []
        }
        if let hold = hold(rows, rows.waitingTrips[account], trip.hold, until: hear) {
            rows[account]?.trip?.hold = hold
            return []
        }
        guard hear <= clock else {
            // What comes now has a minute of its own.
            (trip.shown.graceEnds, trip.hold) = (hear, nil)
            rows[account]?.trip = trip
            let began = TripGraceBegan(
                account: account, trip: command.trip, eta: command.eta, ends: hear, reminded: trip.reminded, at: time)
            return [.trip(.tripGraceBegan(began))]
        }
        guard let alarm = row.alert.alarm else {
            let alarm = newAlarm(context, at: time)
            rows[account]?.alert.begin(alarm, pressed: clock, at: time)
            rows[account]?.alert.lastAlarm = time
            trip.miss(alarm, isCalled: false)
            rows[account]?.trip = trip
            return [.alertRaised(.init(account: account, alarm: alarm, trip: trip.missed, at: time))]
        }
        trip.miss(alarm, isCalled: row.isCalledByHand)
        rows[account]?.trip = trip
        return callAgain(&rows, account, row, alarm, pressed: clock, trip: trip.missed, time)
    }
}
