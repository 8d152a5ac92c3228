import API
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
    /// - Parameter roles: The people, and whether the account is their responder.
    func see(_ roles: [AccountID: Bool]) -> [AccountID] {
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
    func end() { _ = see([:]) }

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
                    await outlet.giveRoom()
                    continue
                }
                let isShown = state.withLock { state in
                    guard state.roles[account] == isResponder else { return false }
                    outlet.putNow(.event(.person(person)))
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
