-- The types are those of `ContactsCommand.urgentTimers`. The columns stand in another order than in timer_by_due, so that the planner would
-- have to sort to use that one, in which urgent timers come behind all others that are due.
CREATE INDEX urgent_timer_by_due ON contacts.timer (due_at, name, key)
 WHERE type IN ('BeginNextTier', 'JudgePings', 'SettleUnansweredPings');
COMMENT ON INDEX contacts.urgent_timer_by_due IS 'Finds urgent timers that are due, however many others are.';
-- compatible with 0.1.0
