-- An account has at most one alarm of each kind. When an alarm ends, its row is deleted.
CREATE TABLE contacts.alarm (
    account     uuid        NOT NULL,
    kind        text        NOT NULL CONSTRAINT kind_is_known CHECK (kind IN ('alert', 'missedCheckIn')),
    alarm       uuid        NOT NULL,
    occurred_at timestamptz NOT NULL,
    deadline    timestamptz,
    CONSTRAINT account_has_one_alarm_of_a_kind PRIMARY KEY (account, kind),
    CONSTRAINT deadline_is_a_missed_check_ins CHECK (deadline IS NULL OR kind = 'missedCheckIn')
);
COMMENT ON TABLE contacts.alarm IS 'Missed check-ins and raised alerts that responders are alarmed about.';
COMMENT ON COLUMN contacts.alarm.account IS 'The account.';
COMMENT ON COLUMN contacts.alarm.kind IS 'alert or missedCheckIn.';
COMMENT ON COLUMN contacts.alarm.alarm IS 'The alarm''s id, given by session. Everything that is sent because of the alarm carries it.';
COMMENT ON COLUMN contacts.alarm.occurred_at IS 'When the alarm began.';
COMMENT ON COLUMN contacts.alarm.deadline IS 'The deadline that was missed; null for an alert.';

CREATE TABLE contacts.alarm_recipient (
    account    uuid        NOT NULL,
    alarm      uuid        NOT NULL,
    responder  uuid        NOT NULL,
    alerted_at timestamptz NOT NULL,
    CONSTRAINT recipient_is_noted_once PRIMARY KEY (account, alarm, responder),
    CONSTRAINT nobody_is_alerted_to_oneself CHECK (account <> responder)
);
CREATE INDEX alarm_recipient_by_responder ON contacts.alarm_recipient (responder);
COMMENT ON TABLE contacts.alarm_recipient IS 'The responders who were alarmed, and so will be told when the alarm ends.';
COMMENT ON INDEX contacts.alarm_recipient_by_responder IS 'Finds the alarms of which an account was told, for when it closes.';
COMMENT ON COLUMN contacts.alarm_recipient.account IS 'The account with the alarm.';
COMMENT ON COLUMN contacts.alarm_recipient.alarm IS 'The alarm''s id.';
COMMENT ON COLUMN contacts.alarm_recipient.responder IS 'The responder''s account.';
COMMENT ON COLUMN contacts.alarm_recipient.alerted_at IS 'When the responder was first alarmed.';

GRANT SELECT, INSERT, UPDATE, DELETE ON contacts.alarm, contacts.alarm_recipient TO contacts;
