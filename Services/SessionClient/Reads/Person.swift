import ContactsContract
import SessionContract
import Vocabulary

/// What one account may see of another: joined from what session publishes, by what contacts says of the two.
///
/// Handle and name are for contacts; the emergency note, check-ins and alerts for that person's responders alone. This is
/// the one place where that is decided.
struct Person: Encodable, Hashable, Sendable {
    let account: AccountID
    let handle: String?
    let name: String?
    let isClosed: Bool
    /// For responders.
    let emergencyNote: String?
    /// For responders.
    let checkIn: CheckInState?
    /// For responders.
    let alertRaised: Instant?

    /// - Parameter isResponder: whether who looks is this person's responder.
    init(_ state: AccountState, seenByResponder isResponder: Bool) {
        account = state.account
        handle = state.handle
        name = state.name
        isClosed = state.isClosed
        let isShown = isResponder && !state.isClosed
        emergencyNote = isShown ? state.emergencyNote : nil
        checkIn = isShown ? state.checkIn : nil
        alertRaised = isShown ? state.alertRaised : nil
    }
}

/// A contact as its card shows it: the relation and the person.
struct ContactCard: Encodable, Sendable {
    let contact: Contact
    let person: Person

    init(_ contact: Contact, _ state: AccountState?) {
        self.contact = contact
        // Contacts calls the other side a dependent when this side is its responder.
        person = Person(state ?? AccountState(account: contact.contact), seenByResponder: contact.dependent)
    }
}
