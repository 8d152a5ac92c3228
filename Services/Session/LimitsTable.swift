import Postgres
import Vocabulary

// session.limits: the numbers in the rules that can be set. They are read with each batch, so all replicas decide by the
// same ones.

extension Pipeline {
    func limits() -> Pending {
        func microseconds(_ column: String) -> String { "(extract(epoch FROM l.\(column)) * 1000000)::bigint" }
        let intervals = [
            "check_in_cooldown", "least_check_in_interval", "alarm_repetition_interval", "alert_window", "alert_pause",
            "undo_window", "phone_rest",
        ].map(microseconds).joined(separator: ", ")
        return query(
            """
            SELECT \(unescaped: intervals), l.alarm_repetitions, l.alert_burst
              FROM session.limits AS l
             WHERE l.only_row
            """)
    }
}

extension Pending {
    /// What session.limits says; the other numbers stay as given.
    func limits(besides others: SessionLimits) throws -> SessionLimits {
        guard let row = try rows().only else { return others }
        let (cooldown, least, repetition, window, pause, undo, rest, repetitions, burst) = try row.decode(
            Int64.self, Int64.self, Int64.self, Int64.self, Int64.self, Int64.self, Int64.self, Int32.self, Int32.self)
        var limits = others
        limits.checkInCooldown = Interval(microseconds: cooldown)
        limits.leastCheckInInterval = Interval(microseconds: least)
        limits.repetitionInterval = Interval(microseconds: repetition)
        limits.alertWindow = Interval(microseconds: window)
        limits.alertPause = Interval(microseconds: pause)
        limits.undoWindow = Interval(microseconds: undo)
        limits.phoneRest = Interval(microseconds: rest)
        limits.repetitions = Int(repetitions)
        limits.alertBurst = Int(burst)
        return limits
    }
}
