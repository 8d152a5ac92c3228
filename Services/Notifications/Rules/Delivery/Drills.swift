import NotificationsContract
import Vocabulary

// A push names nobody, so whoever gets an alarm and a drill at about the same time can't tell whose is which: no drill stands beside any alarm.

extension NotificationsReducer {
    /// Clears the account's drills that an alarm makes void, and says of each that it is over: that of others whoever's alarm it is, its own if the
    /// alarm is its own. Of those that told it nothing there is nothing to say; of those it answered or cleared there is, since they may still be
    /// on a device of it.
    static func takeDrillsBack(
        _ rows: inout NotificationsRows, becauseOf alarm: Notification, from account: AccountID, _ time: Instant
    ) -> [NotificationsEvent] {
        let isVoid: DrillNews? =
            alarm.kind.beginsAnothersAlarm ? .anothersIsOn : alarm.kind.beginsOwnAlarm ? .ownIsOn : nil
        guard let isVoid else { return [] }
        let drills = rows.history(of: account).filter { told in
            guard told.details.drillNews == isVoid, told.wasTold, let drill = told.details.drill else { return false }
            return rows[account, .ofEndOfDrill(drill, to: account)] == nil
        }
        guard !drills.isEmpty else { return [] }
        let uncleared = drills.filter { $0.cleared == nil }.map(\.id)
        let cleared = uncleared.isEmpty ? [] : clear(&rows, NotificationSelection(ids: uncleared), account, time)
        return cleared
            + drills.flatMap { told in
                guard let drill = told.details.drill else { return [NotificationsEvent]() }
                let end = Notification(
                    id: .ofEndOfDrill(drill, to: account), kind: .system, subject: told.subject,
                    details: .endOfDrill(drill, isOwn: isVoid == .ownIsOn, at: time), created: time)
                return deliver(&rows, end, to: account)
            }
    }
}

extension NotificationsRows {
    /// How many of the newest beginnings and ends of alarms are looked at. An end is newer than its beginning, so no beginning is without its end.
    package static let newestAlarms = 50

    /// Whether something that is said of a drill isn't so any more, or would be taken for what it isn't.
    func isVoid(_ notification: Notification, for account: AccountID) -> Bool {
        guard let drill = notification.details.drill else { return false }
        switch notification.details.drillNews {
        case .anothersIsOn:
            // An alarm that is on is repeated more often than once a day.
            let yesterday = notification.created - .days(1)
            return alarms(of: account).contains { alarm in
                alarm.kind.beginsAnothersAlarm
                    && (alarm.began(since: drill) || alarm.created > yesterday && !isEnded(alarm, for: account))
            }
        case .ownIsOn: return alarms(of: account).contains { $0.kind.beginsOwnAlarm && $0.began(since: drill) }
        case .anothersIsOver: return self[account, .ofDrill(drill, to: account)]?.wasTold != true
        case .ownIsOver, nil: return false
        }
    }

    private func alarms(of account: AccountID) -> some Sequence<Notification> {
        history(of: account).lazy.filter { $0.kind.beginsAlarm || $0.kind.endsAlarm }.prefix(Self.newestAlarms)
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
