import Postgres
import SessionRules
import Vocabulary

// session.limits: the numbers in the rules that can be set. They are read with each batch, so all replicas decide by the
// same ones.

extension Pipeline {
    func limits() -> Pending {
        query(
            """
            SELECT l.check_in_cooldown, l.least_check_in_interval, l.alarm_repetition_interval, l.alert_window, l.alert_pause,
                   l.undo_window, l.phone_rest, l.alarm_repetitions, l.alert_burst
              FROM session.limits AS l
             WHERE l.only_row
            """)
    }
}

extension Pending {
    /// What session.limits says; the other numbers stay as given.
    func limits(besides others: SessionLimits) throws -> SessionLimits {
        guard let row = try rows().only else { return others }
        var limits = others
        (
            limits.checkInCooldown, limits.leastCheckInInterval, limits.repetitionInterval, limits.alertWindow,
            limits.alertPause, limits.undoWindow, limits.phoneRest, limits.repetitions, limits.alertBurst
        ) = try row.decode(
            Interval.self, Interval.self, Interval.self, Interval.self, Interval.self, Interval.self, Interval.self,
            Int.self, Int.self)
        return limits
    }
}
