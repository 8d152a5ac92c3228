import QuartetContractSupport
import QuartetVocabulary

extension ContactsState {
    /// Applies the next event of the stream. Events of other accounts change nothing.
    public mutating func apply(_ event: ContactsEvent) {
        guard event.account == account, !isClosed else { return }
        switch event {
        case .contactsOpened(let event):
            code = event.code
            responderReach = .nobody
        case .contactsClosed:
            self = ContactsState(account: account, isClosed: true)
        case .contactCodeReset(let event): code = event.code
        case .contactApprovalSet(let event): isApprovalRequired = event.isRequired
        case .contactRequestSent(let event): requests[event.request.account] = event.request
        case .contactRequestReceived(let event): requests[event.request.account] = event.request
        case .contactRequestEnded(let event): requests[event.contact] = nil
        case .contactAdded(let event):
            requests[event.contact.account] = nil
            contacts[event.contact.account] = event.contact
        case .contactUpdated(let event): contacts[event.contact.account] = event.contact
        case .roleChangeRequested(let event): setRoleRequest(with: event.contact, event.direction, to: event.at)
        case .roleChangeEnded(let event): setRoleRequest(with: event.contact, event.direction, to: nil)
        case .contactRemoved(let event): contacts[event.contact] = nil
        case .contactBlocked(let event): block(event.contact)
        case .contactUnblocked(let event): blocked.removeAll { $0 == event.contact }
        case .pingSent(let event):
            contacts[event.contact]?.outgoingPing = event.at
            contacts[event.contact]?.outgoingPingDue = event.due
            contacts[event.contact]?.isOutgoingPingLater = event.isLater
            contacts[event.contact]?.isOutgoingPingOver = nil
        case .pingReceived(let event):
            contacts[event.contact]?.incomingPing = event.at
            contacts[event.contact]?.incomingPingDue = event.due
        case .pingCancelled(let event): endPing(with: event.contact, event.direction)
        case .pingAnswered(let event):
            // One whose place another has taken is answered, too, and the other waits.
            if event.direction == .outgoing, contacts[event.contact]?.outgoingPing != event.sent { return }
            endPing(with: event.contact, event.direction)
        case .receivedPingsCleared(let event):
            for contact in event.contacts { endPing(with: contact, .incoming) }
        case .responderReachChanged(let event): responderReach = event.reach
        case .alarmAcknowledged(let event): take(event)
        case .responderTiersSet(let event):
            responderTiers = event.tiers.isEmpty ? nil : event.tiers
            responderTiersVersion = event.version ?? responderTiersVersion
        case .alarmEnded(let event): keepAnswers { $0.alarm != event.alarm }
        case .pingEscalation(let event): apply(event)
        case .alertRelayed, .responderAlerted, .alarmHoldChanged, .alarmClosingDecided, .alarmUnanswered,
            .pauseAnnounced, .responderReachSettled, .tierBegan, .drill, .renewalAsked, .renewalSettled:
            break
        }
    }

    private mutating func apply(_ event: PingEscalationEvent) {
        switch event {
        case .pingEscalationSet(let event):
            if let contact = event.contact {
                contacts[contact]?.pingEscalation = event.after
            } else {
                pingEscalation =
                    PingEscalation(
                        after: event.after.flatMap { $0 > .seconds(0) ? $0 : nil },
                        quietHours: pingEscalation?.quietHours
                    ).kept
            }
        case .pingQuietHoursSet(let event):
            pingEscalation = PingEscalation(after: pingEscalation?.after, quietHours: event.quietHours).kept
        case .pingDueSet(let event):
            switch event.direction {
            case .outgoing where contacts[event.contact]?.outgoingPing == event.sent:
                contacts[event.contact]?.outgoingPingDue = event.due
                contacts[event.contact]?.isOutgoingPingLater = event.isLater
                let isOver = event.due == nil && event.isLater != true
                contacts[event.contact]?.isOutgoingPingOver = isOver ? true : nil
            case .incoming where contacts[event.contact]?.incomingPing == event.sent:
                contacts[event.contact]?.incomingPingDue = event.due
            case .outgoing, .incoming: break
            }
        case .pingWarned, .pingsUnanswered, .pingWarningEnded, .unansweredPingsEnded: break
        }
    }

    private mutating func take(_ event: AlarmAcknowledged) {
        guard let answer = event.answer else {
            return keepAnswers { $0.id != GivenAlarmAnswer.ID(event.alarm, event.responder) }
        }
        let given = GivenAlarmAnswer(
            dependent: event.dependent, alarm: event.alarm, responder: event.responder, answer: answer,
            until: event.until, answered: event.answered)
        alarmAnswers = alarmAnswers ?? []
        alarmAnswers?[given.id] = given
    }

    private mutating func keepAnswers(_ isKept: (GivenAlarmAnswer) -> Bool) {
        guard let before = alarmAnswers else { return }
        let kept = before.filter(isKept)
        alarmAnswers = kept.isEmpty ? nil : Ordered(kept)
    }

    private mutating func endPing(with contact: AccountID, _ direction: Direction) {
        switch direction {
        case .outgoing:
            contacts[contact]?.outgoingPing = nil
            contacts[contact]?.outgoingPingDue = nil
            contacts[contact]?.isOutgoingPingLater = nil
            contacts[contact]?.isOutgoingPingOver = nil
        case .incoming:
            contacts[contact]?.incomingPing = nil
            contacts[contact]?.incomingPingDue = nil
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
