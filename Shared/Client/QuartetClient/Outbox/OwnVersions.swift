import QuartetVocabulary
import Synchronization

/// Which versions of what is replaced as a whole this device's own changes made, by stream. A change may stand on these without its person
/// having seen more than what they chose themselves.
final class OwnVersions: Sendable {
    private struct State {
        var account: AccountID?
        /// What each of these counts stood on was one less.
        var made: [String: [Int64]] = [:]
    }

    /// Older ones are forgotten, and a change that stands on one of these is refused.
    private static let memory = 64

    private let state = Mutex(State())

    func note(_ version: Int64, in stream: String, of account: AccountID?) {
        state.withLock { state in
            if state.account != account { state = State(account: account) }
            var made = state.made[stream] ?? []
            guard !made.contains(version) else { return }
            made.append(version)
            state.made[stream] = Array(made.suffix(Self.memory))
        }
    }

    /// What a version has become by own changes alone, as far as they are decided.
    func following(_ version: Int64, in stream: String, of account: AccountID?) -> Int64 {
        state.withLock { state in
            guard state.account == account, let made = state.made[stream] else { return version }
            var version = version
            while made.contains(version + 1) { version += 1 }
            return version
        }
    }
}

extension Outbox {
    /// - Parameter version: Nil if the item made none, or if that isn't known.
    func noteVersion(_ version: Int64?, madeBy item: OutboxItem) {
        // What comes late of somebody who has signed out says nothing of whoever is there now.
        guard let version, item.account == store.account ?? store.unreadAccount else { return }
        own.note(version, in: item.stream, of: item.account)
    }
}
