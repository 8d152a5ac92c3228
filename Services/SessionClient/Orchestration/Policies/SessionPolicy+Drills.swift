import ContactsContract
import NotificationsContract
import SessionContract
import Vocabulary

// A drill takes the way of an alarm, from session by contacts to notifications, but as a message of its own kind at each step: a process of an
// earlier release leaves it to a newer one, and never makes an alarm of it.

extension SessionPolicy {
    func commands(
        for event: SessionContract.DrillEvent, because message: RecordedMessage
    ) -> [PolicyCommand] {
        switch event {
        case .drillBegan(let event):
            let relay = RelayDrill(drill: event.drill, began: event.began, ends: event.ends)
            // On all devices: who holds one of them may not be the person.
            let details = NotificationDetails(
                at: event.began, drill: event.drill, drillEnds: event.ends, isOwnDrill: true,
                text: "Your drill has begun: your responders are told that it is no alarm.")
            return [
                .tell(.contacts, relay, for: event.account),
                .notify(event.account, .system, details, because: message),
            ]
        case .drillEnded(let event):
            switch event.end {
            case .deadline, .alarm: return [.tell(.contacts, WithdrawDrill(drill: event.drill), for: event.account)]
            case .over:
                let details = NotificationDetails(
                    at: event.at, drill: event.drill, isOwnDrill: true, text: "Your drill is over. Look who answered.")
                return [.notify(event.account, .system, details, because: message)]
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
                    "Drill, no alarm: your contact tries out whether you would hear of one. They see that you got it if you say so."
            )
            let told = DeliverNotification(
                id: .ofDrill(event.drill, to: event.account), kind: .system, subject: event.dependent,
                details: details)
            return [.tell(.notifications, told, for: event.account)]
        case .drillWithdrawn(let event):
            let id = NotificationID.ofDrill(event.drill, to: event.account)
            // The drill may still be on its way, after a failure: then this takes its place, as one that is over.
            let missing = DeliverNotification(
                id: id, kind: .system, subject: event.dependent,
                details: NotificationDetails(
                    drill: event.drill, drillEnds: Instant(microseconds: 0), text: "A drill of your contact is over."))
            let over = DeliverNotification(
                id: .ofEndOfDrill(event.drill, to: event.account), kind: .system, subject: event.dependent,
                details: NotificationDetails(
                    at: event.at, drill: event.drill,
                    text: "The drill of your contact is over: what you hear from now on is no drill."))
            let clear = ClearNotifications(selection: NotificationSelection(ids: [id]))
            return ([missing, over, clear] as [any CommandBody]).map { .tell(.notifications, $0, for: event.account) }
        }
    }
}
