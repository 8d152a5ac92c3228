import QuartetContactsContract
import QuartetContractSupport
import QuartetVocabulary

// Remembers who was alerted to which alarm, so that they all get the all-clear.

extension ContactsReducer {
    static func reduce(
        _ rows: inout ContactsRows, _ command: AlarmCommand, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        switch command {
        case .relayAlert(let command): relay(&rows, command, asker)
        case .acknowledgeAlarm(let command): try acknowledge(&rows, command, asker)
        case .decideClosing(let command): decideClosing(&rows, command, asker)
        case .forgetAnswers(let command): forgetAnswers(&rows, command, asker)
        case .askForRenewal: askForRenewal(&rows, asker)
        case .announcePause(let command): announce(rows, command, asker)
        }
    }

    static func relay(_ rows: inout ContactsRows, _ command: RelayAlert, _ asker: Asker) -> [ContactsEvent] {
        let events: [ContactsEvent]
        switch (command.kind, command.alarm) {
        case (.alertRaised, let alarm?): events = begin(&rows, .alert, alarm, command, asker)
        case (.checkInMissed, let alarm?): events = begin(&rows, .missedCheckIn, alarm, command, asker)
        case (.alertCleared, let alarm?):
            events = end(&rows, .alert, alarm, command.reason ?? .cleared, command.occurred, asker)
        case (.checkedIn, let alarm):
            let reason = command.reason ?? .checkedIn
            let settled = command.reason == nil ? settlePings(&rows, bySaying: command.occurred, asker) : []
            let ended = alarm.map { end(&rows, .missedCheckIn, $0, reason, command.occurred, asker) } ?? []
            let isClosed = command.reason != nil
            events =
                settled + ended + (isClosed ? [] : checkedIn(rows, command, asker, except: Set(ended.map(\.account))))
        // Unreachable: validation lets only a check-in have no alarm.
        case (.alertRaised, nil), (.checkInMissed, nil), (.alertCleared, nil): events = []
        }
        let relayed = AlertRelayed(
            account: asker.account, kind: command.kind, alarm: command.alarm, occurred: command.occurred,
            deadline: command.deadline, repetition: command.repetition,
            responders: events.count(where: \.tellsResponder),
            at: asker.time)
        return [.alertRelayed(relayed)] + events
    }

    /// Starts or repeats an alarm for each responder who wants to know. A command that failed is tried again by itself, and so may
    /// come after the alarm's end or after the next alarm. Then it alerts nobody.
    private static func begin(
        _ rows: inout ContactsRows, _ kind: AlarmRow.Kind, _ alarm: AlarmID, _ command: RelayAlert, _ asker: Asker
    ) -> [ContactsEvent] {
        let key = AlarmKey(asker.account, kind)
        if let ended = rows.endedAlarms[key]?.alarm, alarm == ended || alarm.isOlder(than: ended) { return [] }
        var events: [ContactsEvent] = []
        if let old = rows.alarms[key]?.alarm, old != alarm {
            guard !alarm.isOlder(than: old) else { return [] }
            events = end(&rows, kind, old, .superseded, command.occurred, asker)
        }
        // A repetition doesn't change when the alarm began.
        if rows.alarms[key] == nil {
            rows.alarms[key] = AlarmRow(
                alarm: alarm, occurred: command.occurred, deadline: command.deadline, pinged: command.pinged)
            startTiers(&rows, key, at: asker.clock)
        }
        rows.alarms[key]?.keptLateCall.keep(command.lateCall, of: alarm)
        // Once the dependent has called for help by hand nobody hears of a trip or a ping alone any more. Until then one may come after
        // the other, or be over.
        if kind == .alert, let row = rows.alarms[key], row.deadline != nil || row.pinged != nil {
            rows.alarms[key]?.deadline = command.deadline
            rows.alarms[key]?.pinged = command.pinged
        }
        // Nobody is on it: now all hear, whatever was chosen.
        if command.isSlow == true { rows.alarms[key]?.answering.tiers.beginAll() }
        let responders = rows.responders(of: asker.account)
        events += updateResponders(&rows, key, Set(responders.map(\.account)), at: asker.time)
        let answers = standingAnswers(rows, to: key)
        events += responders.flatMap { responder in
            alert(&rows, responder.account, responder.side, of: key, command.repetition, answers, at: asker.time)
        }
        return events + beginTiers(&rows, key, asker)
            + (command.isSlow == true ? sayUnanswered(&rows, key, .silence, at: asker.time) : [])
    }

    /// Alerts a responder to an alarm that is on, unless they don't want to know or hear of it later.
    /// - Parameters:
    ///   - repetition: The number of this repetition. Nil alerts only those who haven't been alerted yet.
    ///   - answers: What others have answered, for those who haven't been alerted yet.
    static func alert(
        _ rows: inout ContactsRows, _ responder: AccountID, _ side: RelationRow.Side, of key: AlarmKey,
        _ repetition: Int?, _ answers: [(AccountID, RecipientRow)], at time: Instant
    ) -> [ContactsEvent] {
        guard let row = rows.alarms[key], side.iAmResponder, side.wantsToHear(of: key.kind) else { return [] }
        let recipient = RecipientKey(key.account, row.alarm, responder)
        let isNew = rows.recipients[recipient] == nil
        guard isNew ? row.answering.tiers.hasBegun(for: responder) : repetition != nil else { return [] }
        if isNew {
            var told = RecipientRow(at: time)
            told.isOutOfReach = rows.isOutOfReach(responder, side)
            rows.recipients[recipient] = told
        }
        return alerted(rows, responder, of: key, repetition ?? 0, isNew ? answers : [], at: time)
    }

    /// - Parameter answers: Shown to them.
    static func alerted(
        _ rows: ContactsRows, _ responder: AccountID, of key: AlarmKey, _ repetition: Int,
        _ answers: [(AccountID, RecipientRow)], at time: Instant
    ) -> [ContactsEvent] {
        guard let row = rows.alarms[key] else { return [] }
        let alerted = ContactsEvent.responderAlerted(
            .init(
                account: responder, dependent: key.account, kind: key.kind.alert, alarm: row.alarm,
                occurred: row.lateCall?.received ?? row.occurred, deadline: row.deadline, pinged: row.pinged,
                pressed: row.lateCall?.pressed, repetition: repetition, at: time))
        return [alerted] + show(answers, key, row.alarm, to: responder, at: time)
    }

    /// Sends the all-clear to everyone who was alerted. An account has one alarm of a kind, so when a newer one than this has ended,
    /// this one is over, too.
    private static func end(
        _ rows: inout ContactsRows, _ kind: AlarmRow.Kind, _ alarm: AlarmID, _ reason: AlarmEndReason,
        _ occurred: Instant, _ asker: Asker
    ) -> [ContactsEvent] {
        let key = AlarmKey(asker.account, kind)
        let newest = rows.endedAlarms[key]?.alarm
        if newest.map({ $0 != alarm && !alarm.isOlder(than: $0) }) ?? true {
            rows.endedAlarms[key] = EndedAlarmRow(alarm: alarm, at: asker.time)
        }
        guard let row = rows.alarms[key], row.alarm == alarm || row.alarm.isOlder(than: alarm) else { return [] }
        let recipients = rows.recipients(of: row.alarm, about: asker.account)
        // A closed account sees nothing any more.
        let answers = reason == .closed ? [] : standingAnswers(rows, to: key)
        let withdrawn = show(answers, key, row.alarm, to: key.account, isWithdrawn: true, at: asker.time)
        let settled = recipients.flatMap { settleRenewal(&rows, of: $0, at: asker.time) }
        let events = recipients.map { allClear(&rows, $0, row, reason, occurred, asker.time) }
        rows.alarms[key] = nil
        scheduleTiers(&rows, key, at: asker.time)
        scheduleRenewals(&rows, of: key.account, at: asker.time)
        return events + withdrawn + settled
    }

    private static func allClear(
        _ rows: inout ContactsRows, _ recipient: RecipientKey, _ row: AlarmRow, _ reason: AlarmEndReason,
        _ occurred: Instant, _ time: Instant
    ) -> ContactsEvent {
        rows.recipients[recipient] = nil
        return .alarmEnded(
            .init(
                account: recipient.responder, dependent: recipient.account, alarm: recipient.alarm, reason: reason,
                occurred: occurred, deadline: row.deadline, at: time))
    }

    /// Notifies responders of a check-in, except those who just got the all-clear.
    private static func checkedIn(
        _ rows: ContactsRows, _ command: RelayAlert, _ asker: Asker, except cleared: Set<AccountID>
    ) -> [ContactsEvent] {
        rows.responders(of: asker.account).filter { $0.side.notifyOnCheckIn && !cleared.contains($0.account) }.map {
            .responderAlerted(
                .init(
                    account: $0.account, dependent: asker.account, kind: .checkedIn, occurred: command.occurred,
                    deadline: command.deadline, repetition: command.repetition, at: asker.time))
        }
    }

    private static func announce(_ rows: ContactsRows, _ command: AnnouncePause, _ asker: Asker) -> [ContactsEvent] {
        rows.responders(of: asker.account).map {
            .pauseAnnounced(
                .init(
                    account: $0.account, dependent: asker.account, change: command.change, until: command.until,
                    due: command.due, occurred: command.occurred, at: asker.time))
        }
    }

    // MARK: Relations that change while an alarm is on

    /// Alerts new responders to alarms that are already on.
    static func catchUp(_ rows: inout ContactsRows, _ view: RelationView, at time: Instant) -> [ContactsEvent] {
        [view, view.mirrored].flatMap { view in
            AlarmRow.Kind.allCases.flatMap { kind in
                let key = AlarmKey(view.contact, kind)
                let answers = standingAnswers(rows, to: key)
                return setResponder(&rows, view.account, view.mine.iAmResponder, of: key, answers, at: time)
                    + alert(&rows, view.account, view.mine, of: key, nil, answers, at: time)
            }
        }
    }

    /// Two accounts are no longer contacts: each gets the all-clear for the other's alarms.
    static func endAlarms(
        _ rows: inout ContactsRows, between account: AccountID, and contact: AccountID, at time: Instant
    ) -> [ContactsEvent] {
        [(account, contact), (contact, account)].flatMap { dependent, responder in
            AlarmRow.Kind.allCases.flatMap { kind in
                guard let row = rows.alarms[AlarmKey(dependent, kind)] else { return [ContactsEvent]() }
                let recipient = RecipientKey(dependent, row.alarm, responder)
                guard rows.recipients[recipient] != nil else { return [] }
                let key = AlarmKey(dependent, kind)
                let withdrawn = withdrawAnswer(&rows, of: responder, to: key, at: time)
                let end = allClear(&rows, recipient, row, .removed, time, time)
                return withdrawn + [end] + sayHopeless(&rows, key, at: time)
            }
        }
    }

    /// A closing account's alarms end, and it is no longer alerted to anyone else's.
    static func endAlarms(_ rows: inout ContactsRows, ofClosing asker: Asker) -> [ContactsEvent] {
        let events = AlarmRow.Kind.allCases.flatMap { kind in
            let key = AlarmKey(asker.account, kind)
            // A closed account's alarms are refused.
            defer { rows.endedAlarms[key] = nil }
            guard let row = rows.alarms[key] else { return [ContactsEvent]() }
            return end(&rows, kind, row.alarm, .closed, asker.time, asker)
        }
        var withdrawn: [ContactsEvent] = []
        for recipient in rows.recipients.keys.filter({ $0.responder == asker.account }).sorted() {
            for kind in AlarmRow.Kind.allCases
            where rows.alarms[AlarmKey(recipient.account, kind)]?.alarm == recipient.alarm {
                let key = AlarmKey(recipient.account, kind)
                withdrawn += withdrawAnswer(&rows, of: asker.account, to: key, at: asker.time)
                rows.recipients[recipient] = nil
                withdrawn += sayHopeless(&rows, key, at: asker.time)
            }
            rows.recipients[recipient] = nil
        }
        return events + withdrawn.filter { $0.account != asker.account }
    }
}

extension AlarmID {
    /// Whether an alarm began before another one of the same account and kind, by the times in their ids. Session's time never goes
    /// back within a partition of a log, and one partition has all of an account's alarms of a kind, except missed check-ins
    /// that a late check-in notices and ends at once. Of alarms that began in the same millisecond neither is older: to alert
    /// twice is better than not at all.
    fileprivate func isOlder(than other: Self) -> Bool {
        guard let time, let otherTime = other.time else { return false }
        return time < otherTime
    }
}

extension RelationRow.Side {
    func wantsToHear(of kind: AlarmRow.Kind) -> Bool {
        switch kind {
        case .alert: true
        case .missedCheckIn: notifyOnMissedCheckIn
        }
    }
}

extension AlarmRow.Kind {
    var alert: AlertKind {
        switch self {
        case .alert: .alertRaised
        case .missedCheckIn: .checkInMissed
        }
    }
}

extension ContactsEvent {
    /// Whether it tells a responder of an alarm, its end, or a check-in.
    fileprivate var tellsResponder: Bool {
        switch self {
        case .responderAlerted, .alarmEnded: true
        default: false
        }
    }
}

extension ContactsRows.Selection {
    mutating func add(_ command: AlarmCommand, of account: AccountID) {
        switch command {
        case .relayAlert(let command):
            relaying.insert(account)
            // It answers pings as far as an alert may come of them.
            if command.kind == .checkedIn, command.reason == nil { answering.insert(account) }
            guard command.alarm != nil else { break }
            // Locks the account, so that no one becomes or stops being a responder meanwhile.
            changed.insert(account)
            alarming.insert(account)
            if command.kind == .alertRaised || command.kind == .checkInMissed {
                alerting.insert(account)
                telling.insert(account)
            }
        case .acknowledgeAlarm(let command):
            meet(account, command.contact)
            changed.insert(command.contact)
            alarming.insert(command.contact)
            relaying.insert(command.contact)
            telling.insert(command.contact)
            blocking.insert(account)
        case .forgetAnswers:
            changed.insert(account)
            telling.insert(account)
            alarming.insert(account)
            relaying.insert(account)
        case .announcePause: relaying.insert(account)
        case .decideClosing, .askForRenewal:
            changed.insert(account)
            alarming.insert(account)
        }
    }
}
