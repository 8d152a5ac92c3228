import ContactsContract
import NotificationsContract
import SessionContract
import Vocabulary

// A drill takes the way of an alarm, from session by contacts to notifications, but as a message of its own kind at each step: a process of an
// earlier release leaves it to a newer one, and never makes an alarm of it. Notifications alone get a message that an earlier release knows, and
// keeps without its marks: what its text says is all that shows that it is a drill.

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
            let begun = DeliverNotification(
                id: .ofDrill(event.drill, to: event.account), kind: .system, details: details)
            return [.tell(.contacts, relay, for: event.account), .tell(.notifications, begun, for: event.account)]
        case .drillEnded(let event):
            // However it ended, it is taken back from everybody's devices: what comes later isn't to stand beside it.
            return [.tell(.contacts, WithdrawDrill(drill: event.drill), for: event.account)]
                + takingBack(event.drill, from: event.account, isOwn: true, at: event.at)
        }
    }
}

/// Says that a drill is over, and clears what says that it is on. This may still be on its way, after a failure: then what is over takes its place.
private func takingBack(
    _ drill: DrillID, of subject: AccountID? = nil, from account: AccountID, isOwn: Bool, at time: Instant
) -> [PolicyCommand] {
    let id = NotificationID.ofDrill(drill, to: account)
    let missing = DeliverNotification(
        id: id, kind: .system, subject: subject,
        details: NotificationDetails(
            drill: drill, drillEnds: Instant(microseconds: 0), isOwnDrill: isOwn ? true : nil, text: "A drill is over.")
    )
    let over = DeliverNotification(
        id: .ofEndOfDrill(drill, to: account), kind: .system, subject: subject,
        details: .endOfDrill(drill, isOwn: isOwn, at: time))
    let clear = ClearNotifications(selection: NotificationSelection(ids: [id]))
    return ([missing, over, clear] as [any CommandBody]).map { .tell(.notifications, $0, for: account) }
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
            return takingBack(
                event.drill, of: event.dependent, from: event.account, isOwn: false, at: event.at)
        }
    }
}
