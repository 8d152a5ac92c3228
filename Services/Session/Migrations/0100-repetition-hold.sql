-- No constraint ties these to the alarm: a process of an earlier release, which doesn't know them, ends that.
ALTER TABLE session.account
    ADD COLUMN missed_hold_alarm      uuid,
    ADD COLUMN missed_hold_version    int      NOT NULL DEFAULT 0,
    ADD COLUMN missed_hold_since      timestamptz,
    ADD COLUMN missed_hold_until      timestamptz,
    ADD COLUMN missed_hold_used       interval NOT NULL DEFAULT '0 seconds',
    ADD COLUMN missed_hold_safe_until timestamptz,
    ADD COLUMN missed_hold_closes_at  timestamptz,
    ADD COLUMN missed_hold_is_closing boolean  NOT NULL DEFAULT false,
    ADD COLUMN alert_hold_alarm      uuid,
    ADD COLUMN alert_hold_version    int      NOT NULL DEFAULT 0,
    ADD COLUMN alert_hold_since      timestamptz,
    ADD COLUMN alert_hold_until      timestamptz,
    ADD COLUMN alert_hold_used       interval NOT NULL DEFAULT '0 seconds',
    ADD COLUMN alert_hold_safe_until timestamptz,
    ADD COLUMN alert_hold_closes_at  timestamptz,
    ADD COLUMN alert_hold_is_closing boolean  NOT NULL DEFAULT false;
COMMENT ON COLUMN session.account.missed_hold_alarm IS 'The alarm of the missed check-in whose repetitions responders'' answers hold back. The others of these columns say nothing about another alarm.';
COMMENT ON COLUMN session.account.missed_hold_version IS 'Which change of that was taken last. One that comes late changes nothing.';
COMMENT ON COLUMN session.account.missed_hold_since IS 'Since when some responder has been on it without a break; null if none is.';
COMMENT ON COLUMN session.account.missed_hold_until IS 'Until when some responder is on it; null if none is. Until then the alarm isn''t repeated.';
COMMENT ON COLUMN session.account.missed_hold_used IS 'For how long responders were on it before. Four hours in all hold the repetitions back.';
COMMENT ON COLUMN session.account.missed_hold_safe_until IS 'Until when the alarm isn''t repeated because a responder says that the person is safe; null if none does.';
COMMENT ON COLUMN session.account.missed_hold_closes_at IS 'When the alarm is to be closed for that; null if it isn''t.';
COMMENT ON COLUMN session.account.missed_hold_is_closing IS 'Whether it is time, and contacts is to decide. Until it has, the alarm goes on.';
COMMENT ON COLUMN session.account.alert_hold_alarm IS 'The alarm of the alert whose repetitions responders'' answers hold back. The others of these columns say nothing about another alarm.';
COMMENT ON COLUMN session.account.alert_hold_version IS 'Which change of that was taken last. One that comes late changes nothing.';
COMMENT ON COLUMN session.account.alert_hold_since IS 'Since when some responder has been on it without a break; null if none is.';
COMMENT ON COLUMN session.account.alert_hold_until IS 'Until when some responder is on it; null if none is. Until then the alarm isn''t repeated.';
COMMENT ON COLUMN session.account.alert_hold_used IS 'For how long responders were on it before. Four hours in all hold the repetitions back.';
COMMENT ON COLUMN session.account.alert_hold_safe_until IS 'Until when the alarm isn''t repeated because a responder says that the person is safe; null if none does.';
COMMENT ON COLUMN session.account.alert_hold_closes_at IS 'When the alarm is to be closed for that; null if it isn''t.';
COMMENT ON COLUMN session.account.alert_hold_is_closing IS 'Whether it is time, and contacts is to decide. Until it has, the alarm goes on.';
-- compatible with 0.1.0
