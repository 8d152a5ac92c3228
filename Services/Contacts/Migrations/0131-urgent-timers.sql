-- The types are those of `ContactsCommand.urgentTimers`. In this order timer_by_due would need a sort, so it isn't
-- taken instead, through which the urgent ones are found behind all others only.
CREATE INDEX urgent_timer_by_due ON contacts.timer (due_at, name, key)
 WHERE type IN ('BeginNextTier', 'JudgePings', 'SettleUnansweredPings');
COMMENT ON INDEX contacts.urgent_timer_by_due IS 'Finds urgent timers that are due, however many others are.';
-- compatible with 0.1.0
