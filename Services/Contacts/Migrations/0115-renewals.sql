-- Whoever is on an alarm is asked, shortly before their time ends, whether they still are. A process of an earlier release, which
-- doesn't know these columns, may change an answer without them: a question is about an answer only if it was asked after it.
ALTER TABLE contacts.account ADD COLUMN next_renewal_at timestamptz;
COMMENT ON COLUMN contacts.account.next_renewal_at IS 'When somebody who is on an alarm of the account is asked whether they still are, or when their time is over and with it the question; null if nobody is asked. A timer is set for it.';

ALTER TABLE contacts.alarm
    ADD COLUMN held       interval NOT NULL DEFAULT '0 seconds',
    ADD COLUMN held_since timestamptz,
    ADD COLUMN held_until timestamptz,
    ADD CONSTRAINT hold_has_both_ends
        CHECK ((held_since IS NULL) = (held_until IS NULL) AND held_since < held_until) NOT VALID;
COMMENT ON COLUMN contacts.alarm.held IS 'For how long repetitions were held back because somebody was on it, without the time since held_since. At most four hours in all; session, which repeats the alarm, counts that itself. Like the others of answered_alarm it says nothing about another alarm.';
COMMENT ON COLUMN contacts.alarm.held_since IS 'Since when they are held back because somebody is on it.';
COMMENT ON COLUMN contacts.alarm.held_until IS 'Until when they are held back for that.';

ALTER TABLE contacts.alarm_recipient ADD COLUMN asked_at timestamptz;
COMMENT ON COLUMN contacts.alarm_recipient.asked_at IS 'When the responder was asked whether they are still on it; null if they weren''t, or if that is settled.';
-- compatible with 0.1.0
