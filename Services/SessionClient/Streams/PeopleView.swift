import QuartetAPI
import QuartetVocabulary
import Synchronization

/// The people whom one connection sees: those in its account's contacts, each as far as the relation lets it, and those in
/// the group sessions that it follows.
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
    /// The people that each sequence lets the connection see. Held while they change, so that the changes stay in order.
    private let parts = Mutex<[StreamName: [AccountID: Bool]]>([:])
    private let state = Mutex(State())
    private let (wake, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// The group sessions that the connection lists, which its contacts may offer.
    let list: GroupList?

    init(_ source: PeopleSource, list: GroupList? = nil) {
        self.source = source
        self.list = list
    }

    /// Replaces the people that a sequence lets the connection see. Returns those whom no sequence does any more; from now on
    /// nothing about them is handed over.
    /// - Parameter roles: The people, and whether the account is their responder.
    func see(_ roles: [AccountID: Bool], in sequence: StreamName) -> [AccountID] {
        parts.withLock { parts in
            parts[sequence] = roles.isEmpty ? nil : roles
            let all = parts.values.reduce(into: [:]) { $0.merge($1) { $0 || $1 } }
            let (ended, new) = state.withLock { state in
                let before = state.roles
                state.roles = all
                state.changed = state.changed.filter { all[$0] != nil }
                return (before.keys.filter { all[$0] == nil }, all.filter { before[$0.key] != $0.value })
            }
            if !ended.isEmpty { source.unwatch(ended, self) }
            if !new.isEmpty { source.watch(new.map { ($0.key, $0.value) }, self) }
            return ended
        }
    }

    /// Whether some sequence lets the connection see a person.
    func sees(_ account: AccountID) -> Bool { state.withLock { $0.roles[account] != nil } }

    /// Stops following everybody.
    func end() { for sequence in parts.withLock({ Array($0.keys) }) { _ = see([:], in: sequence) } }

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
                guard let person = try source.person(account, seenByResponder: isResponder) else {
                    outlet.giveRoom()
                    continue
                }
                let isShown = state.withLock { state in
                    guard state.roles[account] == isResponder else { return false }
                    outlet.putNow(.event(.person(person)))
                    return true
                }
                if !isShown { outlet.giveRoom() }
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
