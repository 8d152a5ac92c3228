import Postgres
import QuartetSessionRules
import QuartetVocabulary

// session.limits: the numbers that operators can set. They are read with each batch, so all replicas decide alike.

extension Pipeline {
    func limits() -> Pending {
        query(
            """
            SELECT l.check_in_cooldown, l.least_check_in_interval, l.alarm_repetition_interval, l.alert_window, l.alert_pause,
                   l.undo_window, l.phone_rest, l.alarm_repetitions, l.alert_burst,
                   l.drop_notice, l.drop_grace, l.edge_lease, l.empty_group_rest, l.least_trip,
                   l.zones, l.zones_since, l.zones_reviewing
              FROM session.limits AS l
             WHERE l.only_row
            """)
    }
}

extension Pending {
    /// Overrides numbers by those in session.limits.
    func limits(besides others: SessionLimits) throws -> SessionLimits {
        guard let row = try rows().only else { return others }
        var limits = others
        (
            limits.checkInCooldown, limits.leastCheckInInterval, limits.repetitionInterval, limits.alertWindow,
            limits.alertPause, limits.undoWindow, limits.phoneRest, limits.repetitions, limits.alertBurst,
            limits.dropNotice, limits.dropGrace, limits.edgeLease, limits.emptyGroupRest,
            limits.leastTrip, limits.zones.number, limits.zones.since, limits.zones.reviewing
        ) = try row.decode(
            Interval.self, Interval.self, Interval.self, Interval.self, Interval.self, Interval.self, Interval.self,
            Int.self, Int.self, Interval.self, Interval.self, Interval.self, Interval.self, Interval.self, Int.self,
            Instant.self, Interval.self)
        return limits
    }
}
