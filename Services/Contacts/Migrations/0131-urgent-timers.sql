-- The types are those of `ContactsCommand.urgentTimers`. The order isn't that of timer_by_due, which can't be taken for this one thereby.
CREATE INDEX urgent_timer_by_due ON contacts.timer (due_at, name, key)
 WHERE type IN ('BeginNextTier', 'JudgePings', 'SettleUnansweredPings');
COMMENT ON INDEX contacts.urgent_timer_by_due IS 'Finds urgent timers that are due, however many others are.';
-- compatible with 0.1.0
