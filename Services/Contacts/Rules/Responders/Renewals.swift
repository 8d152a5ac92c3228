import QuartetContactsContract
import QuartetContractSupport
package import QuartetVocabulary

// Whoever is on an alarm is asked, shortly before their time ends, whether they still are.

/// For how long something was held back in all, and is now.
package struct HeldTime: Equatable, Sendable {
    /// Without the time since ``since``.
    package var before: Interval = .seconds(0)
    package var since: Instant?
    package var until: Instant?

    package init() {}

    /// Holds it until a time from now on; nil for no longer.
    mutating func hold(until wanted: Instant?, at time: Instant, atMost longest: Interval) {
        if let since, let until {
            before = Interval(microseconds: before.microseconds + max((min(until, time) - since).microseconds, 0))
        }
        (since, until) = (nil, nil)
        guard let wanted else { return }
        let left = Interval(microseconds: max(longest.microseconds - before.microseconds, 0))
        let end = min(wanted, time + left)
        if end > time { (since, until) = (time, end) }
    }

    /// How long after a time it may still be held, as much of it as isn't held until then.
    fileprivate func left(after end: Instant, of longest: Interval) -> Interval {
        let lasting = since.map { max((end - $0).microseconds, 0) } ?? 0
        return Interval(microseconds: longest.microseconds - before.microseconds - lasting)
    }
}

extension ContactsReducer {
    /// Asks those whom it is time to ask, and settles what they were asked if their time is over.
    static func askForRenewal(_ rows: inout ContactsRows, _ asker: Asker) -> [ContactsEvent] {
        AlarmRow.Kind.allCases.flatMap { kind in
            let key = AlarmKey(asker.account, kind)
            let hold = hold(rows, of: key)
            let settled = updateRenewals(&rows, key, hold, at: asker.time)
            return settled + ask(&rows, key, hold, at: asker.time)
        }
    }

    private static func ask(
        _ rows: inout ContactsRows, _ key: AlarmKey, _ hold: AnswerHold, at time: Instant
    ) -> [ContactsEvent] {
        guard let alarm = rows.alarms[key]?.alarm else { return [] }
        var events: [ContactsEvent] = []
        for (responder, row) in standingAnswers(rows, to: key) where row.asked == nil {
            guard let until = row.until, let due = renewal(rows, key, row, hold, at: time), due <= time else {
                continue
            }
            rows.recipients[RecipientKey(key.account, alarm, responder)]?.asked = time
            events.append(
                .renewalAsked(
                    .init(account: responder, dependent: key.account, alarm: alarm, until: until, at: time)))
        }
        scheduleRenewals(&rows, of: key.account, at: time)
        return events
    }

    /// Settles what somebody was asked and what isn't worth an answer any more, and notes when somebody is asked next.
    static func updateRenewals(
        _ rows: inout ContactsRows, _ key: AlarmKey, _ hold: AnswerHold, at time: Instant
    ) -> [ContactsEvent] {
        guard let alarm = rows.alarms[key]?.alarm else { return [] }
        let settled = rows.recipients(of: alarm, about: key.account).filter { recipient in
            guard let row = rows.recipients[recipient], row.asked != nil else { return false }
            return !row.isAsked || renewal(rows, key, row, hold, at: time) == nil
        }
        let events = settled.flatMap { settleRenewal(&rows, of: $0, at: time) }
        scheduleRenewals(&rows, of: key.account, at: time)
        return events
    }

    static func settleRenewal(
        _ rows: inout ContactsRows, of recipient: RecipientKey, at time: Instant
    ) -> [ContactsEvent] {
        guard let asked = rows.recipients[recipient]?.asked else { return [] }
        rows.recipients[recipient]?.asked = nil
        return [
            .renewalSettled(
                .init(
                    account: recipient.responder, dependent: recipient.account, alarm: recipient.alarm, asked: asked,
                    at: time))
        ]
    }

    /// Notes for the timer when somebody is asked next, or when what somebody was asked is over.
    static func scheduleRenewals(_ rows: inout ContactsRows, of account: AccountID, at time: Instant) {
        guard let row = rows.accounts[account] else { return }
        let times = AlarmRow.Kind.allCases.flatMap { kind in
            let key = AlarmKey(account, kind)
            let hold = hold(rows, of: key)
            return standingAnswers(rows, to: key).compactMap { _, row in
                let due = renewal(rows, key, row, hold, at: time)
                return row.asked == nil ? due : row.until
            }
        }
        let next = row.closed == nil ? times.min() : nil
        guard next != row.nextRenewal else { return }
        rows.accounts[account]?.nextRenewal = next
    }

    /// When somebody is asked whether they are still on an alarm: five minutes before their time ends, or after half of it if that is
    /// later. Nil if they aren't on it, if help is needed, if too little is left of their time, or if renewing it would hold nothing
    /// back: because they or all together have been on it for as long as they may, or because somebody says that all is well.
    private static func renewal(
        _ rows: ContactsRows, _ key: AlarmKey, _ row: RecipientRow, _ hold: AnswerHold, at time: Instant
    ) -> Instant? {
        guard let until = row.until, let answered = row.answered, row.isResponder, let alarm = rows.alarms[key] else {
            return nil
        }
        let limits = rows.limits
        let isOver = row.asked == nil ? until < time + limits.shortestRenewal : until <= time
        let isOverruled = hold.until == nil || hold.safeUntil.map { $0 >= until } ?? false
        let own = limits.longestOnIt.microseconds - row.used.microseconds - (until - answered).microseconds
        let left = min(
            own, alarm.answering.held.left(after: until, of: limits.longestHold).microseconds)
        guard !isOver, !isOverruled, left >= limits.shortestRenewal.microseconds else { return nil }
        let half = answered + Interval(microseconds: (until - answered).microseconds / 2)
        return max(until - limits.renewalLead, half)
    }
}

extension RecipientRow {
    /// Whether they were asked about the answer that stands.
    fileprivate var isAsked: Bool {
        guard let asked, let answered else { return false }
        return answered < asked
    }
}
