import NotificationsContract
package import Vocabulary

// A push names nobody, so whoever gets an alarm and a drill at about the same time can't tell whose is which: no drill stands beside any alarm.

extension NotificationsReducer {
    /// Clears the account's drills that an alarm makes void, and says of each that it is over: that of others whoever's alarm it is, its own if the
    /// alarm is its own. Of those that told it nothing there is nothing to say; of those it answered or cleared there is, since they may still be
    /// on a device of it. No room is made for that: what would go first are the drills, and with them what their people read of them.
    static func takeDrillsBack(
        _ rows: inout NotificationsRows, becauseOf alarm: Notification, from account: AccountID,
        _ context: CommandContext
    ) -> [NotificationsEvent] {
        let (time, clock) = (context.time, min(context.recordedAt, context.time))
        let isVoid: DrillNews? =
            alarm.kind.beginsAnothersAlarm ? .anothersIsOn : alarm.kind.beginsOwnAlarm ? .ownIsOn : nil
        guard let isVoid else { return [] }
        let drills = rows.history(of: account).filter { told in
            guard told.details.drillNews == isVoid, told.wasTold, let drill = told.details.drill else { return false }
            return rows[account, .ofEndOfDrill(drill, to: account)] == nil
        }
        let uncleared = drills.filter { $0.cleared == nil }.map(\.id)
        let cleared = uncleared.isEmpty ? [] : clear(&rows, NotificationSelection(ids: uncleared), account, time)
        return cleared
            + drills.flatMap { told in
                guard let drill = told.details.drill else { return [NotificationsEvent]() }
                let end = Notification(
                    id: .ofEndOfDrill(drill, to: account), kind: .system, subject: told.subject,
                    details: .endOfDrill(drill, isOwn: isVoid == .ownIsOn, at: time), created: time)
                guard let use = end.details.endOfUse(of: end.kind), use > clock else { return [] }
                return deliver(&rows, end, to: account, makingRoom: false)
            }
    }
}

extension NotificationsRows {
    /// From when on alarms stand in a drill's way: one that is on is repeated more often than once a day.
    package static func alarmsMatter(to drill: DrillID) -> Instant? { drill.time.map { $0 - .days(1) } }

    /// Whether something that is said of a drill isn't so any more, or would be taken for what it isn't.
    func isVoid(_ notification: Notification, for account: AccountID) -> Bool {
        guard let drill = notification.details.drill else { return false }
        switch notification.details.drillNews {
        case .anothersIsOn:
            return alarms(of: account, since: drill).contains { alarm in
                alarm.kind.beginsAnothersAlarm && (alarm.began(since: drill) || !isEnded(alarm, for: account))
            }
        case .ownIsOn:
            return alarms(of: account, since: drill).contains { $0.kind.beginsOwnAlarm && $0.began(since: drill) }
        case .anothersIsOver: return self[account, .ofDrill(drill, to: account)]?.wasTold != true
        case .ownIsOver, nil: return false
        }
    }

    private func alarms(of account: AccountID, since drill: DrillID) -> some Sequence<Notification> {
        let start = Self.alarmsMatter(to: drill)
        return loadedNotifications(of: account).filter { $0.kind.beginsAlarm && $0.created >= start ?? $0.created }
    }
}

extension Notification {
    /// Whether the account could hear of it: what came too late was cleared as it came.
    fileprivate var wasTold: Bool { cleared != created }

    /// Whether the alarm that it is about began since a drill. Alarms overtake drills on the way here. Both ids have the time of session's rules; of
    /// the other times one is the clock's, which may be far behind after a failover.
    fileprivate func began(since drill: DrillID) -> Bool {
        guard let alarm = details.alarm?.time, let drill = drill.time else { return false }
        return alarm >= drill
    }
}
