import QuartetContractSupport
package import QuartetNotificationsContract
package import QuartetVocabulary

package struct ShownKey: Hashable, Comparable, Sendable {
    package let account: AccountID
    package let notification: NotificationID
    package let device: PushDeviceID

    package init(_ account: AccountID, _ notification: NotificationID, _ device: PushDeviceID) {
        self.account = account
        self.notification = notification
        self.device = device
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.account, left.notification, left.device) < (right.account, right.notification, right.device)
    }
}

/// A notification was shown on a device.
package struct ShownRow: Equatable, Sendable {
    package var at: Instant
    /// When the device reported it.
    package var heard: Instant
}

extension ShownRow {
    package static let blank = Self(at: .blank, heard: .blank)
}

extension NotificationsReducer {
    static func reduce(
        _ rows: inout NotificationsRows, _ command: ReadingCommand, _ account: AccountID, _ context: CommandContext
    ) throws(Rejection) -> [NotificationsEvent] {
        let time = context.time
        return switch command {
        case .markRead(let command): try markRead(&rows, command, account, time)
        case .markAllRead(let command): markAllRead(&rows, command, account, time)
        case .clearNotifications(let command): clear(&rows, command.selection, account, time)
        case .showNotifications(let command): show(&rows, command, account, time)
        case .answerDrill(let command): try answerDrill(&rows, command, account, context)
        case .forgetOldNotifications: forgetOld(&rows, account, time)
        }
    }

    static func markRead(
        _ rows: inout NotificationsRows, _ command: MarkRead, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        guard let notification = rows[account, command.id] else {
            throw Rejection(
                .notFound, "You have no such notification; it may have been deleted.", field: "id")
        }
        guard notification.isUnread else { return [] }
        rows[account, command.id]?.read = time
        rows.accounts[account]?.unread -= 1
        return [
            .notificationRead(.init(account: account, id: command.id, at: time, unread: rows.unread(of: account)))
        ]
    }

    /// Only while the drill is on: later it would say when somebody looked, and not whether an alarm would have reached them.
    static func answerDrill(
        _ rows: inout NotificationsRows, _ command: AnswerDrill, _ account: AccountID, _ context: CommandContext
    ) throws(Rejection) -> [NotificationsEvent] {
        let (time, clock) = (context.time, min(context.recordedAt, context.time))
        guard let drill = rows[account, command.id], drill.details.isOfDrill, drill.cleared == nil,
            let end = drill.details.endOfUse(of: drill.kind), clock < end
        else { throw Rejection(.notFound, "This drill is over.", field: "id") }
        guard drill.answered == nil else { return [] }
        if drill.isUnread { rows.accounts[account]?.unread -= 1 }
        rows[account, command.id]?.read = drill.read ?? time
        rows[account, command.id]?.answered = time
        return [.drillAnswered(.init(account: account, id: command.id, at: time, unread: rows.unread(of: account)))]
    }

    static func markAllRead(
        _ rows: inout NotificationsRows, _ command: MarkAllRead, _ account: AccountID, _ time: Instant
    ) -> [NotificationsEvent] {
        let unread = rows.history(of: account).filter { $0.isUnread && $0.created <= command.upTo ?? $0.created }
        guard !unread.isEmpty else { return [] }
        for notification in unread { rows[account, notification.id]?.read = time }
        rows.accounts[account]?.unread -= unread.count
        let left = rows.unread(of: account)
        return [
            .allNotificationsRead(
                .init(account: account, upTo: left > 0 ? command.upTo : nil, at: time, unread: left))
        ]
    }

    static func clear(
        _ rows: inout NotificationsRows, _ selection: NotificationSelection, _ account: AccountID, _ time: Instant
    ) -> [NotificationsEvent] {
        dropHeld(&rows, selection, of: account, time)
        let cleared = rows.history(of: account).filter(selection.matches)
        guard !cleared.isEmpty else { return [] }
        for notification in cleared { rows[account, notification.id]?.cleared = time }
        rows.accounts[account]?.unread -= cleared.count(where: \.isUnread)
        return [
            .notificationsCleared(
                .init(
                    account: account, selection: selection, count: cleared.count, at: time,
                    unread: rows.unread(of: account)))
        ]
    }

    static func show(
        _ rows: inout NotificationsRows, _ command: ShowNotifications, _ account: AccountID, _ time: Instant
    ) -> [NotificationsEvent] {
        let new = command.ids.filter {
            rows[account, $0] != nil && rows.shown[ShownKey(account, $0, command.device)] == nil
        }
        guard !new.isEmpty else { return [] }
        let shown = min(command.shown ?? time, time)
        for id in new { rows.shown[ShownKey(account, id, command.device)] = ShownRow(at: shown, heard: time) }
        return [
            .notificationsShown(
                .init(account: account, ids: new, device: command.device, shown: shown, at: time))
        ]
    }

    static func forgetOld(
        _ rows: inout NotificationsRows, _ account: AccountID, _ time: Instant
    ) -> [NotificationsEvent] {
        guard var row = rows.accounts[account] else { return [] }
        let before = time - rows.limits.age
        let old = rows.history(of: account).filter { $0.created < before }
        for notification in old { rows[account, notification.id] = nil }
        row.unread -= old.count(where: \.isUnread)
        row.total -= old.count
        // Also when nothing is old enough yet: the notification that the timer was set for may have made room for
        // another. If more is left than was loaded, because the clock went back, look again at once.
        row.forgetting =
            rows.oldest(of: account).map { $0.created + rows.limits.age } ?? (row.total > 0 ? time : nil)
        rows.accounts[account] = row
        guard !old.isEmpty else { return [] }
        return [.notificationsForgotten(.init(account: account, before: before, count: old.count, unread: row.unread))]
    }
}

extension NotificationsRows {
    func unread(of account: AccountID) -> Int { accounts[account]?.unread ?? 0 }
}

extension NotificationsRows.Selection {
    mutating func add(_ command: ReadingCommand, of account: AccountID) {
        switch command {
        case .markRead(let command): named.insert(NotificationKey(account, command.id))
        case .answerDrill(let command): named.insert(NotificationKey(account, command.id))
        case .markAllRead: reading.insert(account)
        case .clearNotifications(let command):
            if let ids = command.selection.ids {
                for id in ids { named.insert(NotificationKey(account, id)) }
            } else if let groups = command.selection.groups {
                self.groups[account, default: []].formUnion(groups)
            } else {
                reading.insert(account)
            }
            scheduling.insert(account)
        case .showNotifications(let command):
            for id in command.ids {
                named.insert(NotificationKey(account, id))
                showing.insert(ShownKey(account, id, command.device))
            }
        case .forgetOldNotifications:
            forgetting[account] = 1
            scheduling.insert(account)
            woken.insert(account)
        }
    }
}
