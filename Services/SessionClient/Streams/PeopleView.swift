import ContactsContract
import ContractSupport
import Synchronization
import Vocabulary

/// The people whom one connection sees: those in its account's contacts, each as far as the relation lets it.
///
/// When a relation ends, or with a role the right to see more, nothing of what was allowed before is handed over after
/// the change.
final class PeopleView: Sendable {
    private struct State {
        /// The people seen, and whether as their responder.
        var roles: [AccountID: Bool] = [:]
        /// People to show.
        var changed: Set<AccountID> = []
    }

    private let source: PeopleSource
    private let state = Mutex(State())
    private let (wake, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    init(_ source: PeopleSource) {
        self.source = source
    }

    /// Replaces the contacts. Returns those who aren't among them any more; from now on nothing about them is handed over.
    func see(_ contacts: some Sequence<Contact>) -> [AccountID] {
        // Contacts calls the other side a dependent when this side is its responder.
        let roles = Dictionary(contacts.map { ($0.account, $0.iAmResponder) }) { $1 }
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

    /// Stops following everybody.
    func end() { _ = see(EmptyCollection()) }

    /// Notes that a person is to be shown. The source calls it under its lock.
    func changed(_ account: AccountID) {
        state.withLock { _ = $0.changed.insert(account) }
        waker.yield()
    }

    /// Shows people who changed, as fast as the connection takes them, until the task is cancelled.
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

/// Keeps a connection's people in step with its contacts stream, starting where that stream was joined.
struct PeopleInContacts: Sendable {
    private let view: PeopleView
    private var contacts: ContactsState
    private let position: Position

    /// - Parameters:
    ///   - contacts: the state of the stream.
    ///   - position: the state includes the events up to here.
    init(_ view: PeopleView, _ contacts: ContactsState, at position: Position) {
        self.view = view
        self.contacts = contacts
        self.position = position
    }

    /// Starts showing the contacts. Returns people who were shown and no longer are.
    func begin() -> [AccountID] { view.see(contacts.contacts) }

    /// Applies the next event, before it is handed over. Returns people who are no longer shown.
    ///
    /// A relation that ended while the stream was away is missing from the state, but a resuming app may still show that
    /// person; such an event returns them.
    mutating func takeIn(_ event: ContactsEvent, at place: Position) -> [AccountID] {
        guard place <= position else {
            contacts.apply(event)
            return view.see(contacts.contacts)
        }
        guard case .contactRemoved(let removed) = event, contacts.contacts[removed.contact] == nil else { return [] }
        return [removed.contact]
    }
}
