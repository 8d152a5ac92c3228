import Synchronization

/// Whether this process lives and is ready, as its parts report it.
///
/// Each part takes a ``Check`` by its name and reports what it knows, when it changes. The process is ready when all its
/// checks are; it is alive unless one is dead, which means that only a restart helps.
///
/// ```swift
/// let check = health.check("database")
/// check.report(.notReady("the server is starting up"))
/// check.report(.ready)
/// ```
public final class Health: Sendable {
    /// What a part says of itself.
    public enum Condition: Hashable, Sendable {
        /// It works.
        case ready
        /// It works, but for this.
        case impaired(String)
        /// It doesn't work now, for this reason, and tries to.
        case notReady(String)
        /// It will not work again before a restart, for this reason.
        case dead(String)
    }

    /// A part's right to report.
    public struct Check: Sendable {
        /// The part's name.
        public let name: String
        fileprivate let health: Health

        /// Says how it is now. A finished part stays as it reported last.
        public func report(_ condition: Condition) {
            health.conditions.withLock { $0[name] = condition }
        }
    }

    private let conditions = Mutex<[String: Condition]>([:])
    private let isDraining = Mutex(false)

    /// Health without any check is alive and ready.
    public init() {}

    /// A check; not ready until it reports that it is.
    /// - Parameter name: The part's name. Two checks of one name are one.
    public func check(_ name: String) -> Check {
        conditions.withLock { conditions in
            if conditions[name] == nil { conditions[name] = .notReady("starting") }
        }
        return Check(name: name, health: self)
    }

    /// The process ends: it isn't ready from now on, whatever its parts report, so that nothing new is sent to it.
    func drain() {
        isDraining.withLock { $0 = true }
    }

    /// All checks as they are now.
    public var report: Report {
        var conditions = conditions.withLock { $0 }
        if isDraining.withLock({ $0 }) {
            conditions["process"] = .notReady("the process is stopping; send requests elsewhere")
        }
        return Report(conditions: conditions)
    }

    /// All checks as they were at one moment.
    public struct Report: Hashable, Sendable {
        /// Each part's condition by its name.
        public let conditions: [String: Condition]

        /// Whether no part is dead.
        public var isLive: Bool {
            conditions.values.allSatisfy { if case .dead = $0 { false } else { true } }
        }

        /// Whether all parts are ready.
        public var isReady: Bool {
            conditions.values.allSatisfy {
                switch $0 {
                case .ready, .impaired: true
                case .notReady, .dead: false
                }
            }
        }
    }
}
