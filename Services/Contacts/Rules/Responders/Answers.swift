import ContactsContract
import ContractSupport
import Vocabulary

// What those who were told of an alarm answer. They hold its repetitions back for a while, and end nothing.

extension ContactsReducer {
    static func acknowledge(
        _ rows: inout ContactsRows, _ command: AcknowledgeAlarm, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        let keys = AlarmRow.Kind.allCases.map { AlarmKey(command.contact, $0) }
        let recipient = RecipientKey(command.contact, command.alarm, asker.account)
        guard let key = keys.first(where: { rows.alarms[$0]?.alarm == command.alarm }),
            var row = rows.recipients[recipient]
        else {
            throw Rejection(.notFound, "This alarm is over, or you weren't told of it.", field: "alarm")
        }
        guard try relation(rows, asker, with: command.contact).mine.iAmResponder else {
            throw Rejection(
                .notDependent, "You can only answer the alarms of your dependents; this contact isn't one any more.",
                field: "contact")
        }
        let time = asker.time
        let isForHelp = command.answer == .needsHelp && row.answer != .needsHelp
        if !isForHelp, row.answers >= rows.limits.freeAnswers, let last = row.answered,
            last + rows.limits.answerPause > time
        {
            throw .tooSoon("You answered", left: last + rows.limits.answerPause - time)
        }
        let before = hold(rows, of: key)
        let wasForHelp = row.answer == .needsHelp
        if wasForHelp || isForHelp {
            forgetSafety(&rows, key)
            row.saidSafe = nil
        }
        row.take(command, at: time, rows.limits)
        rows.recipients[recipient] = row
        if command.answer != .cannot { rows.alarms[key]?.unanswered = nil }
        let told = tell(rows, key, command.alarm, row, by: asker.account, at: time)
        // Somebody who was there says so: everybody hears of the alarm at once, whatever held it back.
        let alerted =
            isForHelp
            ? rows.responders(of: key.account).filter { $0.account != asker.account }.flatMap {
                alert(&rows, $0.account, $0.side, of: key, 1, standingAnswers(rows, to: key), at: time)
            } : []
        let answers = rows.recipients(of: command.alarm, about: command.contact).map { rows.recipients[$0]?.answer }
        let isHopeless = answers.allSatisfy { $0 == .cannot }
        return told + alerted + holdChange(rows, key, from: before, at: time)
            + (isHopeless ? sayUnanswered(&rows, key, at: time) : [])
    }

    /// What somebody answered no longer stands, because they aren't a responder any more.
    static func withdrawAnswer(
        _ rows: inout ContactsRows, of responder: AccountID, to key: AlarmKey, at time: Instant
    ) -> [ContactsEvent] {
        guard let alarm = rows.alarms[key]?.alarm else { return [] }
        let recipient = RecipientKey(key.account, alarm, responder)
        guard let row = rows.recipients[recipient], row.answer != nil else { return [] }
        let before = hold(rows, of: key)
        rows.recipients[recipient] = RecipientRow(at: row.at)
        if row.answer == .needsHelp { forgetSafety(&rows, key) }
        return tell(rows, key, alarm, row, by: responder, isWithdrawn: true, at: time)
            + holdChange(rows, key, from: before, at: time)
    }

    /// Whoever said that the dependent is safe, before or while somebody said the opposite, has to say it again: what was doubted
    /// closes no alarm.
    private static func forgetSafety(_ rows: inout ContactsRows, _ key: AlarmKey) {
        guard let alarm = rows.alarms[key]?.alarm else { return }
        for recipient in rows.recipients(of: alarm, about: key.account) { rows.recipients[recipient]?.saidSafe = nil }
    }

    /// Says once that nobody answers, until somebody does.
    static func sayUnanswered(_ rows: inout ContactsRows, _ key: AlarmKey, at time: Instant) -> [ContactsEvent] {
        guard let row = rows.alarms[key], row.unanswered == nil else { return [] }
        let told = rows.recipients(of: row.alarm, about: key.account).compactMap { rows.recipients[$0] }
        guard !told.contains(where: { $0.stands(at: time) }) else { return [] }
        rows.alarms[key]?.unanswered = time
        return [
            .alarmUnanswered(
                .init(
                    account: key.account, alarm: row.alarm, kind: key.kind.alert, responders: told.count, at: time))
        ]
    }

    /// The answers that stand, by those who gave them.
    static func standingAnswers(_ rows: ContactsRows, to key: AlarmKey) -> [(AccountID, RecipientRow)] {
        guard let alarm = rows.alarms[key]?.alarm else { return [] }
        return rows.recipients(of: alarm, about: key.account).compactMap { recipient in
            guard let row = rows.recipients[recipient], row.answer != nil else { return nil }
            return (recipient.responder, row)
        }
    }

    static func acknowledged(
        _ row: RecipientRow, by responder: AccountID, _ key: AlarmKey, _ alarm: AlarmID, to account: AccountID,
        isWithdrawn: Bool = false, at time: Instant
    ) -> ContactsEvent {
        .alarmAcknowledged(
            .init(
                account: account, dependent: key.account, alarm: alarm, responder: responder,
                answer: isWithdrawn ? nil : row.answer, until: isWithdrawn ? nil : row.until,
                answered: row.answered ?? time, at: time))
    }

    /// Tells the dependent, and everybody who was told of the alarm, the one who answered first.
    private static func tell(
        _ rows: ContactsRows, _ key: AlarmKey, _ alarm: AlarmID, _ row: RecipientRow, by responder: AccountID,
        isWithdrawn: Bool = false, at time: Instant
    ) -> [ContactsEvent] {
        let others = rows.recipients(of: alarm, about: key.account).map(\.responder).filter { $0 != responder }
        return ([responder, key.account] + others).map {
            acknowledged(row, by: responder, key, alarm, to: $0, isWithdrawn: isWithdrawn, at: time)
        }
    }

    // MARK: What holds repetitions back

    private struct Hold: Equatable {
        var until: Instant?
        var closes: Instant?
    }

    private static func hold(_ rows: ContactsRows, of key: AlarmKey) -> Hold {
        let answers = standingAnswers(rows, to: key).map(\.1)
        guard !answers.contains(where: { $0.answer == .needsHelp }) else { return Hold() }
        return Hold(
            until: answers.compactMap(\.until).max(),
            closes: answers.filter { $0.answer == .safe }.compactMap(\.saidSafe).max().map { $0 + rows.limits.safeRest })
    }

    private static func holdChange(
        _ rows: ContactsRows, _ key: AlarmKey, from before: Hold, at time: Instant
    ) -> [ContactsEvent] {
        let now = hold(rows, of: key)
        guard now != before, let alarm = rows.alarms[key]?.alarm else { return [] }
        return [
            .alarmHoldChanged(
                .init(
                    account: key.account, alarm: alarm, kind: key.kind.alert, until: now.until, closes: now.closes,
                    at: time))
        ]
    }
}

extension RecipientRow {
    /// Whether somebody does something about the alarm.
    fileprivate func stands(at time: Instant) -> Bool {
        switch answer {
        case .onIt: until.map { $0 > time } ?? false
        case .safe, .needsHelp: true
        case .cannot, nil: false
        }
    }

    fileprivate mutating func take(_ command: AcknowledgeAlarm, at time: Instant, _ limits: ContactsLimits) {
        if let until, let answered { used = .init(microseconds: used.microseconds + max((min(until, time) - answered).microseconds, 0)) }
        until = nil
        if command.answer == .onIt {
            let pressed = max(min(command.pressed ?? time, time), time - AcknowledgeAlarm.sending.lifetime)
            let wanted = pressed + .minutes(Int64(command.minutes ?? AcknowledgeAlarm.defaultMinutes))
            let left = max(limits.longestOnIt.microseconds - used.microseconds, 0)
            until = min(wanted, time + Interval(microseconds: left))
        }
        if command.answer == .safe { saidSafe = saidSafe ?? time }
        answer = command.answer
        answered = time
        answers += 1
    }
}
