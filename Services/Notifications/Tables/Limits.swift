import NotificationsRules
import Postgres

// notifications.limits: the numbers in the rules that can be set. They are read with each batch, so all replicas decide by
// the same ones.

extension Pipeline {
    func limits() -> Pending { query("SELECT l.burst FROM notifications.limits AS l WHERE l.only_row") }
}

extension Pending {
    /// What notifications.limits says; the other numbers stay as given.
    func limits(besides others: NotificationsLimits) throws -> NotificationsLimits {
        guard let row = try rows().only else { return others }
        var limits = others
        limits.burst = try row.decode(0, as: Int.self)
        return limits
    }
}
