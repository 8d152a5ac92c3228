public import QuartetVocabulary

/// All events of `contacts`. Each is in the stream of its account.
public enum ContactsEvent: MessageSet {
    case contactsOpened(ContactsOpened)
    case contactsClosed(ContactsClosed)
    case contactCodeReset(ContactCodeReset)
    case contactApprovalSet(ContactApprovalSet)
    case contactRequestSent(ContactRequestSent)
    case contactRequestReceived(ContactRequestReceived)
    case contactRequestEnded(ContactRequestEnded)
    case contactAdded(ContactAdded)
    case contactUpdated(ContactUpdated)
    case roleChangeRequested(RoleChangeRequested)
    case roleChangeEnded(RoleChangeEnded)
    case contactRemoved(ContactRemoved)
    case contactBlocked(ContactBlocked)
    case contactUnblocked(ContactUnblocked)
    case pingSent(PingSent)
    case pingReceived(PingReceived)
    case pingCancelled(PingCancelled)
    case pingAnswered(PingAnswered)
    case receivedPingsCleared(ReceivedPingsCleared)
    case alertRelayed(AlertRelayed)
    case responderAlerted(ResponderAlerted)
    case alarmEnded(AlarmEnded)
    case alarmAcknowledged(AlarmAcknowledged)
    case alarmHoldChanged(AlarmHoldChanged)
    case alarmClosingDecided(AlarmClosingDecided)
    case alarmUnanswered(AlarmUnanswered)
    case pauseAnnounced(PauseAnnounced)
    case responderReachChanged(ResponderReachChanged)
    case responderReachSettled(ResponderReachSettled)
    case responderTiersSet(ResponderTiersSet)
    case tierBegan(TierBegan)
    case drill(ContactsDrillEvent)
    case renewalAsked(RenewalAsked)
    case renewalSettled(RenewalSettled)
    case pingEscalation(PingEscalationEvent)

    package static let cases: Cases<Self> = [
        Case(Self.contactsOpened), Case(Self.contactsClosed), Case(Self.contactCodeReset),
        Case(Self.contactApprovalSet), Case(Self.contactRequestSent), Case(Self.contactRequestReceived),
        Case(Self.contactRequestEnded), Case(Self.contactAdded), Case(Self.contactUpdated),
        Case(Self.roleChangeRequested), Case(Self.roleChangeEnded), Case(Self.contactRemoved),
        Case(Self.contactBlocked), Case(Self.contactUnblocked), Case(Self.pingSent), Case(Self.pingReceived),
        Case(Self.pingCancelled), Case(Self.pingAnswered), Case(Self.receivedPingsCleared), Case(Self.alertRelayed),
        Case(Self.responderAlerted), Case(Self.alarmEnded), Case(Self.alarmAcknowledged),
        Case(Self.alarmHoldChanged), Case(Self.alarmClosingDecided), Case(Self.alarmUnanswered),
        Case(Self.pauseAnnounced),
        Case(Self.responderReachChanged), Case(Self.responderReachSettled), Case(Self.responderTiersSet),
        Case(Self.tierBegan), Case(Self.drill), Case(Self.renewalAsked), Case(Self.renewalSettled),
        Case(Self.pingEscalation),
    ]

    public var body: any EventBody {
        switch self {
        case .contactsOpened(let body): body
        case .contactsClosed(let body): body
        case .contactCodeReset(let body): body
        case .contactApprovalSet(let body): body
        case .contactRequestSent(let body): body
        case .contactRequestReceived(let body): body
        case .contactRequestEnded(let body): body
        case .contactAdded(let body): body
        case .contactUpdated(let body): body
        case .roleChangeRequested(let body): body
        case .roleChangeEnded(let body): body
        case .contactRemoved(let body): body
        case .contactBlocked(let body): body
        case .contactUnblocked(let body): body
        case .pingSent(let body): body
        case .pingReceived(let body): body
        case .pingCancelled(let body): body
        case .pingAnswered(let body): body
        case .receivedPingsCleared(let body): body
        case .alertRelayed(let body): body
        case .responderAlerted(let body): body
        case .alarmEnded(let body): body
        case .alarmAcknowledged(let body): body
        case .alarmHoldChanged(let body): body
        case .alarmClosingDecided(let body): body
        case .alarmUnanswered(let body): body
        case .pauseAnnounced(let body): body
        case .responderReachChanged(let body): body
        case .responderReachSettled(let body): body
        case .responderTiersSet(let body): body
        case .tierBegan(let body): body
        case .drill(let set): set.body
        case .renewalAsked(let body): body
        case .renewalSettled(let body): body
        case .pingEscalation(let set): set.body
        }
    }
}
