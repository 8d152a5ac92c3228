import ContactsContract
import NotificationsContract
import SessionContract
package import Vocabulary

// A drill takes the way of an alarm, from session by contacts to notifications, but as a message of its own kind at each step: a process of an
// earlier release leaves it to a newer one, and never makes an alarm of it.

extension SessionPolicy {
    func commands(for event: SessionContract.DrillEvent) -> [PolicyCommand] {
        switch event {
        case .drillBegan(let event):
            let relay = RelayDrill(drill: event.drill, began: event.began, ends: event.ends)
            return [.tell(.contacts, relay, for: event.account)]
        case .drillEnded(let event):
            switch event.end {
            case .alarm: return [.tell(.contacts, WithdrawDrill(drill: event.drill), for: event.account)]
            case .over:
                let details = NotificationDetails(
                    at: event.at, drill: event.drill, text: "Your drill is over. Look whom it reached.")
                let told = DeliverNotification(
                    id: .ofDrill(event.drill, to: event.account), kind: .system, details: details)
                return [.tell(.notifications, told, for: event.account)]
            }
        }
    }
}

extension ContactsPolicy {
    func commands(for event: ContactsContract.DrillEvent) -> [PolicyCommand] {
        switch event {
        case .drillRelayed: return []
        case .responderDrilled(let event):
            // Not of a kind of alarms: it makes no critical sound, and nothing of an alarm gives way to it.
            let details = NotificationDetails(
                at: event.began, drill: event.drill, drillEnds: event.ends,
                text:
                    "Drill, no alarm: your contact tries out whether you would hear of one, and sees when you open this."
            )
            let told = DeliverNotification(
                id: .ofDrill(event.drill, to: event.account), kind: .system, subject: event.dependent,
                details: details)
            return [.tell(.notifications, told, for: event.account)]
        case .drillWithdrawn(let event):
            let selection = NotificationSelection(ids: [.ofDrill(event.drill, to: event.account)])
            return [.tell(.notifications, ClearNotifications(selection: selection), for: event.account)]
        }
    }
}

extension NotificationID {
    /// What an account is told of a drill, by which it is found when the drill is over, and for the report.
    package static func ofDrill(_ drill: DrillID, to account: AccountID) -> Self {
        .derived(
            at: drill.time ?? Instant(microseconds: 0), from: Array("notification/drill".utf8), drill.bytes,
            account.bytes)
    }
}
