-- compatible with 0.1.0
-- A beginning or repetition of an alarm that failed may be tried again after the alarm's end, and must alarm nobody then. A table
-- of its own, because 0.1.0 takes every row of contacts.alarm for an alarm that is on.
CREATE TABLE contacts.ended_alarm (
    account  uuid        NOT NULL,
    kind     text        NOT NULL CONSTRAINT ended_kind_is_known CHECK (kind IN ('alert', 'missedCheckIn')),
    alarm    uuid        NOT NULL,
    ended_at timestamptz NOT NULL,
    CONSTRAINT account_has_one_ended_alarm_of_a_kind PRIMARY KEY (account, kind)
);
COMMENT ON TABLE contacts.ended_alarm IS 'Each account''s newest alarm of a kind that has ended. What is still handled of it, or of an older one, alarms nobody.';
COMMENT ON COLUMN contacts.ended_alarm.account IS 'The account.';
COMMENT ON COLUMN contacts.ended_alarm.kind IS 'alert or missedCheckIn.';
COMMENT ON COLUMN contacts.ended_alarm.alarm IS 'The alarm''s id, which carries the time of its beginning.';
COMMENT ON COLUMN contacts.ended_alarm.ended_at IS 'When its end was handled.';

GRANT SELECT, INSERT, UPDATE, DELETE ON contacts.ended_alarm TO contacts;
