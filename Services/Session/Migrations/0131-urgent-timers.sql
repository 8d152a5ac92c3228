-- The types are those of `SessionCommand.urgentTimers`. The order isn't that of timer_by_due, which can't be taken for this one thereby.
CREATE INDEX urgent_timer_by_due ON session.timer (due_at, name, key)
 WHERE type IN ('AnnounceAlert', 'CloseAlarm', 'EndUnansweredAlert', 'HoldAlarm', 'MissCheckIn', 'MissTrip', 'RaiseUnansweredAlert',
                'RepeatAlarm');
COMMENT ON INDEX session.urgent_timer_by_due IS 'Finds urgent timers that are due, however many others are.';
-- compatible with 0.1.0
