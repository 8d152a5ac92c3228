import QuartetContactsContract
import QuartetContractSupport
import QuartetVocabulary

// What those who were told of an alarm answer. They hold its repetitions back for a while; none of them gives the all-clear.

extension ContactsReducer {
    static func acknowledge(
        _ rows: inout ContactsRows, _ command: AcknowledgeAlarm, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        let keys = AlarmRow.Kind.allCases.map { AlarmKey(command.contact, $0) }
        let recipient = RecipientKey(command.contact, command.alarm, asker.account)
        guard let key = keys.first(where: { rows.alarms[$0]?.alarm == command.alarm }),
            let told = rows.recipients[recipient] ?? untold(rows, asker, of: key), !isClosing(rows, key, at: asker.time)
        else {
            throw Rejection(
                .notFound, "You weren't told of this alarm yet, or it is over; look whether it is still on.",
                field: "alarm")
        }
        guard try relation(rows, asker, with: command.contact).mine.iAmResponder else {
            throw Rejection(
                .notDependent, "You can only answer the alarms of your dependents; this contact isn't one any more.",
                field: "contact")
        }
        let isUntold = rows.recipients[recipient] == nil
        var row = told
        let time = asker.time
        let pressed = max(min(command.pressed ?? time, time), time - AcknowledgeAlarm.sending.lifetime)
        // It comes late, and the person has changed their mind.
        if let last = row.pressed, pressed < last { return [] }
        // The dependent has called for help again since.
        let called = rows.alarms[key]?.answering.calledAgain
        if command.answer != .needsHelp, let called, pressed < called { return [] }
        let isForHelp = command.answer == .needsHelp && row.answer != .needsHelp
        if !isForHelp, row.answers >= rows.limits.freeAnswers, let last = row.answered {
            let isLoud = row.answer == .needsHelp || row.answer == .safe
            let pause = isLoud ? rows.limits.helpPause : rows.limits.answerPause
            if last + pause > time { throw .tooSoon("You answered", left: last + pause - time) }
        }
        let standing = standingAnswers(rows, to: key)
        if row.answer == nil, [.onIt, .cannot].contains(command.answer), standing.count >= rows.limits.alarmAnswers {
            throw Rejection(
                .limitReached, "So many others have answered this alarm that more isn't shown; do what you can.",
                field: "answer")
        }
        let before = hold(rows, of: key)
        // What was doubted closes no alarm, before it is said again.
        if isForHelp || row.answer == .needsHelp { forgetSafety(&rows, key) }
        let former = row
        row.take(command, pressed: pressed, at: time, rows.limits)
        let blocked = rows.responders(of: key.account).map(\.account).filter {
            rows.blocks[Ends(from: asker.account, to: $0)] != nil
        }
        row.hidden = blocked.isEmpty ? nil : blocked
        rows.recipients[recipient] = row
        // Said here, since the time of the question may be ahead of this one.
        let settled = settleRenewal(&rows, of: recipient, at: time)
        if command.answer == .safe, rows.alarms[key]?.answering.firstSafe == nil {
            rows.alarms[key]?.answering.firstSafe = time
        }
        let wasUnanswered = rows.alarms[key]?.answering.unanswered != nil
        let isNews = row.isNews(after: former, wasUnanswered, at: time, rows.limits)
        if row.isOnIt(at: time) { rows.alarms[key]?.answering.unanswered = nil }
        let endsHold = before.closes != nil || before.until.map { $0 > time } ?? false
        return tell(rows, key, command.alarm, row, by: asker.account, isNews: isNews, at: time)
            + (isUntold ? alerted(rows, asker.account, of: key, 0, standing, at: time) : [])
            + hide(rows, key, command.alarm, former, row, from: blocked, by: asker.account, at: time)
            + (command.answer == .needsHelp ? tellAgain(&rows, key, endsHold, besides: asker.account, at: time) : [])
            + settled + holdChange(&rows, key, from: before, at: time) + sayHopeless(&rows, key, at: time)
    }

    /// Somebody whose turn it isn't yet knows of the alarm all the same, and answers it: from now on they are one of those who were told.
    private static func untold(_ rows: ContactsRows, _ asker: Asker, of key: AlarmKey) -> RecipientRow? {
        guard
            let side = rows[Pair(asker.account, key.account)].map({
                RelationView($0, of: asker.account, with: key.account).mine
            }), side.iAmResponder, side.wantsToHear(of: key.kind), asker.account != key.account
        else { return nil }
        return RecipientRow(at: asker.time)
    }

    /// Help is needed: everybody hears of the alarm at once, whatever held it back. At most every quarter of an hour, unless others
    /// believed that somebody is on it or that all is well.
    /// - Parameter responder: Who says so; nil for the dependent.
    private static func tellAgain(
        _ rows: inout ContactsRows, _ key: AlarmKey, _ endsHold: Bool, besides responder: AccountID?, at time: Instant
    ) -> [ContactsEvent] {
        if !endsHold, let last = rows.alarms[key]?.answering.toldAgain, last + rows.limits.tellingPause > time {
            return []
        }
        // Her own call takes nobody's word away.
        if responder != nil { rows.alarms[key]?.answering.toldAgain = time }
        rows.alarms[key]?.answering.tiers.beginAll()
        scheduleTiers(&rows, key, at: time)
        let answers = standingAnswers(rows, to: key)
        return rows.responders(of: key.account).filter { $0.account != responder }.flatMap {
            alert(&rows, $0.account, $0.side, of: key, 1, answers, at: time)
        }
    }

    /// Decides that an alarm is closed because a responder said that the dependent is safe, if nothing else was answered since.
    static func decideClosing(
        _ rows: inout ContactsRows, _ command: DecideClosing, _ asker: Asker
    ) -> [ContactsEvent] {
        let keys = AlarmRow.Kind.allCases.map { AlarmKey(asker.account, $0) }
        guard let key = keys.first(where: { rows.alarms[$0]?.alarm == command.alarm }),
            let row = rows.alarms[key], row.answering.holdVersion == command.version,
            hold(rows, of: key).closes != nil
        else { return [] }
        rows.alarms[key]?.answering.closing = asker.time
        return [
            .alarmClosingDecided(
                .init(
                    account: asker.account, alarm: command.alarm, kind: key.kind.alert, version: command.version,
                    at: asker.time))
        ]
    }

    /// Whether session is closing the alarm: for some minutes nobody can answer it, so that no denial is taken and lost.
    private static func isClosing(_ rows: ContactsRows, _ key: AlarmKey, at time: Instant) -> Bool {
        rows.alarms[key]?.answering.closing.map { $0 + rows.limits.closingTime > time } ?? false
    }

    /// The dependent called for help again. Session has let the repetitions go on, and hears what was answered since.
    static func forgetAnswers(
        _ rows: inout ContactsRows, _ command: ForgetAnswers, _ asker: Asker
    ) -> [ContactsEvent] {
        let keys = AlarmRow.Kind.allCases.map { AlarmKey(asker.account, $0) }
        guard let key = keys.first(where: { rows.alarms[$0]?.alarm == command.alarm }) else { return [] }
        let calledAgain = rows.alarms[key]?.answering.calledAgain
        // Everybody who heard of an alert that a trip made, or a ping, heard of a late arrival or answer, not of a call for help.
        let row = rows.alarms[key]
        let wasLate = key.kind == .alert && command.isLate != true && (row?.deadline != nil || row?.pinged != nil)
        if wasLate {
            rows.alarms[key]?.deadline = nil
            rows.alarms[key]?.pinged = nil
        }
        let inTime = command.isLate == true ? nil : command.before
        rows.alarms[key]?.keptLateCall.keep(command.lateCall, inTime: inTime, of: command.alarm)
        var events: [ContactsEvent] = []
        var wasBelieved = false
        for (responder, row) in standingAnswers(rows, to: key) {
            guard row.answer != .needsHelp, let pressed = row.pressed, pressed < command.before else { continue }
            events += tell(rows, key, command.alarm, row, by: responder, isWithdrawn: true, at: asker.time)
            wasBelieved = wasBelieved || row.answer != .cannot
            rows.recipients[RecipientKey(key.account, command.alarm, responder)]?.withdraw(at: asker.time)
        }
        let standing = standingAnswers(rows, to: key).map(\.1)
        rows.alarms[key]?.answering.unanswered = nil
        rows.alarms[key]?.answering.calledAgain = max(command.before, calledAgain ?? command.before)
        rows.alarms[key]?.answering.firstSafe = standing.compactMap(\.saidSafe).min()
        // Who was believed to be safe, or looked after, isn't: all hear it at once. Calls that follow at once say nothing new.
        let isDenial = wasBelieved && calledAgain.map { $0 + rows.limits.answerPause <= command.before } ?? true
        // The dependent's own first: it is the result.
        return holdChange(&rows, key, from: nil, at: asker.time) + events
            + (isDenial || wasLate ? tellAgain(&rows, key, true, besides: nil, at: asker.time) : [])
    }

    // MARK: Those who come and go

    /// Notes who is a responder of those who were told, where a process of an earlier release didn't.
    static func updateResponders(
        _ rows: inout ContactsRows, _ key: AlarmKey, _ responders: Set<AccountID>, at time: Instant
    ) -> [ContactsEvent] {
        guard let alarm = rows.alarms[key]?.alarm else { return [] }
        let told = rows.recipients(of: alarm, about: key.account)
        let wrong = told.filter { rows.recipients[$0]?.isResponder != responders.contains($0.responder) }
        return wrong.flatMap { recipient in
            let answers = standingAnswers(rows, to: key)
            let isResponder = responders.contains(recipient.responder)
            return setResponder(&rows, recipient.responder, isResponder, of: key, answers, at: time)
        }
    }

    /// Notes whether somebody who was told is a responder. A former one's answer doesn't stand any more, and they see nobody's.
    static func setResponder(
        _ rows: inout ContactsRows, _ account: AccountID, _ isResponder: Bool, of key: AlarmKey,
        _ answers: [(AccountID, RecipientRow)], at time: Instant
    ) -> [ContactsEvent] {
        guard let alarm = rows.alarms[key]?.alarm else { return [] }
        let recipient = RecipientKey(key.account, alarm, account)
        guard let row = rows.recipients[recipient], row.isResponder != isResponder else { return [] }
        if isResponder {
            rows.recipients[recipient]?.isResponder = true
            return show(answers, key, alarm, to: account, at: time)
        }
        let withdrawn = withdrawAnswer(&rows, of: account, to: key, at: time)
        rows.recipients[recipient]?.isResponder = false
        return withdrawn
            + show(answers, key, alarm, to: account, isWithdrawn: true, at: time).filter { $0 != withdrawn.first }
            + sayHopeless(&rows, key, at: time)
    }

    /// What somebody answered no longer stands, because they aren't a responder any more.
    static func withdrawAnswer(
        _ rows: inout ContactsRows, of responder: AccountID, to key: AlarmKey, at time: Instant
    ) -> [ContactsEvent] {
        guard let alarm = rows.alarms[key]?.alarm else { return [] }
        let recipient = RecipientKey(key.account, alarm, responder)
        guard let row = rows.recipients[recipient], row.answer != nil else { return [] }
        let before = hold(rows, of: key)
        if row.answer == .needsHelp { forgetSafety(&rows, key) }
        let told = tell(rows, key, alarm, row, by: responder, isWithdrawn: true, at: time)
        rows.recipients[recipient]?.withdraw(at: time)
        return told + holdChange(&rows, key, from: before, at: time)
    }

    private static func forgetSafety(_ rows: inout ContactsRows, _ key: AlarmKey) {
        guard let alarm = rows.alarms[key]?.alarm else { return }
        for recipient in rows.recipients(of: alarm, about: key.account)
        where rows.recipients[recipient]?.saidSafe != nil {
            rows.recipients[recipient]?.saidSafe = nil
        }
    }

    // MARK: Nobody is on it

    /// Says once that nobody is on it, until somebody is.
    static func sayUnanswered(
        _ rows: inout ContactsRows, _ key: AlarmKey, _ reason: UnansweredReason, at time: Instant
    ) -> [ContactsEvent] {
        guard let row = rows.alarms[key], row.answering.unanswered == nil else { return [] }
        let told = responders(rows, toldOf: key)
        let isDoubted = told.contains { $0.answer == .needsHelp }
        guard !told.contains(where: { $0.isOnIt(at: time) && !(isDoubted && $0.answer == .safe) }) else { return [] }
        rows.alarms[key]?.answering.unanswered = time
        return [
            .alarmUnanswered(
                .init(
                    account: key.account, alarm: row.alarm, kind: key.kind.alert, reason: reason,
                    responders: told.count, at: time))
        ]
    }

    /// The same as soon as all have answered that they can't. Those who hear later then hear at once.
    static func sayHopeless(_ rows: inout ContactsRows, _ key: AlarmKey, at time: Instant) -> [ContactsEvent] {
        scheduleTiers(&rows, key, at: time)
        guard isHopeless(rows, key), rows.alarms[key]?.answering.tiers.next == nil else { return [] }
        return sayUnanswered(&rows, key, .allCannot, at: time)
    }

    /// Whether all who were told have answered that they can't do anything.
    static func isHopeless(_ rows: ContactsRows, _ key: AlarmKey) -> Bool {
        let told = responders(rows, toldOf: key)
        return !told.isEmpty && told.allSatisfy { $0.answer == .cannot }
    }

    /// Who were told of the alarm that is on, and still are responders.
    static func responders(_ rows: ContactsRows, toldOf key: AlarmKey) -> [RecipientRow] {
        guard let alarm = rows.alarms[key]?.alarm else { return [] }
        return rows.recipients(of: alarm, about: key.account).compactMap { rows.recipients[$0] }.filter(\.isResponder)
    }

    // MARK: Who sees it

    /// The answers that stand, by those who gave them.
    static func standingAnswers(_ rows: ContactsRows, to key: AlarmKey) -> [(AccountID, RecipientRow)] {
        guard let alarm = rows.alarms[key]?.alarm else { return [] }
        return rows.recipients(of: alarm, about: key.account).compactMap { recipient in
            guard let row = rows.recipients[recipient], row.answer != nil else { return nil }
            return (recipient.responder, row)
        }
    }

    /// Shows somebody what others have answered, or no longer does. They aren't notified: it isn't new.
    static func show(
        _ answers: [(AccountID, RecipientRow)], _ key: AlarmKey, _ alarm: AlarmID, to account: AccountID,
        isWithdrawn: Bool = false, at time: Instant
    ) -> [ContactsEvent] {
        answers.compactMap { responder, row in
            row.isShown(to: account)
                ? acknowledged(row, by: responder, key, alarm, to: account, isWithdrawn: isWithdrawn, at: time) : nil
        }
    }

    /// Tells the dependent, and every responder who was told of the alarm, the one who answered first.
    private static func tell(
        _ rows: ContactsRows, _ key: AlarmKey, _ alarm: AlarmID, _ row: RecipientRow, by responder: AccountID,
        isWithdrawn: Bool = false, isNews: Bool = false, at time: Instant
    ) -> [ContactsEvent] {
        let others = rows.recipients(of: alarm, about: key.account)
            .filter {
                $0.responder != responder && rows.recipients[$0]?.isResponder == true && row.isShown(to: $0.responder)
            }
        return ([responder, key.account] + others.map(\.responder)).map { account in
            acknowledged(
                row, by: responder, key, alarm, to: account, isWithdrawn: isWithdrawn,
                isNews: isNews && account != responder, at: time)
        }
    }

    /// Takes a former answer away from those who don't see the new one.
    private static func hide(
        _ rows: ContactsRows, _ key: AlarmKey, _ alarm: AlarmID, _ former: RecipientRow, _ row: RecipientRow,
        from blocked: [AccountID], by responder: AccountID, at time: Instant
    ) -> [ContactsEvent] {
        guard former.answer != nil else { return [] }
        return blocked.filter { account in
            former.isShown(to: account) && !row.isShown(to: account)
                && rows.recipients[RecipientKey(key.account, alarm, account)]?.isResponder == true
        }.map { acknowledged(former, by: responder, key, alarm, to: $0, isWithdrawn: true, at: time) }
    }

    private static func acknowledged(
        _ row: RecipientRow, by responder: AccountID, _ key: AlarmKey, _ alarm: AlarmID, to account: AccountID,
        isWithdrawn: Bool, isNews: Bool = false, at time: Instant
    ) -> ContactsEvent {
        .alarmAcknowledged(
            .init(
                account: account, dependent: key.account, alarm: alarm, kind: key.kind.alert, responder: responder,
                answer: isWithdrawn ? nil : row.answer, until: isWithdrawn ? nil : row.until,
                answered: row.answered ?? time, isNews: isNews ? true : nil, at: time))
    }

    // MARK: What holds repetitions back

    static func hold(_ rows: ContactsRows, of key: AlarmKey) -> AnswerHold {
        let answers = standingAnswers(rows, to: key).map(\.1)
        guard !answers.contains(where: { $0.answer == .needsHelp }) else { return AnswerHold() }
        var hold = AnswerHold()
        for answer in answers {
            if let until = answer.until, hold.until.map({ until > $0 }) ?? true {
                (hold.until, hold.untilSince) = (until, answer.pressed)
            }
            if let safe = answer.saidSafe, hold.closes.map({ safe + rows.limits.safeRest > $0 }) ?? true {
                (hold.closes, hold.safeSince) = (safe + rows.limits.safeRest, answer.pressed)
            }
        }
        if let closes = hold.closes, let first = rows.alarms[key]?.answering.firstSafe {
            hold.safeUntil = min(closes, first + rows.limits.safeRest)
        }
        return hold
    }

    private static func holdChange(
        _ rows: inout ContactsRows, _ key: AlarmKey, from before: AnswerHold?, at time: Instant
    ) -> [ContactsEvent] {
        let now = hold(rows, of: key)
        holdTiers(&rows, key, until: now.until, at: time)
        guard now != before, var row = rows.alarms[key] else { return updateRenewals(&rows, key, now, at: time) }
        row.answering.holdVersion += 1
        row.answering.closing = nil
        row.answering.held.hold(until: now.until, at: time, atMost: rows.limits.longestHold)
        rows.alarms[key] = row
        let changed = AlarmHoldChanged(
            account: key.account, alarm: row.alarm, kind: key.kind.alert, hold: now,
            version: row.answering.holdVersion, at: time)
        return [.alarmHoldChanged(changed)] + updateRenewals(&rows, key, now, at: time)
    }
}

extension RecipientRow {
    /// Whether somebody is on the alarm, or has reached the dependent.
    fileprivate func isOnIt(at time: Instant) -> Bool {
        switch answer {
        case .onIt: until.map { $0 > time } ?? false
        case .safe: saidSafe != nil
        case .needsHelp, .cannot, nil: false
        }
    }

    /// Whether the others are notified: of all that somebody may want to deny, and of the first few times that somebody is on it.
    fileprivate func isNews(
        after former: Self, _ wasUnanswered: Bool, at time: Instant, _ limits: ContactsLimits
    ) -> Bool {
        switch answer {
        case .onIt:
            isOnIt(at: time)
                && (wasUnanswered || former.saidSafe != nil
                    || !former.isOnIt(at: time) && answers <= limits.freeAnswers)
        case .safe: former.saidSafe == nil
        case .needsHelp: former.answer != .needsHelp
        case .cannot, nil: false
        }
    }

    /// That help is needed is hidden from nobody.
    fileprivate func isShown(to account: AccountID) -> Bool {
        answer == .needsHelp || !(hidden?.contains(account) ?? false)
    }

    fileprivate mutating func take(
        _ command: AcknowledgeAlarm, pressed: Instant, at time: Instant, _ limits: ContactsLimits
    ) {
        endOnIt(at: time)
        if command.answer == .onIt {
            let wanted = pressed + .minutes(Int64(command.minutes ?? AcknowledgeAlarm.defaultMinutes))
            let left = max(limits.longestOnIt.microseconds - used.microseconds, 0)
            until = min(wanted, time + Interval(microseconds: left))
        }
        saidSafe = command.answer == .safe ? time : nil
        (answer, answered, self.pressed) = (command.answer, time, pressed)
        answers += 1
    }

    fileprivate mutating func withdraw(at time: Instant) {
        endOnIt(at: time)
        (answer, answered, pressed, until, saidSafe, hidden) = (nil, nil, nil, nil, nil, nil)
    }

    private mutating func endOnIt(at time: Instant) {
        if let until, let answered {
            let lasted = max((min(until, time) - answered).microseconds, 0)
            used = Interval(microseconds: used.microseconds + lasted)
        }
        until = nil
    }
}
