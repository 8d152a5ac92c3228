import ContactsContract
import SessionContract
import Vocabulary

/// What one account may see of another: joined from what session publishes, by what contacts says of the two.
///
/// Handle, name and picture are for contacts; the emergency note, check-ins and alerts for that person's responders alone. This is
/// the one place where that is decided.
struct Person: Encodable, Hashable, Sendable {
    let account: AccountID
    let handle: String?
    let name: String?
    /// Its bytes: `GET /v1/contacts/{account}/avatar`.
    let avatar: Avatar?
    let isClosed: Bool
    /// For responders.
    let emergencyNote: String?
    /// For responders.
    let checkIn: CheckInState?
    /// For responders: when it was missed, from when on that is late by more than a whole interval and shown as worse.
    let veryLateFrom: Instant?
    /// For responders.
    let alertRaised: Instant?
    /// For responders: the alarm that the alert is. The alarm of a missed check-in is the check-in's.
    let alertAlarm: AlarmID?

    /// - Parameter isResponder: whether who looks is this person's responder.
    init(_ state: AccountState, seenByResponder isResponder: Bool) {
        account = state.account
        handle = state.handle
        name = state.name
        avatar = state.avatar
        isClosed = state.isClosed
        let isShown = isResponder && !state.isClosed
        emergencyNote = isShown ? state.emergencyNote : nil
        checkIn = isShown ? state.checkIn : nil
        veryLateFrom = isShown ? state.checkIn.veryLateFrom : nil
        alertRaised = isShown ? state.alertRaised : nil
        alertAlarm = isShown ? state.alertAlarm : nil
    }
}

/// A contact as its card shows it: the relation and the person.
struct ContactCard: Encodable, Sendable {
    let contact: Contact
    let person: Person

    init(_ contact: Contact, _ state: AccountState?) {
        self.contact = contact
        // Contacts calls the other side a dependent when this side is its responder.
        person = Person(state ?? AccountState(account: contact.account), seenByResponder: contact.iAmResponder)
    }
}
