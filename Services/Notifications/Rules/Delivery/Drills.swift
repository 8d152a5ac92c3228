import QuartetNotificationsContract
package import QuartetVocabulary

// A push names nobody, so somebody who gets an alarm and a drill at about the same time can't tell them apart. That is why no drill is shown beside
// an alarm, whoever's it is.

extension NotificationsReducer {
    /// Clears the drills that a new alarm voids, and notifies the account that they are over. An alarm of anybody else voids all drills of others; an
    /// alarm of the account itself voids its own drill. The end is also told of drills that were answered or cleared, because one of the account's
    /// devices may still show them. It doesn't evict anything from a full history: that would be the drill itself, which its report is read from.
    static func takeDrillsBack(
        _ rows: inout NotificationsRows, becauseOf alarm: QuartetNotification, from account: AccountID,
        _ context: CommandContext
    ) -> [NotificationsEvent] {
        let (time, clock) = (context.time, min(context.recordedAt, context.time))
        let voided: DrillNews? =
            alarm.kind.beginsAnothersAlarm ? .anothersIsOn : alarm.kind.beginsOwnAlarm ? .ownIsOn : nil
        guard let voided else { return [] }
        let drills = rows.history(of: account).filter { told in
            guard told.details.drillNews == voided, told.wasTold, let drill = told.details.drill else { return false }
            return rows[account, .ofEndOfDrill(drill, to: account)] == nil
        }
        let uncleared = drills.filter { $0.cleared == nil }.map(\.id)
        let cleared = uncleared.isEmpty ? [] : clear(&rows, NotificationSelection(ids: uncleared), account, time)
        return cleared
            + drills.flatMap { told in
                guard let drill = told.details.drill else { return [NotificationsEvent]() }
                let end = QuartetNotification(
                    id: .ofEndOfDrill(drill, to: account), kind: .system, subject: told.subject,
                    details: .endOfDrill(drill, isOwn: voided == .ownIsOn, at: time), created: time)
                guard let use = end.details.endOfUse(of: end.kind), use > clock else { return [] }
                return deliver(&rows, end, to: account, makingRoom: false)
            }
    }
}

extension NotificationsRows {
    /// Alarms from this time on can void a drill. That is enough for those still on, because they are repeated more often than once a day.
    package static func alarmsMatter(to drill: DrillID) -> Instant? { drill.time.map { $0 - .days(1) } }

    /// Whether news of a drill is out of date, or could be mistaken for news of an alarm.
    func isVoid(_ notification: QuartetNotification, for account: AccountID) -> Bool {
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

    private func alarms(of account: AccountID, since drill: DrillID) -> some Sequence<QuartetNotification> {
        let start = Self.alarmsMatter(to: drill)
        return loadedNotifications(of: account).filter { $0.kind.beginsAlarm && $0.created >= start ?? $0.created }
    }
}

extension QuartetNotification {
    /// Whether the account was really notified: what arrives too late is cleared on delivery.
    fileprivate var wasTold: Bool { cleared != created }

    /// Whether its alarm began after the drill did; alarms overtake drills on the way here. Compares the times in the ids, which are both from
    /// session's rules. The other times aren't comparable, because the clock may be far behind the rules after a failover.
    fileprivate func began(since drill: DrillID) -> Bool {
        guard let alarm = details.alarm?.time, let drill = drill.time else { return false }
        return alarm >= drill
    }
}
