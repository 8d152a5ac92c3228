-- 0058-valid-holds.sql validates the constraint, which then keeps nobody waiting.
-- No constraint ties these to the deadline: a process of an earlier release, which doesn't know them, moves that.
ALTER TABLE session.account
    ADD COLUMN alarm_held_since      timestamptz,
    ADD COLUMN alarm_reconsidered_at timestamptz,
    ADD CONSTRAINT held_alarm_is_reconsidered CHECK ((alarm_held_since IS NULL) = (alarm_reconsidered_at IS NULL)) NOT VALID;
COMMENT ON COLUMN session.account.alarm_held_since IS 'Since when the alarm of the deadline that passed has been held back, for a check-in that was recorded in time and waits to be handled; null if it isn''t.';
COMMENT ON COLUMN session.account.alarm_reconsidered_at IS 'When that is decided again. The alarm is held back for a minute at most.';
