package import QuartetContactsContract
import QuartetNotificationsContract
package import QuartetSessionContract
package import QuartetVocabulary

/// When session says something, tell contacts and notifications.
package struct SessionPolicy: Policy {
    package let name: StaticString = "session"
    private let code: @Sendable (MessageID, Instant) -> ContactCode

    /// - Parameter code: Makes an account's first contact code, the same each time the event is handled.
    package init(code: @escaping @Sendable (MessageID, Instant) -> ContactCode) {
        self.code = code
    }

    package func commands(for event: SessionEvent, in message: RecordedMessage) -> [PolicyCommand] {
        let account = event.account
        func notify(_ kind: NotificationKind, _ details: NotificationDetails) -> PolicyCommand {
            .notify(account, kind, details, because: message)
        }
        /// Only a session that marks the day is sure to run beside contacts that know this command: contacts are upgraded first.
        func reached(_ isFirstOfDay: Bool?) -> [PolicyCommand] {
            isFirstOfDay == true ? [.tell(.contacts, RecordReached(), for: account)] : []
        }
        func relay(_ alert: RelayAlert) -> PolicyCommand { .tell(.contacts, alert, for: account) }
        /// Named after the deadline, so that it is found when the grace is over.
        func grace(of deadline: Instant) -> NotificationID {
            .derived(
                at: deadline, from: Array("notification/grace".utf8), account.bytes,
                Array("\(deadline.microseconds)".utf8))
        }
        func clearGrace(of deadline: Instant) -> PolicyCommand {
            let selection = NotificationSelection(ids: [grace(of: deadline)])
            return .tell(.notifications, ClearNotifications(selection: selection), for: account)
        }
        func announce(_ change: PauseChange, until: Instant?, due: Instant, at time: Instant) -> PolicyCommand {
            .tell(.contacts, AnnouncePause(change: change, until: until, due: due, occurred: time), for: account)
        }
        func announce(_ alarm: AlarmID, raised: Instant, _ late: LateCall?) -> [PolicyCommand] {
            [
                notify(.alertRaised, .init(at: late?.received ?? raised, pressed: late?.pressed, alarm: alarm)),
                relay(.init(kind: .alertRaised, alarm: alarm, occurred: raised, lateCall: late)),
            ]
        }

        switch event {
        case .accountOpened:
            let code = code(message.message.id, message.message.id.time ?? message.recordedAt)
            return [
                .tell(.contacts, QuartetContactsContract.OpenAccount(code: code), for: account),
                .tell(.notifications, QuartetNotificationsContract.OpenAccount(), for: account),
            ]
        case .deviceSignedIn(let event):
            guard !event.isFirst else { return [] }
            return [notify(.newDevice, .init(at: event.at, text: event.device.name))] + reached(event.isFirstOfDay)
        case .deviceRefreshed(let event): return reached(event.isFirstOfDay)
        case .deviceSignedOut(let event):
            // A device that didn't leave by itself still hears why.
            let unregister = UnregisterPush(
                device: PushDeviceID(event.device), stillWarns: event.reason == .signedOut ? nil : true,
                isSignedOut: true)
            return [.tell(.notifications, unregister, for: account)]
        case .passwordChanged(let event):
            return [notify(.passwordChanged, .init(at: event.at))]
        case .phoneChanged(let event):
            return [notify(.phoneChanged, .init(at: event.at))]
        case .securityUpdated(let event):
            return [notify(.securityChanged, .init(at: event.at))]
        case .recoveryCodesMade(let event):
            return [notify(.recoveryCodesMade, .init(at: event.at, count: event.count))]
        case .recoveryCodeUsed(let event):
            return [notify(.recoveryCodeUsed, .init(at: event.at, count: event.left))]
        case .securityChangesUndone(let event):
            return [notify(.securityUndone, .init(at: event.at, count: event.changes.count))]
        case .checkedIn(let event):
            let relayed = relay(.init(kind: .checkedIn, alarm: event.alarm, occurred: event.at, deadline: event.ended))
            return [relayed] + (event.graced.map { [clearGrace(of: $0)] } ?? [])
        case .checkInReminded(let event):
            return [
                notify(.checkInReminder, .init(at: event.at, deadline: event.deadline, lead: event.lead.interval))
            ]
        case .pauseReminded(let event):
            // It waited for so long that the pause is over.
            guard message.recordedAt < event.until else { return [] }
            return [
                notify(.checkInReminder, .init(at: event.at, deadline: event.due, pausedUntil: event.until))
            ]
        case .dailyCheckInsMoved(let event):
            // Only that it is one of the daily times again: nothing changes for the person.
            guard event.due != event.former else { return [] }
            return [notify(.system, .init(at: event.at, text: event.sentence))]
        case .checkInsPaused(let event):
            let change: PauseChange = event.former == nil ? .began : .changed
            return [announce(change, until: event.until, due: event.due, at: event.at)]
        case .checkInsResumed(let event):
            return [announce(.ended, until: nil, due: event.due, at: event.at)]
        case .checkInMissed(let event):
            return [
                notify(
                    .checkInMissed,
                    .init(at: event.at, deadline: event.deadline, graceEnds: event.graceEnded, alarm: event.alarm)),
                relay(.init(kind: .checkInMissed, alarm: event.alarm, occurred: event.at, deadline: event.deadline)),
            ] + (event.graceEnded == nil ? [] : [clearGrace(of: event.deadline)])
        case .checkInGraceBegan(let event):
            let details = NotificationDetails(at: event.at, deadline: event.deadline, graceEnds: event.ends)
            let told = DeliverNotification(id: grace(of: event.deadline), kind: .checkInMissed, details: details)
            return [.tell(.notifications, told, for: account)]
        case .alarmRepeated(let event):
            switch event.kind {
            case .checkInMissed:
                return [
                    relay(
                        .init(
                            kind: .checkInMissed, alarm: event.alarm, occurred: event.at, deadline: event.since,
                            repetition: event.repetition, isSlow: event.isSlow))
                ]
            case .alertRaised:
                return [
                    relay(
                        .init(
                            kind: .alertRaised, alarm: event.alarm, occurred: event.since, deadline: event.eta,
                            pinged: event.pinged, lateCall: event.lateCall, repetition: event.repetition,
                            isSlow: event.isSlow))
                ]
            }
        case .alertRaised(let event):
            if let trip = event.trip { return announceTrip(event, trip, because: message) }
            if let pings = event.pings { return announceUnanswered(event, pings, because: message) }
            return event.waitsUntil == nil ? announce(event.alarm, raised: event.at, event.lateCall) : []
        case .alertAnnounced(let event):
            return announce(event.alarm, raised: event.raised, event.lateCall)
        case .alertCleared(let event):
            let allRight = allRight(account, said: event.said, because: message)
            guard event.wasAnnounced else { return allRight }
            return [
                notify(.alertCleared, .init(at: event.at, alarm: event.alarm)),
                relay(.init(kind: .alertCleared, alarm: event.alarm, occurred: event.at)),
            ] + allRight
        case .alertRaisedAgain(let event):
            if let pings = event.pings { return add(pings, event, because: message) }
            // Somebody who hasn't arrived hasn't called for help.
            let forget = ForgetAnswers(
                alarm: event.alarm, before: event.pressed, isLate: event.trip == nil ? nil : true,
                lateCall: event.lateCall)
            let said = event.trip.map { say($0, of: event, because: message) } ?? []
            return [.tell(.contacts, forget, for: account)] + said
        case .unansweredPingsDiscarded(let event): return [discard(event, because: message)]
        case .alarmClosingDue(let event):
            return [.tell(.contacts, DecideClosing(alarm: event.alarm, version: event.version), for: account)]
        case .alarmClosed(let event):
            let kind: AlertKind = event.kind == .alertRaised ? .alertCleared : .checkedIn
            let deadline = event.kind == .checkInMissed ? event.since : nil
            return [
                notify(.system, .init(at: event.at, text: event.reason.sentence)),
                relay(
                    .init(
                        kind: kind, alarm: event.alarm, occurred: event.at, deadline: deadline,
                        reason: event.reason == .saidSafe ? .saidSafe : .unanswered)),
            ]
        // A closed account's other parts are closed by the saga that closed it.
        case .accountClosed, .signInFailed, .profileUpdated,
            .phoneCodeIssued, .phoneCodeFailed, .identityConfirmed, .avatarSet, .avatarRemoved, .checkInIntervalSet,
            .checkInRemindersSet, .checkInGraceSet, .dailyCheckInsSet, .unansweredPingsDropped, .game, .message,
            .playback, .attachment:
            return []
        case .trip(let event): return commands(for: event, because: message)
        case .drill(let event): return commands(for: event, because: message)
        case .group(let event): return commands(for: event, because: message)
        }
    }

    /// An invitation is a notification for as long as it stands. So is that the session has started, until the one who was told joins,
    /// leaves or can't come any more. People are notified only by those who invited them or are in a session with them, and each of these
    /// is paced.
    private func commands(for event: GroupEvent, because message: RecordedMessage) -> [PolicyCommand] {
        func withdraw(_ accounts: [AccountID], _ group: GroupID, at time: Instant) -> [PolicyCommand] {
            let selection = NotificationSelection(
                kinds: [.groupInvitation, .groupStarted], groups: [group], occurredBy: time)
            return accounts.map { .tell(.notifications, ClearNotifications(selection: selection), for: $0) }
        }
        func notify(
            _ accounts: [AccountID], _ kind: NotificationKind, about subject: AccountID, of group: GroupID,
            at time: Instant
        ) -> [PolicyCommand] {
            accounts.map {
                .notify($0, kind, about: subject, .init(at: time, group: group), because: message)
            }
        }
        switch event {
        case .participantsInvited(let event):
            return notify(event.invited, .groupInvitation, about: event.account, of: event.group, at: event.at)
        case .invitationWithdrawn(let event): return withdraw([event.account], event.group, at: event.at)
        case .participantJoined(let event):
            let joined = withdraw([event.account], event.group, at: event.at)
            guard let start = event.start else { return joined }
            return joined
                + notify([start.host], .groupStarted, about: event.account, of: event.group, at: event.at)
                + notify(start.invited, .groupStarted, about: start.host, of: event.group, at: event.at)
        case .groupSessionEnded(let event):
            let others = event.participants.filter { $0 != event.account }
            return withdraw(event.participants + event.invited, event.group, at: event.at)
                + notify(
                    others + (event.guests ?? []), .groupEnded, about: event.account, of: event.group, at: event.at)
        // They may be the host who was told that it has started. Who isn't in it at its end hears of it here at the latest.
        case .participantLeft(let event): return withdraw([event.account], event.group, at: event.at)
        case .groupSessionCreated, .participantUpdated, .participantDisconnected, .participantConnected,
            .hostTransferred:
            return []
        }
    }
}

extension DailyCheckInsMoved {
    /// What the person is notified of. It has no details: with a deadline it would be about a pause.
    fileprivate var sentence: String {
        switch (isByZone == true, skipped == nil) {
        case (true, true):
            "The clocks of your time zone are set otherwise than was known. Look when your next check-in is due."
        case (true, false):
            "The clocks of your time zone are set otherwise than was known. A check-in that would be past is left out; look when your next one is due."
        case (false, true):
            "Your next check-in was due at another time than you chose. It is due at your daily times again; look when."
        case (false, false):
            "Your next check-in was due at another time than you chose. It is due at your daily times again, without one that would be past; look when."
        }
    }
}

extension AlarmCloseReason {
    /// What the person is notified of.
    fileprivate var sentence: String {
        switch self {
        case .unanswered: "Your alarm was closed after 30 days. Whoever was told hears that you didn’t end it."
        case .saidSafe:
            "Your alarm was closed, because a responder said a day ago that you are safe. Whoever was told hears that you didn’t end it."
        }
    }
}
