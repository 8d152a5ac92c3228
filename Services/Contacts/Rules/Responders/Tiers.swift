package import QuartetContactsContract
import QuartetContractSupport
package import QuartetVocabulary

// Responders who hear of a missed check-in later than others, as the dependent has chosen.

/// In which order the responders of an alarm hear of it, as it was chosen when the alarm began.
package struct AlarmTiers: Equatable, Sendable {
    /// Those who don't hear at once, the soonest first; nil if all do. Who isn't named is of the first tier.
    package var later: [ResponderTier]?
    /// How many of ``later`` have begun.
    package var begun = 0
    /// When the first tier heard, by the database's clock: the timers of the others go by it.
    package var since: Instant?
    /// For how long they have waited because somebody was on it.
    package var held = HeldTime()

    package init() {}

    /// The tier that waits; nil if none does.
    var next: ResponderTier? {
        guard let later, begun < later.count else { return nil }
        return later[begun]
    }

    /// When the tier that waits begins, unless nobody is left of the one before.
    var nextBegins: Instant? {
        guard let next, let since else { return nil }
        let hold = held.since.flatMap { begin in held.until.map { $0 - begin } } ?? .seconds(0)
        return since + next.after + held.before + hold
    }

    /// Whether somebody hears now.
    func hasBegun(for responder: AccountID) -> Bool { place(of: responder) <= begun }

    /// Whether somebody is of the tier that heard last.
    func isOfLatest(_ responder: AccountID) -> Bool { place(of: responder) == begun }

    /// 0 for the first tier.
    private func place(of responder: AccountID) -> Int {
        later?.firstIndex { $0.responders.contains(responder) }.map { $0 + 1 } ?? 0
    }

    mutating func beginAll() { begun = later?.count ?? 0 }

    /// Lets the tiers wait until a time from now on; nil for no longer.
    mutating func hold(until wanted: Instant?, at time: Instant, _ limits: ContactsLimits) {
        held.hold(until: next == nil ? nil : wanted, at: time, atMost: limits.longestTierHold)
    }
}

extension ContactsReducer {
    static func reduce(
        _ rows: inout ContactsRows, _ command: TierCommand, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        switch command {
        case .setResponderTiers(let command): try setTiers(&rows, command, asker)
        case .beginNextTier: beginTiers(&rows, AlarmKey(asker.account, .missedCheckIn), asker)
        }
    }

    private static func setTiers(
        _ rows: inout ContactsRows, _ command: SetResponderTiers, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        let version = rows.accounts[asker.account]?.responderTiersVersion ?? 0
        if let expected = command.expectedVersion, expected != version {
            throw .staleVersion(expected: expected, current: version)
        }
        let responders = Set(rows.responders(of: asker.account).map(\.account))
        // Somebody may have stopped being one at a process of an earlier release, which takes nobody out.
        let known = Set((rows.accounts[asker.account]?.responderTiers ?? []).flatMap(\.responders))
        guard responders.union(known).isSuperset(of: command.tiers.flatMap(\.responders)) else {
            throw Rejection(.notContact, "Choose only people who are your responders.", field: "tiers")
        }
        let tiers = command.tiers.map {
            ResponderTier(after: $0.after, responders: $0.responders.filter(responders.contains))
        }
        return setTiers(&rows, of: asker.account, tiers.filter { !$0.responders.isEmpty }, at: asker.time)
    }

    private static func setTiers(
        _ rows: inout ContactsRows, of account: AccountID, _ tiers: [ResponderTier], at time: Instant
    ) -> [ContactsEvent] {
        let tiers = tiers.map { ResponderTier(after: $0.after, responders: $0.responders.sorted()) }
        guard tiers != rows.accounts[account]?.responderTiers ?? [] else { return [] }
        rows.accounts[account]?.responderTiers = tiers.isEmpty ? nil : tiers
        let version = (rows.accounts[account]?.responderTiersVersion ?? 0) + 1
        rows.accounts[account]?.responderTiersVersion = version
        return [.responderTiersSet(.init(account: account, tiers: tiers, version: version, at: time))]
    }

    /// Whoever isn't a responder any more is in no tier: should they become one again, they hear at once.
    /// - Parameter isForGood: They never can.
    static func forgetTier(
        _ rows: inout ContactsRows, of account: AccountID, naming responder: AccountID, isForGood: Bool = false,
        at time: Instant
    ) -> [ContactsEvent] {
        func kept(_ tiers: [ResponderTier]) -> [ResponderTier] {
            tiers.map { tier in
                ResponderTier(after: tier.after, responders: tier.responders.filter { $0 != responder })
            }
        }
        let key = AlarmKey(account, .missedCheckIn)
        if !isForGood, let later = rows.alarms[key]?.answering.tiers.later, kept(later) != later {
            rows.alarms[key]?.answering.tiers.later = kept(later)
        }
        guard let tiers = rows.accounts[account]?.responderTiers else { return [] }
        return setTiers(&rows, of: account, kept(tiers).filter { !$0.responders.isEmpty }, at: time)
    }

    // MARK: While an alarm is on

    /// Fixes in which order the responders hear of an alarm that begins. A raised alert is heard by all at once.
    static func startTiers(_ rows: inout ContactsRows, _ key: AlarmKey, at time: Instant) {
        guard key.kind == .missedCheckIn, let tiers = rows.accounts[key.account]?.responderTiers else { return }
        rows.alarms[key]?.answering.tiers.later = tiers
        rows.alarms[key]?.answering.tiers.since = time
    }

    /// Tells those whose turn it is. Nobody of a tier left means that it is the next one's turn; if all who were told have answered
    /// that they can't do anything, it is everybody's.
    static func beginTiers(_ rows: inout ContactsRows, _ key: AlarmKey, _ asker: Asker) -> [ContactsEvent] {
        let time = asker.time
        guard rows.alarms[key]?.answering.tiers.later != nil else {
            scheduleTiers(&rows, key, at: time)
            return []
        }
        var events: [ContactsEvent] = []
        while let row = rows.alarms[key], row.answering.tiers.next != nil {
            let isHopeless = isHopeless(rows, key)
            guard isHopeless || turn(rows, key, at: asker.clock).map({ $0 <= asker.clock }) ?? false else { break }
            if isHopeless {
                rows.alarms[key]?.answering.tiers.beginAll()
            } else {
                rows.alarms[key]?.answering.tiers.begun += 1
            }
            let answers = standingAnswers(rows, to: key)
            let told = rows.responders(of: key.account).flatMap {
                alert(&rows, $0.account, $0.side, of: key, nil, answers, at: time)
            }
            let began = TierBegan(
                account: key.account, alarm: row.alarm, tier: (rows.alarms[key]?.answering.tiers.begun ?? 0) + 1,
                responders: told.count { if case .responderAlerted = $0 { true } else { false } }, at: time)
            events += [.tierBegan(began)] + told
        }
        return events + sayHopeless(&rows, key, at: time)
    }

    /// Lets those who hear later wait for as long as somebody is on the alarm.
    static func holdTiers(_ rows: inout ContactsRows, _ key: AlarmKey, until: Instant?, at time: Instant) {
        guard rows.alarms[key]?.answering.tiers.next != nil else { return }
        rows.alarms[key]?.answering.tiers.hold(until: until, at: time, rows.limits)
        scheduleTiers(&rows, key, at: time)
    }

    /// Notes when it is the next tier's turn, for the timer.
    static func scheduleTiers(_ rows: inout ContactsRows, _ key: AlarmKey, at time: Instant) {
        guard key.kind == .missedCheckIn, let account = rows.accounts[key.account] else { return }
        let next = account.closed == nil ? turn(rows, key, at: time) : nil
        guard next != account.nextTier else { return }
        rows.accounts[key.account]?.nextTier = next
    }

    /// When it is the turn of the tier that waits; nil if none does.
    private static func turn(_ rows: ContactsRows, _ key: AlarmKey, at time: Instant) -> Instant? {
        guard let row = rows.alarms[key], let begins = row.answering.tiers.nextBegins else { return nil }
        let tiers = row.answering.tiers
        let isLeft = rows.recipients(of: row.alarm, about: key.account).contains { recipient in
            tiers.isOfLatest(recipient.responder) && rows.recipients[recipient]?.isLeft == true
        }
        if isLeft || begins <= time { return begins }
        // At once: the deadline has passed by the database's clock, of which the rules' time may be far ahead after a failover.
        return tiers.held.until ?? row.deadline ?? Instant(microseconds: 0)
    }
}

extension RecipientRow {
    /// Whether they may still do something about the alarm.
    fileprivate var isLeft: Bool { isResponder && answer != .cannot && !(answer == nil && isOutOfReach) }
}

extension ContactsRows.Selection {
    mutating func add(_ command: TierCommand, of account: AccountID) {
        changed.insert(account)
        relaying.insert(account)
        switch command {
        case .setResponderTiers: break
        case .beginNextTier:
            alarming.insert(account)
            alerting.insert(account)
            telling.insert(account)
        }
    }
}
