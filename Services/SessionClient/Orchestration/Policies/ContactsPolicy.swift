package import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
package import QuartetVocabulary

/// When contacts says something, tell those whom it concerns.
package struct ContactsPolicy: Policy {
    package let name: StaticString = "contacts"

    package init() {}

    package func commands(for event: ContactsEvent, in message: RecordedMessage) -> [PolicyCommand] {
        let account = event.account
        func notify(
            _ kind: NotificationKind, about contact: AccountID, _ details: NotificationDetails
        ) -> PolicyCommand {
            .notify(account, kind, about: contact, details, because: message)
        }
        /// What these were about is over: they go, though they may have come late. Somebody else's of that moment may still
        /// be on its way, and waits for an answer.
        func clear(_ kinds: [NotificationKind], from contact: AccountID, by time: Instant) -> PolicyCommand {
            .tell(.notifications, ClearNotifications(kinds, from: [contact], by: time), for: account)
        }

        switch event {
        case .contactRequestReceived(let event):
            return [
                notify(
                    .contactRequested, about: event.request.account,
                    .init(
                        at: event.request.requested, isMyResponder: event.request.isMyResponder,
                        iAmResponder: event.request.iAmResponder))
            ]
        case .contactRequestEnded(let event):
            func tell(_ kind: NotificationKind) -> PolicyCommand {
                notify(kind, about: event.contact, .init(at: event.at))
            }
            switch (event.direction, event.reason) {
            case (.outgoing, .declined): return [tell(.contactRequestDeclined)]
            case (.outgoing, .expired): return [tell(.contactRequestExpired)]
            case (.outgoing, _): return []
            case (.incoming, .withdrawn):
                return [
                    clear([.contactRequested], from: event.contact, by: event.at), tell(.contactRequestWithdrawn),
                ]
            case (.incoming, _): return [clear([.contactRequested], from: event.contact, by: event.at)]
            }
        case .contactAdded(let event):
            let contact = event.contact
            guard event.isAcceptance else {
                return [notify(.contactAdded, about: contact.account, .roles(of: contact))]
            }
            guard event.by == account else {
                return [notify(.contactRequestAccepted, about: contact.account, .roles(of: contact))]
            }
            return [
                clear([.contactRequested], from: contact.account, by: contact.added),
                notify(.contactAdded, about: contact.account, .roles(of: contact)),
            ]
        case .contactUpdated(let event):
            let contact = event.contact
            guard event.rolesChanged else { return [] }
            // Who isn't their responder any more hears nothing of an alarm: a drill of theirs must not stay for it to be taken for.
            let past = contact.iAmResponder ? [] : [clear([.system], from: contact.account, by: contact.updated)]
            guard event.isAcceptance else {
                return past + [notify(.contactRoleChanged, about: contact.account, .roles(of: contact))]
            }
            guard event.by == account else {
                return past + [notify(.roleChangeAccepted, about: contact.account, .roles(of: contact))]
            }
            return past + [
                clear([.roleChangeRequested], from: contact.account, by: contact.updated),
                notify(.contactRoleChanged, about: contact.account, .roles(of: contact)),
            ]
        case .roleChangeRequested(let event):
            return event.direction == .incoming
                ? [notify(.roleChangeRequested, about: event.contact, .init(at: event.at))] : []
        case .roleChangeEnded(let event):
            func tell(_ kind: NotificationKind) -> PolicyCommand {
                notify(kind, about: event.contact, .init(at: event.at))
            }
            switch (event.direction, event.reason) {
            case (.outgoing, .declined): return [tell(.roleChangeDeclined)]
            case (.outgoing, _): return []
            case (.incoming, .withdrawn):
                return [
                    clear([.roleChangeRequested], from: event.contact, by: event.at), tell(.roleChangeWithdrawn),
                ]
            case (.incoming, _): return [clear([.roleChangeRequested], from: event.contact, by: event.at)]
            }
        case .contactRemoved(let event):
            // Nobody can answer somebody who is gone, and a drill of theirs must not be taken for what comes after. Each side withdraws what it offered to the other.
            return [
                .tell(.session, WithdrawInvitations(contact: event.contact), for: account),
                clear([.pingReceived, .roleChangeRequested, .system], from: event.contact, by: event.at),
                notify(.contactRemoved, about: event.contact, .init(at: event.at)),
            ]
        case .pingSent(let event):
            return [notify(.pingSent, about: event.contact, .init(at: event.at))]
        case .pingReceived(let event):
            let past = event.replaced.map { [clear([.pingReceived], from: event.contact, by: $0)] } ?? []
            return past + [notify(.pingReceived, about: event.contact, .init(at: event.at))]
        case .pingCancelled(let event):
            guard event.direction == .incoming else { return [] }
            return [
                clear([.pingReceived], from: event.contact, by: event.at),
                notify(.pingCancelled, about: event.contact, .init(at: event.at)),
            ]
        case .pingAnswered(let event):
            switch event.direction {
            case .incoming: return [clear([.pingReceived], from: event.contact, by: event.at)]
            case .outgoing: return [.acknowledge(event, because: message)]
            }
        case .receivedPingsCleared(let event):
            return ClearNotifications.ofPings(in: event).map { .tell(.notifications, $0, for: account) }
        case .responderAlerted(let event):
            return [
                notify(
                    event.kind.notification, about: event.dependent,
                    .init(
                        at: event.occurred, deadline: event.deadline, pinged: event.pinged, pressed: event.pressed,
                        count: event.repetition > 0 ? event.repetition : nil, alarm: event.alarm))
            ]
        case .alarmEnded(let event):
            return [
                notify(
                    event.reason.notification, about: event.dependent,
                    .init(
                        at: event.occurred, deadline: event.deadline, alarm: event.alarm, text: event.reason.sentence))
            ]
        case .alarmAcknowledged(let event):
            guard event.isNews == true, let sentence = event.sentence else { return [] }
            let isOwn = account == event.dependent
            // The person may want to deny it: their devices ask.
            let kind: NotificationKind =
                isOwn && event.answer != .onIt ? event.kind.own : .system
            let details = NotificationDetails(
                at: event.answered, alarm: kind == .system ? nil : event.alarm, text: sentence)
            return [.notify(account, kind, about: isOwn ? nil : event.dependent, details, because: message)]
        case .pauseAnnounced(let event):
            return [
                notify(
                    .system, about: event.dependent,
                    .init(
                        at: event.occurred, deadline: event.due, pausedUntil: event.until, text: event.change.sentence))
            ]
        case .alarmHoldChanged(let event):
            guard let kind = event.kind.alarm else { return [] }
            let hold = HoldAlarm(
                account: account, alarm: event.alarm, kind: kind, hold: event.hold, version: event.version)
            return [.tell(.session, hold, for: account)]
        case .alarmClosingDecided(let event):
            guard let kind = event.kind.alarm else { return [] }
            let closing = CloseAlarm(
                account: account, alarm: event.alarm, kind: kind, decided: event.version, decidedAt: event.at)
            return [.tell(.session, closing, for: account)]
        case .alarmUnanswered(let event):
            let details = NotificationDetails(at: event.at, alarm: event.alarm, text: event.sentence)
            return [.notify(account, event.kind.own, details, because: message)]
        case .renewalAsked(let event):
            // It waited for so long that their time is over.
            guard message.recordedAt < event.until else { return [] }
            // Of no other kind: apps of 0.1.0 end their streams at one that they don't know.
            let question = DeliverNotification(
                id: Self.renewal(of: event.alarm, account, asked: event.at), kind: .system, subject: event.dependent,
                details: .init(at: event.at, onItUntil: event.until, text: Self.renewalQuestion))
            return [.tell(.notifications, question, for: account)]
        case .renewalSettled(let event):
            let selection = NotificationSelection(ids: [Self.renewal(of: event.alarm, account, asked: event.asked)])
            return [.tell(.notifications, ClearNotifications(selection: selection), for: account)]
        case .responderReachSettled(let event):
            let clear = ClearNotifications([.system], from: [account], by: event.at)
            guard let text = event.sentence else { return [.tell(.notifications, clear, for: account)] }
            return [
                .tell(.notifications, clear, for: account),
                notify(.system, about: account, .init(at: event.at, text: text)),
            ]
        case .drill(let event): return commands(for: event)
        case .pingEscalation(let event): return escalationCommands(for: event, in: message)
        case .contactsOpened, .contactsClosed, .contactCodeReset, .contactApprovalSet, .contactRequestSent,
            .contactBlocked, .contactUnblocked, .alertRelayed, .responderReachChanged, .responderTiersSet, .tierBegan:
            return []
        }
    }

    private static let renewalQuestion =
        "Are you still on it? Your time ends soon. If you can’t go on, say so."

    /// Named after when it was asked, so that it is found when that is settled.
    private static func renewal(of alarm: AlarmID, _ account: AccountID, asked: Instant) -> NotificationID {
        .derived(
            at: asked, from: Array("notification/renewal".utf8), account.bytes, alarm.bytes,
            Array("\(asked.microseconds)".utf8))
    }
}

extension ResponderReachSettled {
    /// What the account is notified of, if anything. A kind of its own would end the streams of 0.1.0's apps, which can't read it.
    fileprivate var sentence: String? {
        switch reach {
        case .nobody: "Nobody would be told if you missed a check-in. Add a responder."
        case .unreachable where responders == 1:
            "The one responder who hears when you miss a check-in couldn't be reached for a long time."
        case .unreachable:
            "None of the \(responders) responders who hear when you miss a check-in could be reached for a long time."
        case .reachable: nil
        }
    }
}

extension AlarmAcknowledged {
    /// What is said of it to the dependent, or to the others who were told. It names nobody; the account's state does.
    fileprivate var sentence: String? {
        let isOwn = account == dependent
        return switch answer {
        case .onIt: isOwn ? "A responder is on your alarm." : "Another responder is on the alarm."
        case .safe:
            isOwn
                ? "A responder says that you are safe. If you still need help, ask for it again. If you are safe, end the alarm."
                : "Another responder says: reached, and safe. If you know otherwise, say that help is needed."
        case .needsHelp:
            isOwn ? "A responder says that you need help." : "Another responder says that help is needed."
        case .cannot, nil: nil
        }
    }
}

extension PauseChange {
    /// What a responder is notified of, besides whom it is about and the times.
    fileprivate var sentence: String {
        switch self {
        case .began: "The check-ins are paused."
        case .changed: "The pause of check-ins has another end."
        case .ended: "The pause is over: check-ins go on."
        }
    }
}

extension AlarmUnanswered {
    fileprivate var sentence: String {
        switch reason {
        case _ where responders == 0: "Nobody who hears of your alarm is your responder now. Call somebody if you can."
        case .silence: "Nobody is on your alarm yet. Your responders are told again every six hours."
        case .allCannot:
            "All who were told of your alarm say that they can’t do anything. Call somebody else if you can."
        }
    }
}

extension AlertKind {
    /// What the person with the alarm is notified of.
    fileprivate var own: NotificationKind {
        switch self {
        case .alertRaised, .alertCleared: .alertRaised
        case .checkInMissed, .checkedIn: .checkInMissed
        }
    }

    /// What began the alarm; nil if it doesn't begin one.
    fileprivate var alarm: AlarmKind? {
        switch self {
        case .alertRaised: .alertRaised
        case .checkInMissed: .checkInMissed
        case .alertCleared, .checkedIn: nil
        }
    }

    /// What a responder is notified of.
    fileprivate var notification: NotificationKind {
        switch self {
        case .alertRaised: .dependentAlertRaised
        case .alertCleared: .dependentAlertCleared
        case .checkInMissed: .dependentCheckInMissed
        case .checkedIn: .dependentCheckedIn
        }
    }
}

extension AlarmEndReason {
    /// What a responder who had heard of the alarm is notified of.
    fileprivate var notification: NotificationKind {
        switch self {
        case .cleared: .dependentAlertCleared
        case .checkedIn: .dependentCheckedInLate
        case .closed, .removed, .superseded, .unanswered, .saidSafe: .dependentAlarmEnded
        }
    }
}

extension AlarmEndReason {
    /// What is said besides that it is over; nothing if the dependent ended it.
    fileprivate var sentence: String? {
        switch self {
        case .unanswered: "They never ended it; it was closed after 30 days."
        case .saidSafe: "They didn’t end it; it was closed because a responder said a day ago that they are safe."
        case .checkedIn, .cleared, .closed, .removed, .superseded: nil
        }
    }
}

extension ClearNotifications {
    /// Those of these kinds about these contacts up to a time.
    init(_ kinds: [NotificationKind], from contacts: [AccountID], by time: Instant) {
        self.init(selection: .init(kinds: kinds, subjects: contacts, occurredBy: time))
    }

    /// Those of the pings that were answered at once: as many commands as it takes to name all their senders. Pings
    /// that still wait keep theirs.
    static func ofPings(in event: ReceivedPingsCleared) -> [Self] {
        let limit = NotificationSelection.subjectLimit
        return stride(from: 0, to: event.contacts.count, by: limit).map { start in
            Self([.pingReceived], from: Array(event.contacts.dropFirst(start).prefix(limit)), by: event.at)
        }
    }
}

extension NotificationDetails {
    fileprivate static func roles(of contact: Contact) -> Self {
        Self(at: contact.updated, isMyResponder: contact.isMyResponder, iAmResponder: contact.iAmResponder)
    }
}
