import Synchronization

/// How many of something each subject may have at a time in this process: streams of an account, say.
final class Places<Subject: Hashable & Sendable>: Sendable {
    let limit: Int
    private let counts = Mutex<[Subject: Int]>([:])

    init(limit: Int) {
        self.limit = limit
    }

    /// As ``EdgeLimits`` has it.
    convenience init(_ limit: Limit<Int>) { self.init(limit: limit.value) }

    /// One of them. It is left once, at the latest when it is released.
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
    func enter(_ subject: Subject) -> Place? {
        let isAdmitted = counts.withLock { counts in
            let count = counts[subject, default: 0]
            guard count < limit else { return false }
            counts[subject] = count + 1
            return true
        }
        guard isAdmitted else { return nil }
        return Place { [self] in
            counts.withLock { counts in
                let count = counts[subject, default: 1]
                counts[subject] = count > 1 ? count - 1 : nil
            }
        }
    }
}
