import ContactsContract
import Grammar
import Synchronization
import Vocabulary

/// The people whom one connection sees: those in its account's contacts, each as far as the relation lets it.
///
/// When a relation ends, or with a role the right to see more, nothing of what was allowed before is handed over after
/// the change.
final class PeopleView: Sendable {
    private struct State {
        /// Who is seen, and whether by their responder.
        var roles: [AccountID: Bool] = [:]
        /// Who is to be shown.
        var changed: Set<AccountID> = []
    }

    private let source: PeopleSource
    private let state = Mutex(State())
    private let (wake, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    init(_ source: PeopleSource) {
        self.source = source
    }

    /// Takes these contacts instead of those before. Returns who isn't among them any more: nothing of them is handed over
    /// from now on.
    func see(_ contacts: some Sequence<Contact>) -> [AccountID] {
        // Contacts calls the other side a dependent when this side is its responder.
        let roles = Dictionary(contacts.map { ($0.contact, $0.dependent) }) { $1 }
        let (ended, new) = state.withLock { state in
            let before = state.roles
            state.roles = roles
            state.changed = state.changed.filter { roles[$0] != nil }
            return (before.keys.filter { roles[$0] == nil }, roles.filter { before[$0.key] != $0.value })
        }
        if !ended.isEmpty { source.unwatch(ended, self) }
        if !new.isEmpty { source.watch(new.map { ($0.key, $0.value) }, self) }
        return ended
    }

    /// Sees nobody any more.
    func end() { _ = see(EmptyCollection()) }

    /// Somebody is to be shown. Only notes it: called under the source's lock.
    func changed(_ account: AccountID) {
        state.withLock { _ = $0.changed.insert(account) }
        waker.yield()
    }

    /// Shows who changed, as fast as the connection takes it, until the task is cancelled.
    func show(_ outlet: StreamOutlet) async throws {
        for await _ in wake {
            while let (account, isResponder) = takeChanged() {
                await outlet.waitForRoom()
                guard let text = try source.text(of: account, seenByResponder: isResponder) else {
                    await outlet.giveRoom()
                    continue
                }
                let isShown = state.withLock { state in
                    guard state.roles[account] == isResponder else { return false }
                    outlet.putNow(.person(text))
                    return true
                }
                if !isShown { await outlet.giveRoom() }
            }
        }
    }

    private func takeChanged() -> (AccountID, Bool)? {
        state.withLock { state in
            while let account = state.changed.popFirst() {
                if let isResponder = state.roles[account] { return (account, isResponder) }
            }
            return nil
        }
    }
}

/// Keeps a connection's people in step with its contacts stream, from one joining of that stream on.
struct PeopleInContacts: Sendable {
    private let view: PeopleView
    private var contacts: ContactsState
    private let position: Position

    /// - Parameters:
    ///   - contacts: the state of the stream.
    ///   - position: up to where events are in it.
    init(_ view: PeopleView, _ contacts: ContactsState, at position: Position) {
        self.view = view
        self.contacts = contacts
        self.position = position
    }

    /// Who was seen and isn't any more.
    func begin() -> [AccountID] { view.see(contacts.contacts) }

    /// Takes in the next event, before it is handed over. Returns who isn't seen any more.
    ///
    /// Of the relations that ended while the stream was away, which the state doesn't have any more, the events tell: whoever
    /// resumes may still show these people.
    mutating func takeIn(_ event: ContactsEvent, at place: Position) -> [AccountID] {
        guard place <= position else {
            contacts.apply(event)
            return view.see(contacts.contacts)
        }
        guard case .contactRemoved(let removed) = event, contacts.contacts[removed.contact] == nil else { return [] }
        return [removed.contact]
    }
}
