import QuartetVocabulary
import Synchronization

/// Which versions of what is replaced as a whole this device's own changes made. A change may stand on these without its person having
/// seen more than what they chose themselves.
final class OwnVersions: Sendable {
    private struct State {
        var account: AccountID?
        /// What each of these counts stood on was one less.
        var made: [Int64] = []
    }

    /// Older ones are forgotten, and a change that stands on one of these is refused.
    private static let memory = 64

    private let state = Mutex(State())

    func note(_ version: Int64, of account: AccountID?) {
        state.withLock { state in
            if state.account != account { state = State(account: account) }
            state.made = state.made.suffix(Self.memory - 1) + [version]
        }
    }

    /// What a version has become by own changes alone, as far as they are decided.
    func following(_ version: Int64, of account: AccountID?) -> Int64 {
        state.withLock { state in
            guard state.account == account else { return version }
            var version = version
            while state.made.contains(version + 1) { version += 1 }
            return version
        }
    }
}
