package import QuartetAPI
package import QuartetContactsContract
package import QuartetSessionContract
import QuartetVocabulary

/// What one person may see of another: joined from what session publishes, by what contacts says of the two. This is the
/// one place where that is decided.
extension Person {
    /// - Parameter isResponder: Whether the viewer is this person's responder.
    package init(_ state: AccountState, seenByResponder isResponder: Bool) {
        self.init(account: state.account)
        handle = state.handle
        name = state.name
        avatar = state.avatar
        isClosed = state.isClosed
        guard isResponder, !state.isClosed else { return }
        emergencyNote = state.emergencyNote
        var checkIn = state.checkIn
        // Others hear of it when it is over.
        (checkIn.grace, checkIn.graceEnds) = (nil, nil)
        // A zone says where somebody is.
        (checkIn.daily, checkIn.opens, checkIn.version) = (nil, nil, nil)
        self.checkIn = checkIn
        veryLateFrom = state.checkIn.veryLateFrom
        alertRaised = state.alertRaised
        alertAlarm = state.alertAlarm
        lateCall = state.lateCall
        if let pings = state.unanswered, pings.alarm == state.alertAlarm, let first = pings.earliest {
            unanswered = PersonPings(pinged: first.sent, isCalled: pings.isCalled)
        }
        if let trip = state.trip, let alarm = trip.alarm, alarm == state.alertAlarm {
            self.trip = PersonTrip(name: trip.name, note: trip.note, eta: trip.eta, isCalled: trip.isCalled)
        }
    }
}

extension ContactCard {
    /// - Parameter state: Nil when session doesn't know the account.
    package init(_ contact: Contact, _ state: AccountState?) {
        self.init(
            contact: contact,
            person: Person(state ?? AccountState(account: contact.account), seenByResponder: contact.iAmResponder))
    }
}
