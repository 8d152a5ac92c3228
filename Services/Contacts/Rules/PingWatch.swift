import QuartetContactsContract
package import QuartetVocabulary

/// What is kept of a responder's pings that may raise an alert.
package struct PingWatch: Codable, Equatable, Sendable {
    /// The ping that this is about. A process of an earlier release sends and ends pings without changing this row; it says nothing about
    /// any other ping.
    package var sent: Instant?
    /// When it was handled, by the database's clock, of which the rules' time may be far ahead after a failover. Nobody saw it before.
    package var recorded: Instant?
    /// How long it may stay unanswered, as it was chosen when the ping was sent.
    package var after: Interval?
    /// When the alert is raised.
    package var due: Instant?
    /// When the person is warned.
    package var warning: Instant?
    /// Whether quiet hours put it off: then its sender isn't told when it is due, which would say when these end.
    package var isQuiet: Bool?
    /// When the person was warned, by the database's clock.
    package var warned: Instant?
    /// When the alert that the warning was about was due. It is part of the warning's name, since a ping that is put off warns again.
    package var warnedDue: Instant?
    /// Whether that warning was quiet, because there was a loud one within a day, of a ping that was then taken back.
    package var isRepeated: Bool?
    /// When the ping was last found unanswered.
    package var found: Instant?
    /// Whether nothing more comes of it: the alert was raised, or the person has said that they are all right.
    package var isOver: Bool?
    /// Since when a command that waits to be handled has held the alert back.
    package var hold: AlarmHold?
    /// When a ping of this responder last raised an alert.
    package var raised: Instant?
    /// When one was last added to an alert that was on, and to which.
    package var added: Instant?
    package var addedTo: AlarmID?
    /// When the person was last warned loudly of a ping that its sender then took back, by the database's clock.
    package var warnedInVain: Instant?
    /// The ping whose place the one that waits has taken: who answered it may not have seen the other.
    package var replaced: Instant?
    /// The newest that was found unanswered since the person last answered this responder.
    package var missed: UnansweredPing?

    package init() {}

    /// What outlives the ping; nil if nothing does.
    var withoutPing: Self? {
        var kept = Self()
        (kept.raised, kept.added, kept.addedTo, kept.missed) = (raised, added, addedTo, missed)
        kept.warnedInVain = warnedInVain
        return kept == Self() ? nil : kept
    }

    /// Sets when it is due.
    /// - Parameters:
    ///   - time: When it would be, were there no quiet hours.
    ///   - spread: By how much the ends of quiet hours differ, so that not everybody's pings are due at once.
    mutating func plan(_ time: Instant, _ quiet: QuietHours?, spread: Interval) {
        let warned = time - PingEscalation.lead
        (due, warning, isQuiet) = (time, warned, nil)
        guard let quiet else { return }
        let end = [time, warned].filter { quiet.end(for: $0) > $0 }.map(quiet.end).max()
        if let end { wait(until: end, spread: spread) }
    }

    /// Sets when it is due after a late warning: the warning is given now, and the person has as long as was planned. In quiet hours, which
    /// put off each ping once, it waits for their end. It doesn't wait just because the alert would fall into them: that was promised earlier.
    mutating func planLate(at now: Instant, _ quiet: QuietHours?, spread: Interval) {
        guard isQuiet != true, let quiet, quiet.end(for: now) > now else {
            let planned = due.flatMap { due in warning.map { due - $0 } }
            (due, warning) = (now + (planned ?? PingEscalation.lead), now)
            return
        }
        wait(until: quiet.end(for: now), spread: spread)
    }

    /// Puts it off until quiet hours have ended.
    private mutating func wait(until end: Instant, spread: Interval) {
        // The person may just have got up.
        let wait = max(PingEscalation.lead, min(after ?? PingEscalation.longestLead, PingEscalation.longestLead))
        (warning, due, isQuiet) = (end + spread, end + spread + wait, true)
    }
}

extension RelationRow.Side {
    /// What is kept of the ping that waits for an answer, if an alert may have come of it.
    var openWatch: PingWatch? {
        guard let pinged, let watch, watch.sent == pinged, watch.due != nil else { return nil }
        return watch
    }

    /// The same, if an alert may still come of it.
    var pendingWatch: PingWatch? { openWatch.flatMap { $0.isOver == true ? nil : $0 } }

    /// When an alert is raised unless the ping is answered, as whoever was pinged sees it.
    var pingDue: Instant? { pendingWatch?.due }
    /// The same as the sender sees it.
    var shownPingDue: Instant? { pendingWatch.flatMap { $0.isQuiet == true ? nil : $0.due } }
    var isPingLater: Bool? { pendingWatch?.isQuiet }

    /// Ends the ping that waits for an answer. Returns what was kept of it.
    /// - Parameter isTakenBack: Whether its sender does it.
    mutating func endPing(isTakenBack: Bool = false) -> PingWatch? {
        let open = openWatch
        if isTakenBack, let pending = pendingWatch, pending.isRepeated != true, let warned = pending.warned {
            watch?.warnedInVain = warned
        }
        (pinged, watch) = (nil, watch?.withoutPing)
        return open
    }

    /// Whether nothing comes any more of the ping that waits for an answer, of which an alert might have come.
    var isPingOver: Bool? { openWatch?.isOver == true ? true : nil }

    mutating func keep(replaced ping: Instant) {
        var kept = watch ?? PingWatch()
        kept.replaced = ping
        watch = kept
    }

    /// Takes, once, the answer to the ping whose place another has taken.
    /// - Parameter seen: The newest ping that whoever answers knew of; nil for whichever there is.
    mutating func takeReplaced(seen: Instant?) -> Instant? {
        guard let replaced = watch?.replaced, let seen, let pinged, replaced <= seen, seen < pinged else { return nil }
        watch?.replaced = nil
        if watch == PingWatch() { watch = nil }
        return replaced
    }

    /// From now on an answer to what was found unanswered says nothing new.
    mutating func forgetMissed() {
        watch?.missed = nil
        if watch == PingWatch() { watch = nil }
    }
}
