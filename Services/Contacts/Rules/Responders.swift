import ContactsContract
import ContractSupport
import Vocabulary

// Who heard of which alarm, and who therefore hears of its end.

extension ContactsReducer {
    static func reduce(
        _ rows: inout ContactsRows, _ command: AlarmCommand, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        switch command {
        case .relayAlert(let command): relay(&rows, command, asker)
        }
    }

    static func relay(_ rows: inout ContactsRows, _ command: RelayAlert, _ asker: Asker) -> [ContactsEvent] {
        let told: [ContactsEvent]
        switch (command.kind, command.alarm) {
        case (.alertRaised, let alarm?): told = begin(&rows, .alert, alarm, command, asker)
        case (.checkInMissed, let alarm?): told = begin(&rows, .missedCheckIn, alarm, command, asker)
        case (.alertCleared, let alarm?): told = end(&rows, .alert, alarm, .cleared, command.occurred, asker)
        case (.checkedIn, let alarm):
            let ended = alarm.map { end(&rows, .missedCheckIn, $0, .checkedIn, command.occurred, asker) } ?? []
            told = ended + checkedIn(rows, command, asker, except: Set(ended.map(\.account)))
        // The command was validated: only a check-in belongs to no alarm.
        case (.alertRaised, nil), (.checkInMissed, nil), (.alertCleared, nil): told = []
        }
        let relayed = AlertRelayed(
            account: asker.account, kind: command.kind, alarm: command.alarm, occurred: command.occurred,
            deadline: command.deadline, repetition: command.repetition, responders: told.count, at: asker.time)
        return [.alertRelayed(relayed)] + told
    }

    /// An alarm begins or is repeated: each responder hears of it who wants to.
    private static func begin(
        _ rows: inout ContactsRows, _ kind: AlarmRow.Kind, _ alarm: AlarmID, _ command: RelayAlert, _ asker: Asker
    ) -> [ContactsEvent] {
        let place = AlarmPlace(asker.account, kind)
        var told: [ContactsEvent] = []
        if let old = rows.alarms[place], old.alarm != alarm {
            told = end(&rows, kind, old.alarm, .superseded, command.occurred, asker)
        }
        // A repetition doesn't change when it began.
        if rows.alarms[place] == nil {
            rows.alarms[place] = AlarmRow(alarm: alarm, occurred: command.occurred, deadline: command.deadline)
        }
        return told
            + rows.responders(of: asker.account).compactMap { responder in
                alert(&rows, responder.account, responder.side, of: place, command.repetition, at: asker.time)
            }
    }

    /// Has a responder hear of an alarm that is on, if they want to.
    /// - Parameter repetition: Which repetition this is; nil has only those hear who haven't yet.
    private static func alert(
        _ rows: inout ContactsRows, _ responder: AccountID, _ side: RelationRow.Side, of place: AlarmPlace,
        _ repetition: Int?, at time: Instant
    ) -> ContactsEvent? {
        guard let row = rows.alarms[place], side.iAmResponder, side.wantsToHear(of: place.kind) else { return nil }
        let recipient = RecipientPlace(place.account, row.alarm, responder)
        if rows.recipients[recipient] != nil, repetition == nil { return nil }
        if rows.recipients[recipient] == nil { rows.recipients[recipient] = RecipientRow(at: time) }
        return .responderAlerted(
            .init(
                account: responder, dependent: place.account, kind: place.kind.alert, alarm: row.alarm,
                occurred: row.occurred, deadline: row.deadline, repetition: repetition ?? 0, at: time))
    }

    /// The all-clear: whoever heard of the alarm hears that it is over.
    private static func end(
        _ rows: inout ContactsRows, _ kind: AlarmRow.Kind, _ alarm: AlarmID, _ reason: AlarmEndReason,
        _ occurred: Instant, _ asker: Asker
    ) -> [ContactsEvent] {
        let place = AlarmPlace(asker.account, kind)
        guard let row = rows.alarms[place], row.alarm == alarm else { return [] }
        let recipients = rows.recipients(of: alarm, about: asker.account)
        let told = recipients.map { allClear(&rows, $0, row, reason, occurred, asker.time) }
        rows.alarms[place] = nil
        return told
    }

    private static func allClear(
        _ rows: inout ContactsRows, _ recipient: RecipientPlace, _ row: AlarmRow, _ reason: AlarmEndReason,
        _ occurred: Instant, _ time: Instant
    ) -> ContactsEvent {
        rows.recipients[recipient] = nil
        return .alarmEnded(
            .init(
                account: recipient.responder, dependent: recipient.account, alarm: recipient.alarm, reason: reason,
                occurred: occurred, deadline: row.deadline, at: time))
    }

    /// Responders who want to hear of check-ins do, except those for whom it was the all-clear.
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

    // MARK: Relations that change while an alarm is on

    /// Whoever looks after the other from now on hears of alarms that are on, as if they had when it began.
    static func catchUp(_ rows: inout ContactsRows, _ view: RelationView, at time: Instant) -> [ContactsEvent] {
        [view, view.mirrored].flatMap { view in
            AlarmRow.Kind.allCases.compactMap { kind in
                alert(
                    &rows, view.account, view.mine, of: AlarmPlace(view.contact, kind), nil, at: time)
            }
        }
    }

    /// Two accounts are no contacts any more: an alarm of one that the other heard of is over for them.
    static func endAlarms(
        _ rows: inout ContactsRows, between account: AccountID, and contact: AccountID, at time: Instant
    ) -> [ContactsEvent] {
        [(account, contact), (contact, account)].flatMap { dependent, responder in
            AlarmRow.Kind.allCases.compactMap { kind in
                guard let row = rows.alarms[AlarmPlace(dependent, kind)] else { return nil }
                let recipient = RecipientPlace(dependent, row.alarm, responder)
                guard rows.recipients[recipient] != nil else { return nil }
                return allClear(&rows, recipient, row, .removed, time, time)
            }
        }
    }

    /// An account closes: its alarms are over, and it hears of no other's any more.
    static func endAlarms(_ rows: inout ContactsRows, ofClosing asker: Asker) -> [ContactsEvent] {
        let told = AlarmRow.Kind.allCases.flatMap { kind in
            guard let row = rows.alarms[AlarmPlace(asker.account, kind)] else { return [ContactsEvent]() }
            return end(&rows, kind, row.alarm, .closed, asker.time, asker)
        }
        for recipient in rows.recipients.keys where recipient.responder == asker.account {
            rows.recipients[recipient] = nil
        }
        return told
    }
}

extension RelationRow.Side {
    fileprivate func wantsToHear(of kind: AlarmRow.Kind) -> Bool {
        switch kind {
        case .alert: true
        case .missedCheckIn: notifyOnMissedCheckIn
        }
    }
}

extension AlarmRow.Kind {
    fileprivate var alert: AlertKind {
        switch self {
        case .alert: .alertRaised
        case .missedCheckIn: .checkInMissed
        }
    }
}

extension ContactsRows.Selection {
    mutating func add(_ command: AlarmCommand, of account: AccountID) {
        switch command {
        case .relayAlert(let command):
            relaying.insert(account)
            guard command.alarm != nil else { break }
            // Nobody becomes or stops being a responder meanwhile.
            changed.insert(account)
            alarming.insert(account)
            if command.kind == .alertRaised || command.kind == .checkInMissed { alerting.insert(account) }
        }
    }
}
