import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary

// Contacts finds that pings weren't answered in time, session raises the alert, and contacts hears what came of it.

extension ContactsPolicy {
    func escalationCommands(for event: PingEscalationEvent, in message: RecordedMessage) -> [PolicyCommand] {
        switch event {
        case .pingWarned(let event):
            // It waited for so long that an alert is raised now.
            guard message.recordedAt < event.due else { return [] }
            // Critical, as what is said of the grace after a deadline, or else as a reminder: of no other kind, since apps of 0.1.0 end their
            // streams at one that they don't know.
            let details = NotificationDetails(
                at: event.at, deadline: event.due, graceEnds: event.due, pinged: event.sent, pinger: event.contact,
                text: "Somebody asked whether you are all right. Answer soon, or your responders are told.")
            let warning = DeliverNotification(
                id: Self.warning(of: event.contact, event.sent, due: event.due, event.account),
                kind: event.isRepeated == true ? .checkInReminder : .checkInMissed, subject: event.contact,
                details: details)
            return [.tell(.notifications, warning, for: event.account)]
        case .pingWarningEnded(let event):
            let id = Self.warning(of: event.contact, event.sent, due: event.due, event.account)
            let clear = ClearNotifications(selection: NotificationSelection(ids: [id]))
            return [.tell(.notifications, clear, for: event.account)]
        case .pingsUnanswered(let event):
            let raise = RaiseUnansweredAlert(account: event.account, pings: event.pings, found: event.at)
            return [.tell(.session, raise, for: event.account)]
        case .unansweredPingsEnded(let event):
            let end = EndUnansweredAlert(account: event.account, pings: event.pings, answered: event.answered)
            guard let answered = event.answered else { return [.tell(.session, end, for: event.account)] }
            // Whatever was asked before is answered, whoever asked: session raises nothing for it, so its senders may ask again.
            let settle = SettleUnansweredPings(account: event.account, allRight: answered, at: message.recordedAt)
            return [.tell(.session, end, for: event.account), .tell(.contacts, settle, for: event.account)]
        case .pingEscalationSet, .pingQuietHoursSet, .pingDueSet: return []
        }
    }

    /// Named after the ping, so that it can be found when the ping is over, and after when the alert is due: a ping that is put off warns
    /// again, and a second notification of one name would be dropped.
    private static func warning(
        of contact: AccountID, _ sent: Instant, due: Instant?, _ account: AccountID
    ) -> NotificationID {
        .derived(
            at: sent, from: Array("notification/ping/warning".utf8), account.bytes, contact.bytes,
            Array([sent, due].compactMap(\.self).map { "\($0.microseconds)" }.joined(separator: " ").utf8))
    }
}

extension SessionPolicy {
    /// Pings weren't answered in time: responders are told, and the person that an alert is on.
    func announceUnanswered(
        _ event: AlertRaised, _ pings: [UnansweredPing], because message: RecordedMessage
    ) -> [PolicyCommand] {
        let first = pings.min { $0.recorded < $1.recorded }
        let relay = RelayAlert(kind: .alertRaised, alarm: event.alarm, occurred: event.at, pinged: first?.sent)
        let told = told(
            event.account, event.alarm, pings, at: event.at,
            "You haven’t answered a ping: an alert is on. Answer it if you are all right, or ask for help.",
            because: message)
        let settle = SettleUnansweredPings(
            account: event.account, pings: pings, alarm: event.alarm, isRaised: true, at: message.recordedAt)
        return told + [
            .tell(.contacts, relay, for: event.account), .tell(.contacts, settle, for: event.account),
        ]
    }

    /// Pings weren't answered in time while an alert is on.
    func add(
        _ pings: [UnansweredPing], _ event: AlertRaisedAgain, because message: RecordedMessage
    ) -> [PolicyCommand] {
        let forget = ForgetAnswers(alarm: event.alarm, before: event.pressed, isLate: true)
        // By hand, perhaps: an answer may not end it.
        let told = told(
            event.account, event.alarm, pings, at: event.at,
            "You haven’t answered a ping, and an alert is on. End the alert if you are all right.", because: message)
        let settle = SettleUnansweredPings(
            account: event.account, pings: pings, alarm: event.alarm, at: message.recordedAt)
        return [.tell(.contacts, forget, for: event.account)] + told + [.tell(.contacts, settle, for: event.account)]
    }

    /// Nothing more comes of these pings: contacts needn't repeat them, and whoever sent them may ask again.
    func discard(_ event: UnansweredPingsDiscarded, because message: RecordedMessage) -> PolicyCommand {
        let settle = SettleUnansweredPings(
            account: event.account, pings: event.pings, alarm: event.alarm, isRaised: event.isRaised ?? false,
            at: message.recordedAt)
        return .tell(.contacts, settle, for: event.account)
    }

    /// The person has said that they are all right: no ping sent before raises an alert.
    func allRight(_ account: AccountID, said: Instant?, because message: RecordedMessage) -> [PolicyCommand] {
        guard let said else { return [] }
        let settle = SettleUnansweredPings(account: account, allRight: said, at: message.recordedAt)
        return [.tell(.contacts, settle, for: account)]
    }

    private func told(
        _ account: AccountID, _ alarm: AlarmID, _ pings: [UnansweredPing], at time: Instant, _ text: String,
        because message: RecordedMessage
    ) -> [PolicyCommand] {
        guard let ping = pings.min(by: { $0.recorded < $1.recorded }) else { return [] }
        let details = NotificationDetails(
            at: time, pinged: ping.sent, pinger: ping.contact, alarm: alarm, text: text)
        return [.notify(account, .alertRaised, about: ping.contact, details, because: message)]
    }
}
