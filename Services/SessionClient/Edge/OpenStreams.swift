import Synchronization
import Vocabulary

/// How many streams each account has open in this process.
final class OpenStreams: Sendable {
    let limit: Int
    private let counts = Mutex<[AccountID: Int]>([:])

    init(limit: Int) {
        self.limit = limit
    }

    /// One open stream. Left once, at the latest when nobody holds it any more.
    final class Place: Sendable {
        private let leaving: Mutex<(@Sendable () -> Void)?>

        fileprivate init(_ leave: @escaping @Sendable () -> Void) {
            leaving = Mutex(leave)
        }

        deinit { leave() }

        func leave() {
            let leave = leaving.withLock { leaving in
                defer { leaving = nil }
                return leaving
            }
            leave?()
        }
    }

    /// A place for one more, or nil when there are as many as there may be.
    func enter(_ account: AccountID) -> Place? {
        let isAdmitted = counts.withLock { counts in
            let count = counts[account, default: 0]
            guard count < limit else { return false }
            counts[account] = count + 1
            return true
        }
        guard isAdmitted else { return nil }
        return Place { [self] in
            counts.withLock { counts in
                let count = counts[account, default: 1]
                counts[account] = count > 1 ? count - 1 : nil
            }
        }
    }
}
