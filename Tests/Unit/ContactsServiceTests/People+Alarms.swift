import QuartetContactsContract
import QuartetContactsRules
import QuartetVocabulary
import StoreKit
import TestKit

/// An account's alarm of a kind: `alertRaised` or `checkInMissed`.
struct AlarmSlot: Hashable {
    let account: AccountID
    let kind: AlertKind
}

extension People {
    /// Has responders hear of something, as the policy for session's events does.
    @discardableResult
    mutating func relay(
        _ kind: AlertKind, _ alarm: AlarmID?, of account: AccountID, deadline: Instant? = nil, repetition: Int = 0
    ) throws -> [ContactsEvent] {
        try ask(
            account,
            RelayAlert(kind: kind, alarm: alarm, occurred: time, deadline: deadline, repetition: repetition))
    }

    /// Something that may happen to an account now: an alarm begins, is repeated or ends, or a check-in ends none.
    mutating func randomRelay(of account: AccountID, using random: inout SeededRandom) -> any CommandBody {
        let begins: AlertKind = random.oneIn(2) ? .alertRaised : .checkInMissed
        let ends: AlertKind = begins == .alertRaised ? .alertCleared : .checkedIn
        guard let on = alarmsOn[AlarmSlot(account: account, kind: begins)], !random.oneIn(20) else {
            if random.oneIn(4) { return RelayAlert(kind: .checkedIn, occurred: time) }
            return RelayAlert(kind: begins, alarm: id(), occurred: time)
        }
        return random.oneIn(2)
            ? RelayAlert(kind: ends, alarm: on, occurred: time)
            : RelayAlert(kind: begins, alarm: on, occurred: time, repetition: 1)
    }

    /// The alarms that are on, as session would have it: after every accepted command.
    var alarmsOn: [AlarmSlot: AlarmID] {
        history.reduce(into: [:]) { alarms, entry in
            guard case .success = entry.ended, let account = entry.context.account else { return }
            switch entry.command {
            case is CloseAccount:
                for kind in AlertKind.allCases { alarms[AlarmSlot(account: account, kind: kind)] = nil }
            case let relay as RelayAlert:
                switch relay.kind {
                case .alertRaised, .checkInMissed: alarms[AlarmSlot(account: account, kind: relay.kind)] = relay.alarm
                case .alertCleared: alarms[AlarmSlot(account: account, kind: .alertRaised)] = nil
                case .checkedIn:
                    guard relay.alarm != nil else { return }
                    alarms[AlarmSlot(account: account, kind: .checkInMissed)] = nil
                }
            default: return
            }
        }
    }

    /// The accounts that heard that an alarm is on.
    func alerted(by alarm: AlarmID) -> Set<AccountID> {
        Set(
            log.compactMap {
                if case .responderAlerted(let event) = $0.event, event.alarm == alarm { event.account } else { nil }
            })
    }

    /// The all-clears of an alarm, in their order.
    func endings(of alarm: AlarmID) -> [AlarmEnded] {
        log.compactMap { if case .alarmEnded(let event) = $0.event, event.alarm == alarm { event } else { nil } }
    }

    /// The accounts that heard that an alarm is on and not that it is over.
    func hearing(of alarm: AlarmID) -> Set<AccountID> {
        var hearing: Set<AccountID> = []
        for emission in log {
            switch emission.event {
            case .responderAlerted(let event) where event.alarm == alarm: hearing.insert(event.account)
            case .alarmEnded(let event) where event.alarm == alarm: hearing.remove(event.account)
            default: continue
            }
        }
        return hearing
    }
}
