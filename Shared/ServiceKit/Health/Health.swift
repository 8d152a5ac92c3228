import Synchronization

/// Whether this process is alive and ready, according to its parts.
///
/// Each part takes a ``Check`` and reports its condition when it changes. The process is ready when all checks are, and
/// alive unless one is dead, which means that only a restart helps.
///
/// ```swift
/// let check = health.check("database")
/// check.report(.notReady("the server is starting up"))
/// check.report(.ready)
/// ```
package final class Health: Sendable {
    package enum Condition: Hashable, Sendable {
        case ready
        /// It works, with a restriction.
        case impaired(String)
        /// It doesn't work now, and keeps trying.
        case notReady(String)
        /// It will not work again before a restart.
        case dead(String)
    }

    package struct Check: Sendable {
        package let name: String
        fileprivate let health: Health

        /// Reports the part's condition. When a part ends, its last report stands.
        package func report(_ condition: Condition) {
            health.conditions.withLock { $0[name] = condition }
            health.noteChange()
        }
    }

    private let conditions = Mutex<[String: Condition]>([:])
    private let isDraining = Mutex(false)
    private let watchers = Mutex<[UInt64: AsyncStream<Void>.Continuation]>([:])
    private let lastWatcher = Atomic<UInt64>(0)

    /// Without checks, it is alive and ready.
    package init() {}

    /// Adds a check, which isn't ready until it reports so.
    /// - Parameter name: Checks with the same name are one.
    package func check(_ name: String) -> Check {
        conditions.withLock { conditions in
            if conditions[name] == nil { conditions[name] = .notReady("starting") }
        }
        noteChange()
        return Check(name: name, health: self)
    }

    /// The process is ending. From now on it isn't ready, whatever its parts report, so that it gets no new requests.
    func drain() {
        isDraining.withLock { $0 = true }
        noteChange()
    }

    /// Yields at once, and whenever ``report`` may have changed; changes that come together count as one.
    /// - Returns: The changes, and what ends them.
    package func watch() -> (changes: AsyncStream<Void>, end: @Sendable () -> Void) {
        let id = lastWatcher.add(1, ordering: .relaxed).newValue
        let (changes, watcher) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        watcher.onTermination = { [weak self] _ in self?.removeWatcher(id) }
        watchers.withLock { $0[id] = watcher }
        watcher.yield()
        return (changes, { watcher.finish() })
    }

    private func removeWatcher(_ id: UInt64) {
        watchers.withLock { _ = $0.removeValue(forKey: id) }
    }

    private func noteChange() {
        for watcher in watchers.withLock({ Array($0.values) }) { watcher.yield() }
    }

    package var report: Report {
        var conditions = conditions.withLock { $0 }
        if isDraining.withLock({ $0 }) {
            conditions["process"] = .notReady("the process is stopping; send requests elsewhere")
        }
        return Report(conditions: conditions)
    }

    /// All checks as they were at one moment.
    package struct Report: Hashable, Sendable {
        /// By the part's name.
        package let conditions: [String: Condition]

        package var isLive: Bool {
            conditions.values.allSatisfy { if case .dead = $0 { false } else { true } }
        }

        package var isReady: Bool {
            conditions.values.allSatisfy {
                switch $0 {
                case .ready, .impaired: true
                case .notReady, .dead: false
                }
            }
        }
    }
}
