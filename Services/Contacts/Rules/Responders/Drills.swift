import QuartetContactsContract
import QuartetVocabulary

// Responders hear of a drill all at once, whatever tiers there are, and without a row: nobody is asked for an answer, and there is no all-clear.

extension ContactsReducer {
    static func reduce(_ rows: inout ContactsRows, _ command: DrillCommand, _ asker: Asker) -> [ContactsEvent] {
        let responders = rows.responders(of: asker.account).map(\.account)
        switch command {
        case .relayDrill(let command):
            let told = isOver(rows, command, asker) ? [] : responders
            let relayed = DrillRelayed(
                account: asker.account, drill: command.drill, responders: told.count, at: asker.time)
            return [.drill(.drillRelayed(relayed))]
                + told.map {
                    .drill(
                        .responderDrilled(
                            .init(
                                account: $0, dependent: asker.account, drill: command.drill, began: command.began,
                                ends: command.ends, at: asker.time)))
                }
        case .withdrawDrill(let command):
            let relayed = DrillRelayed(
                account: asker.account, drill: command.drill, responders: responders.count, at: asker.time)
            return [.drill(.drillRelayed(relayed))]
                + responders.map {
                    .drill(
                        .drillWithdrawn(
                            .init(account: $0, dependent: asker.account, drill: command.drill, at: asker.time)))
                }
        }
    }

    /// Whether its time is over, or an alarm of the dependent is on or was since it began. Alarms overtake drills on the way here.
    private static func isOver(_ rows: ContactsRows, _ command: RelayDrill, _ asker: Asker) -> Bool {
        guard command.ends > asker.clock else { return true }
        let keys = AlarmRow.Kind.allCases.map { AlarmKey(asker.account, $0) }
        return keys.contains { key in
            guard rows.alarms[key] == nil else { return true }
            guard let alarm = rows.endedAlarms[key]?.alarm.time, let drill = command.drill.time else { return false }
            return alarm >= drill
        }
    }
}

extension ContactsRows.Selection {
    mutating func add(_ command: DrillCommand, of account: AccountID) {
        relaying.insert(account)
        guard case .relayDrill = command else { return }
        // Locks the account, so that no alarm of it begins meanwhile.
        changed.insert(account)
        alarming.insert(account)
    }
}
