package import QuartetSessionContract
package import QuartetVocabulary

extension SessionRows {
    /// The timers that what has a key wants now: an account, an edge process or a group session.
    package func wantedTimers(of key: Key) -> [WantedTimer<SessionCommand>] {
        if let account = key.account { return wantedTimers(of: account) }
        if let edge = key.edge { return wantedTimers(of: edge) }
        return key.group.map { wantedTimers(of: $0) } ?? []
    }

    /// The timers that an account wants now, soonest first. They follow from the state alone: as long as exactly these are
    /// set after each change, no deadline is lost, and the rules drop a command that comes too late to be true.
    package func wantedTimers(of account: AccountID) -> [WantedTimer<SessionCommand>] {
        self[account]?.wantedTimers(of: account, limits, zones) ?? []
    }

    /// The timers of each account, edge process and group session whose wanted timers may have changed.
    package var changedTimers: [Key: [WantedTimer<SessionCommand>]] {
        let accounts = accountChanges
        let inserted = accounts.inserted.map { (Key.account($0.key), wantedTimers(of: $0.key)) }
        let updated = accounts.updated.compactMap { account, row, before in
            let timers = row.wantedTimers(of: account, limits, zones)
            return timers == before.wantedTimers(of: account, limits, zones) ? nil : (Key.account(account), timers)
        }
        let others = (groups.retimedEdges.map(Key.edge) + groups.retimedGroups.map(Key.group)).map {
            ($0, wantedTimers(of: $0))
        }
        let early = woken.map { (Key.account($0), wantedTimers(of: $0)) }
        return Dictionary(inserted + updated + others + early) { $1 }
    }
}

extension AccountRow {
    fileprivate func wantedTimers(
        of account: AccountID, _ limits: SessionLimits, _ zones: ZoneBook
    ) -> [WantedTimer<SessionCommand>] {
        if let closed {
            guard handle != nil else { return [] }
            return [WantedTimer(.account(.freeHandle(.init(account: account))), due: closed + limits.handleRest)]
        }
        let forgetting = oldestChange.map {
            WantedTimer(
                SessionCommand.recovery(.forgetSecurityChanges(.init(account: account))), due: $0 + limits.undoWindow)
        }
        let timers =
            (forgetting.map { [$0] } ?? []) + checkIn.wantedTimers(of: account, limits, zones)
            + alert.wantedTimers(of: account, limits) + (trip?.timers(of: account) ?? [])
            + (unanswered?.timers(of: account) ?? [])
            + (drill?.timers(of: account) ?? [])
        return timers.sorted { $0.due < $1.due }
    }
}

extension CheckInRow {
    fileprivate func wantedTimers(
        of account: AccountID, _ limits: SessionLimits, _ zones: ZoneBook
    ) -> [WantedTimer<SessionCommand>] {
        guard let due else { return [] }
        if let alarm {
            guard let lastAlarm else { return [] }
            return timers(
                of: alarm, .checkInMissed, since: due, of: account, after: repetitions, lastAlarm, repetitionHold,
                limits)
        }
        let reminders = usefulReminders.filter { lead in reminded.map { lead.interval < $0.interval } ?? true }
        return reminders.map { lead in
            WantedTimer(
                .checkIn(.remindCheckIn(.init(account: account, deadline: due, lead: lead))),
                due: due - lead.interval, part: lead.rawValue)
        } + pauseTimers(of: account) + dailyTimers(of: account, limits, zones) + [
            WantedTimer(
                .checkIn(.missCheckIn(.init(account: account, deadline: due))),
                due: max(hold?.reconsideredAt ?? due, fixedGraceEnd ?? due))
        ]
    }
}

extension AlertRow {
    fileprivate func wantedTimers(of account: AccountID, _ limits: SessionLimits) -> [WantedTimer<SessionCommand>] {
        guard let alarm else { return [] }
        if let waitsUntil {
            return [WantedTimer(.alert(.announceAlert(.init(account: account, alarm: alarm))), due: waitsUntil)]
        }
        guard let lastAlarm, let raised else { return [] }
        return timers(
            of: alarm, .alertRaised, since: max(askedAgain ?? raised, raised), of: account, after: repetitions,
            lastAlarm, repetitionHold, limits)
    }
}

/// The next repetition of an alarm that was announced, and its closing.
///
/// Counts from the last alarm, not from the beginning: after an outage one repetition is sent, not several at once.
/// - Parameter since: When the person called for help last, or missed the deadline.
private func timers(
    of alarm: AlarmID, _ kind: AlarmKind, since: Instant, of account: AccountID, after done: Int, _ lastAlarm: Instant,
    _ hold: RepetitionHold, _ limits: SessionLimits
) -> [WantedTimer<SessionCommand>] {
    let last = since + limits.longestAlarm
    let closing = WantedTimer(
        SessionCommand.alert(.closeAlarm(.init(account: account, alarm: alarm, kind: kind))),
        due: min(hold.closing(of: alarm) ?? last, last), part: kind.rawValue)
    let next = RepeatAlarm(account: account, alarm: alarm, kind: kind, repetition: done + 1)
    let due = max(lastAlarm + limits.pause(after: done), hold.end(of: alarm) ?? lastAlarm)
    // It is closed before.
    guard due < last else { return [closing] }
    return [WantedTimer(.alert(.repeatAlarm(next)), due: due, part: kind.rawValue), closing]
}
