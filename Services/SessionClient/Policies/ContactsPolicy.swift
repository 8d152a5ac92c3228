import Bus
import ContactsContract
import NotificationsContract
import Vocabulary

/// When contacts says something, tell those whom it concerns.
struct ContactsPolicy: Policy {
    let name: StaticString = "contacts"

    func commands(for event: ContactsEvent, in message: RecordedMessage) -> [PolicyCommand] {
        let account = event.account
        func notify(
            _ kind: NotificationKind, about contact: AccountID, _ details: NotificationDetails
        ) -> PolicyCommand {
            .notify(account, kind, about: contact, details, because: message)
        }
        /// What a ping led to is over: its notification goes, though it may have come late.
        func clearPings(from contacts: [AccountID], by time: Instant) -> PolicyCommand {
            .tell(.notifications, ClearNotifications(pingsFrom: contacts, by: time), for: account)
        }

        switch event {
        case .contactRequestReceived(let event):
            return [
                notify(
                    .contactRequested, about: event.request.contact,
                    .init(
                        at: event.request.requested, responder: event.request.responder,
                        dependent: event.request.dependent))
            ]
        case .contactAdded(let event):
            return [notify(.contactAdded, about: event.contact.contact, .roles(of: event.contact))]
        case .contactUpdated(let event):
            return event.rolesChanged
                ? [notify(.contactRoleChanged, about: event.contact.contact, .roles(of: event.contact))] : []
        case .contactRemoved(let event):
            // Nobody can answer a ping of somebody who is gone.
            return [
                clearPings(from: [event.contact], by: event.at),
                notify(.contactRemoved, about: event.contact, .init(at: event.at)),
            ]
        case .pingSent(let event):
            return [notify(.pingSent, about: event.contact, .init(at: event.at))]
        case .pingReceived(let event):
            return [notify(.pingReceived, about: event.contact, .init(at: event.at))]
        case .pingCancelled(let event):
            guard event.direction == .incoming else { return [] }
            return [
                clearPings(from: [event.contact], by: event.at),
                notify(.pingCancelled, about: event.contact, .init(at: event.at)),
            ]
        case .pingAnswered(let event):
            switch event.direction {
            case .incoming: return [clearPings(from: [event.contact], by: event.at)]
            case .outgoing: return [.acknowledge(event, because: message)]
            }
        case .receivedPingsCleared(let event):
            return [clearPings(from: event.contacts, by: event.at)]
        case .responderAlerted(let event):
            return [
                notify(
                    event.kind.told, about: event.dependent,
                    .init(
                        at: event.occurred, deadline: event.deadline,
                        count: event.repetition > 0 ? event.repetition : nil))
            ]
        case .contactsOpened, .contactsClosed, .contactCodeReset, .contactApprovalSet, .contactRequestSent,
            .contactRequestEnded, .contactBlocked, .contactUnblocked, .alertRelayed:
            return []
        }
    }
}

extension AlertKind {
    /// What a responder is told.
    fileprivate var told: NotificationKind {
        switch self {
        case .alertRaised: .dependentAlertRaised
        case .alertCleared: .dependentAlertCleared
        case .checkInMissed: .dependentCheckInMissed
        case .checkedIn: .dependentCheckedIn
        }
    }
}

extension ClearNotifications {
    /// Those of pings by these contacts that were answered or cancelled at a time. Somebody else's ping of that moment may
    /// still be on its way, and waits for an answer.
    init(pingsFrom contacts: [AccountID], by time: Instant) {
        self.init(selection: .init(kinds: [.pingReceived], subjects: contacts, occurredBy: time))
    }
}

extension NotificationDetails {
    fileprivate static func roles(of contact: Contact) -> Self {
        Self(at: contact.updated, responder: contact.responder, dependent: contact.dependent)
    }
}
