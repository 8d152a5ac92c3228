import QuartetContactsContract
import QuartetNotificationsContract
import QuartetVocabulary

extension PolicyCommand {
    /// Asks a service on behalf of an account, in the account's order.
    static func tell(_ domain: Domain, _ command: any CommandBody, for account: AccountID) -> Self {
        PolicyCommand(command, to: domain.commands, key: .account(account), account: account)
    }

    /// Notifies an account, once per cause.
    static func notify(
        _ account: AccountID, _ kind: NotificationKind, about subject: AccountID? = nil, _ details: NotificationDetails,
        because cause: RecordedMessage
    ) -> Self {
        let time = cause.message.id.time ?? cause.recordedAt
        let id = NotificationID.derived(
            at: time, from: Array("notification/event".utf8), cause.message.id.bytes, Array(kind.rawValue.utf8))
        return tell(
            .notifications, DeliverNotification(id: id, kind: kind, subject: subject, details: details), for: account)
    }

    /// Notifies the sender of a ping of its answer.
    static func acknowledge(_ answer: PingAnswered, because cause: RecordedMessage) -> Self {
        guard let command = cause.message.commandID else {
            return notify(
                answer.account, .pingAnswered, about: answer.contact, .init(at: answer.at), because: cause)
        }
        return tell(
            .notifications,
            DeliverNotification.pingAnswered(by: answer.contact, to: answer.account, at: answer.at, command: command),
            for: answer.account)
    }
}

extension DeliverNotification {
    /// Notifies the sender of a ping of its answer. The notification is named after the command that answered, so it is
    /// delivered once, whether the policy or a saga is first.
    static func pingAnswered(
        by contact: AccountID, to pinger: AccountID, at time: Instant, command: CommandID
    ) -> Self {
        DeliverNotification(
            id: .derived(
                at: command.time ?? time, from: Array("notification/pingAnswered".utf8), command.bytes, pinger.bytes),
            kind: .pingAnswered, subject: contact, details: .init(at: time))
    }
}
