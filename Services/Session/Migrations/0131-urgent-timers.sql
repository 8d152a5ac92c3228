-- The types are those of `SessionCommand.urgentTimers`. The columns stand in another order than in timer_by_due, so that the planner would
-- have to sort to use that one, in which urgent timers come behind all others that are due.
CREATE INDEX urgent_timer_by_due ON session.timer (due_at, name, key)
 WHERE type IN ('AnnounceAlert', 'CloseAlarm', 'EndUnansweredAlert', 'HoldAlarm', 'MissCheckIn', 'MissTrip', 'RaiseUnansweredAlert',
                'RepeatAlarm');
COMMENT ON INDEX session.urgent_timer_by_due IS 'Finds urgent timers that are due, however many others are.';
-- compatible with 0.1.0
