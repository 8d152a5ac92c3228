-- What goes on is told again so long after it was told last: who was away for a day is told once, not three times at once.
ALTER TABLE session.account ADD COLUMN missed_last_alarm_at timestamptz, ADD COLUMN alert_last_alarm_at timestamptz;
ALTER TABLE session.account
    ADD CONSTRAINT missed_check_in_was_told CHECK ((missed_alarm IS NULL) = (missed_last_alarm_at IS NULL)),
    ADD CONSTRAINT alert_was_told_or_waits
        CHECK (CASE WHEN alert_raised_at IS NULL THEN alert_last_alarm_at IS NULL AND alert_waits_until IS NULL
                    ELSE (alert_last_alarm_at IS NULL) = (alert_waits_until IS NOT NULL) END);
COMMENT ON COLUMN session.account.missed_last_alarm_at IS 'When responders were last alarmed about the missed check-in.';
COMMENT ON COLUMN session.account.alert_last_alarm_at IS 'When responders last heard of the alert; NULL while that waits.';
