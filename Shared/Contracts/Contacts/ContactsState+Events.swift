import Grammar
public import Vocabulary

extension ContactsState {
    /// Takes in the next event of the stream. Events of other accounts' streams change nothing.
    public mutating func apply(_ event: ContactsEvent) {
        guard event.account == account, !isClosed else { return }
        switch event {
        case .contactsOpened(let event): code = event.code
        case .contactsClosed:
            self = ContactsState(account: account, isClosed: true)
        case .contactCodeReset(let event): code = event.code
        case .contactApprovalSet(let event): isApprovalRequired = event.isRequired
        case .contactRequestSent(let event): requests[event.request.contact] = event.request
        case .contactRequestReceived(let event): requests[event.request.contact] = event.request
        case .contactRequestEnded(let event): requests[event.contact] = nil
        case .contactAdded(let event):
            requests[event.contact.contact] = nil
            contacts[event.contact.contact] = event.contact
        case .contactUpdated(let event): contacts[event.contact.contact] = event.contact
        case .roleChangeRequested(let event): setRoleRequest(with: event.contact, event.direction, to: event.at)
        case .roleChangeEnded(let event): setRoleRequest(with: event.contact, event.direction, to: nil)
        case .contactRemoved(let event): contacts[event.contact] = nil
        case .contactBlocked(let event): block(event.contact)
        case .contactUnblocked(let event): blocked.removeAll { $0 == event.contact }
        case .pingSent(let event): contacts[event.contact]?.outgoingPing = event.at
        case .pingReceived(let event): contacts[event.contact]?.incomingPing = event.at
        case .pingCancelled(let event): endPing(with: event.contact, event.direction)
        case .pingAnswered(let event): endPing(with: event.contact, event.direction)
        case .receivedPingsCleared(let event):
            for contact in event.contacts { contacts[contact]?.incomingPing = nil }
        case .alertRelayed, .responderAlerted: break
        }
    }

    private mutating func endPing(with contact: AccountID, _ direction: Direction) {
        switch direction {
        case .outgoing: contacts[contact]?.outgoingPing = nil
        case .incoming: contacts[contact]?.incomingPing = nil
        }
    }

    private mutating func setRoleRequest(with contact: AccountID, _ direction: Direction, to time: Instant?) {
        switch direction {
        case .outgoing: contacts[contact]?.outgoingRoleRequest = time
        case .incoming: contacts[contact]?.incomingRoleRequest = time
        }
    }

    private mutating func block(_ contact: AccountID) {
        let place = blocked.firstIndex { $0 >= contact } ?? blocked.count
        if place == blocked.count || blocked[place] != contact { blocked.insert(contact, at: place) }
    }
}

extension ContactsEvent {
    /// In whose stream the event is.
    public var account: AccountID {
        switch self {
        case .contactsOpened(let event): event.account
        case .contactsClosed(let event): event.account
        case .contactCodeReset(let event): event.account
        case .contactApprovalSet(let event): event.account
        case .contactRequestSent(let event): event.account
        case .contactRequestReceived(let event): event.account
        case .contactRequestEnded(let event): event.account
        case .contactAdded(let event): event.account
        case .contactUpdated(let event): event.account
        case .roleChangeRequested(let event): event.account
        case .roleChangeEnded(let event): event.account
        case .contactRemoved(let event): event.account
        case .contactBlocked(let event): event.account
        case .contactUnblocked(let event): event.account
        case .pingSent(let event): event.account
        case .pingReceived(let event): event.account
        case .pingCancelled(let event): event.account
        case .pingAnswered(let event): event.account
        case .receivedPingsCleared(let event): event.account
        case .alertRelayed(let event): event.account
        case .responderAlerted(let event): event.account
        }
    }
}
