import Postgres
import QuartetNotificationsRules

// notifications.limits: the numbers that operators can set. They are read with each batch, so all replicas decide
// alike.

extension Pipeline {
    func limits() -> Pending { query("SELECT l.burst FROM notifications.limits AS l WHERE l.only_row") }
}

extension Pending {
    /// Overrides numbers by those in notifications.limits.
    func limits(besides others: NotificationsLimits) throws -> NotificationsLimits {
        guard let row = try rows().only else { return others }
        var limits = others
        limits.burst = try row.decode(0, as: Int.self)
        return limits
    }
}
