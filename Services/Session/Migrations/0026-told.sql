-- What goes on is told again so long after it was told last: who was away for a day is told once, not three times at once.
ALTER TABLE session.account ADD COLUMN missed_told_at timestamptz, ADD COLUMN alert_told_at timestamptz;
UPDATE session.account SET alert_told_at = alert_raised_at WHERE alert_raised_at IS NOT NULL;
UPDATE session.account SET missed_told_at = due_at WHERE is_missed;
ALTER TABLE session.account
    ADD CONSTRAINT missed_check_in_was_told CHECK (is_missed = (missed_told_at IS NOT NULL)),
    ADD CONSTRAINT alert_was_told CHECK ((alert_raised_at IS NULL) = (alert_told_at IS NULL));
COMMENT ON COLUMN session.account.missed_told_at IS 'When the missed check-in was last told.';
COMMENT ON COLUMN session.account.alert_told_at IS 'When the alert was last told.';
