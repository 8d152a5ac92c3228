import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary

// A drill takes the same path as an alarm, from session through contacts to notifications, but as messages of its own. A process of an earlier
// release leaves them to a newer one and never turns them into an alarm. The exception is the last step: an earlier release of notifications knows
// DeliverNotification and drops the drill's fields, so there only the text says that it is a drill.

extension SessionPolicy {
    func commands(
        for event: SessionDrillEvent, because message: RecordedMessage
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
            // However it ended, it leaves everybody's devices, so that nothing that comes later is shown beside it.
            return [.tell(.contacts, WithdrawDrill(drill: event.drill), for: event.account)]
                + takingBack(event.drill, from: event.account, isOwn: true, at: event.at)
        }
    }
}

/// Says that a drill is over, and clears the notification that it is on. If that one is still on its way after a failure, the first of these takes
/// its place.
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
    func commands(for event: ContactsDrillEvent) -> [PolicyCommand] {
        switch event {
        case .drillRelayed: return []
        case .responderDrilled(let event):
            // Not of a kind of alarms: it makes no critical sound, and nothing of an alarm gives way to it.
            let details = NotificationDetails(
                at: event.began, drill: event.drill, drillEnds: event.ends,
                text:
                    "Drill, no alarm: your contact is testing whether one would reach you. They see that you got this if you say so."
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
