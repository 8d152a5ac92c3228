package import QuartetContactsContract
import QuartetContractSupport
package import QuartetVocabulary

/// The people whom an account may see, in step with its contacts stream from where that was joined.
package struct VisiblePeople: Sendable {
    private var contacts: ContactsState
    /// The state that this began with includes the events up to here.
    package let position: Position
    /// Those seen now, and whether as their responder.
    package private(set) var roles: [AccountID: Bool]

    /// - Parameters:
    ///   - contacts: The state of the stream.
    ///   - position: The state includes the events up to here.
    package init(_ contacts: ContactsState, at position: Position) {
        self.contacts = contacts
        self.position = position
        roles = Self.roles(in: contacts)
    }

    /// Applies the next event, before it is handed over. Returns somebody whom a resuming app may still show, because the
    /// relation ended while the stream was away: the state from which this began lacks them.
    package mutating func apply(_ event: ContactsEvent, at place: Position) -> AccountID? {
        guard place <= position else {
            contacts.apply(event)
            roles = Self.roles(in: contacts)
            return nil
        }
        guard case .contactRemoved(let removed) = event, contacts.contacts[removed.contact] == nil else { return nil }
        return removed.contact
    }

    /// The contacts; and who answered an alarm that the account was told of, or its own, for as long as it is on.
    private static func roles(in contacts: ContactsState) -> [AccountID: Bool] {
        let answering = (contacts.alarmAnswers ?? []).map(\.responder)
            .filter { $0 != contacts.account && !contacts.blocked.contains($0) }
        let roles = Dictionary(answering.map { ($0, false) }) { $1 }
        return contacts.contacts.reduce(into: roles) { $0[$1.account] = $1.iAmResponder }
    }
}
