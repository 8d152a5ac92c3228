-- An account has one alarm of a kind at a time; it is gone when it ended.
CREATE TABLE contacts.alarm (
    account     uuid        NOT NULL,
    kind        text        NOT NULL CONSTRAINT kind_is_known CHECK (kind IN ('alert', 'missedCheckIn')),
    alarm       uuid        NOT NULL,
    occurred_at timestamptz NOT NULL,
    deadline    timestamptz,
    CONSTRAINT account_has_one_alarm_of_a_kind PRIMARY KEY (account, kind),
    CONSTRAINT deadline_is_a_missed_check_ins CHECK (deadline IS NULL OR kind = 'missedCheckIn')
);
COMMENT ON TABLE contacts.alarm IS 'Alarms that are on, as far as responders are to hear of them: missed check-ins and raised alerts.';
COMMENT ON COLUMN contacts.alarm.account IS 'Whose.';
COMMENT ON COLUMN contacts.alarm.kind IS 'What it is about.';
COMMENT ON COLUMN contacts.alarm.alarm IS 'Which one: session''s id, which everything has that is said because of it.';
COMMENT ON COLUMN contacts.alarm.occurred_at IS 'When it began.';
COMMENT ON COLUMN contacts.alarm.deadline IS 'The deadline that was missed.';

CREATE TABLE contacts.alarm_recipient (
    account    uuid        NOT NULL,
    alarm      uuid        NOT NULL,
    responder  uuid        NOT NULL,
    alerted_at timestamptz NOT NULL,
    CONSTRAINT recipient_is_noted_once PRIMARY KEY (account, alarm, responder),
    CONSTRAINT nobody_is_alerted_to_oneself CHECK (account <> responder)
);
CREATE INDEX alarm_recipient_by_responder ON contacts.alarm_recipient (responder);
COMMENT ON TABLE contacts.alarm_recipient IS 'Who heard of which alarm that is on, and will therefore hear of its end.';
COMMENT ON INDEX contacts.alarm_recipient_by_responder IS 'What an account heard of that closes.';
COMMENT ON COLUMN contacts.alarm_recipient.account IS 'Whose alarm.';
COMMENT ON COLUMN contacts.alarm_recipient.alarm IS 'Which one.';
COMMENT ON COLUMN contacts.alarm_recipient.responder IS 'Who heard of it.';
COMMENT ON COLUMN contacts.alarm_recipient.alerted_at IS 'When they first did.';

GRANT SELECT, INSERT, UPDATE, DELETE ON contacts.alarm, contacts.alarm_recipient TO contacts;
