-- Unique at the end of a statement, not row by row: one batch may give a value up and take it in one UPDATE.
CREATE TABLE session.account (
    account                  uuid        CONSTRAINT account_is_known_once PRIMARY KEY,
    handle                   text        CONSTRAINT handle_leads_to_one_account UNIQUE DEFERRABLE INITIALLY IMMEDIATE,
    skeleton                 text        CONSTRAINT no_handle_looks_like_another UNIQUE DEFERRABLE INITIALLY IMMEDIATE,
    name                     text,
    emergency_note           text        NOT NULL CONSTRAINT emergency_note_is_short CHECK (char_length(emergency_note) <= 8000),
    profile_version          bigint      NOT NULL,
    is_single_device         boolean     NOT NULL,
    is_confirmation_required boolean     NOT NULL,
    check_in_interval        interval    NOT NULL
        CONSTRAINT check_in_interval_is_a_second_to_a_week CHECK (check_in_interval BETWEEN '1 second' AND '7 days'),
    reminds_two_hours        boolean     NOT NULL,
    reminds_thirty_minutes   boolean     NOT NULL,
    last_check_in_at         timestamptz,
    due_at                   timestamptz,
    missed_alarm             uuid,
    reminded                 text,
    missed_repetitions       int         NOT NULL,
    alert_raised_at          timestamptz,
    alert_alarm              uuid,
    alert_repetitions        int         NOT NULL,
    alert_waits_until        timestamptz,
    alert_counted_since      timestamptz,
    alert_count              int         NOT NULL DEFAULT 0 CONSTRAINT alert_count_is_not_negative CHECK (alert_count >= 0),
    opened_at                timestamptz NOT NULL,
    closed_at                timestamptz,
    CONSTRAINT handle_has_a_skeleton CHECK ((handle IS NULL) = (skeleton IS NULL)),
    CONSTRAINT open_account_has_a_handle CHECK (closed_at IS NOT NULL OR handle IS NOT NULL),
    CONSTRAINT closed_account_holds_nothing_of_the_person
        CHECK (closed_at IS NULL OR (name IS NULL AND emergency_note = '' AND last_check_in_at IS NULL
                                     AND due_at IS NULL AND alert_raised_at IS NULL)),
    CONSTRAINT deadline_follows_a_check_in CHECK (due_at IS NULL OR due_at > last_check_in_at),
    CONSTRAINT open_account_has_a_deadline CHECK ((closed_at IS NULL) = (due_at IS NOT NULL)),
    CONSTRAINT only_a_deadline_is_missed CHECK (missed_alarm IS NULL OR due_at IS NOT NULL),
    CONSTRAINT raised_alert_is_an_alarm CHECK ((alert_raised_at IS NULL) = (alert_alarm IS NULL))
) WITH (fillfactor = 70);
COMMENT ON TABLE session.account IS 'Every account; a closed one keeps its id for ever and its handle for a month, and nothing of the person.';
COMMENT ON COLUMN session.account.account IS 'The account.';
COMMENT ON COLUMN session.account.handle IS 'What others find it by.';
COMMENT ON COLUMN session.account.skeleton IS 'What the handle looks like: two that could be taken for each other have one skeleton.';
COMMENT ON COLUMN session.account.name IS 'The person''s name; NULL while the account needs a profile.';
COMMENT ON COLUMN session.account.emergency_note IS 'What responders should know.';
COMMENT ON COLUMN session.account.profile_version IS 'How often the profile was set.';
COMMENT ON COLUMN session.account.is_single_device IS 'Whether a sign-in signs the other devices out.';
COMMENT ON COLUMN session.account.is_confirmation_required IS 'Whether sensitive acts need the password again.';
COMMENT ON COLUMN session.account.check_in_interval IS 'How often to check in.';
COMMENT ON COLUMN session.account.reminds_two_hours IS 'Whether a reminder comes two hours before the deadline.';
COMMENT ON COLUMN session.account.reminds_thirty_minutes IS 'Whether a reminder comes thirty minutes before the deadline.';
COMMENT ON COLUMN session.account.last_check_in_at IS 'The last check-in.';
COMMENT ON COLUMN session.account.due_at IS 'By when the next one is due, or was, if it was missed; the first one an interval after the account was opened.';
COMMENT ON COLUMN session.account.missed_alarm IS 'The alarm that is on since the deadline was missed; NULL while none was missed.';
COMMENT ON COLUMN session.account.reminded IS 'The latest reminder of this deadline that was given.';
COMMENT ON COLUMN session.account.missed_repetitions IS 'How often the missed check-in was told again.';
COMMENT ON COLUMN session.account.alert_raised_at IS 'Since when an alert is on.';
COMMENT ON COLUMN session.account.alert_alarm IS 'The alarm that the alert is.';
COMMENT ON COLUMN session.account.alert_repetitions IS 'How often the alert was told again.';
COMMENT ON COLUMN session.account.alert_waits_until IS 'Until when responders don''t hear of the alert, because alerts were raised so often before.';
COMMENT ON COLUMN session.account.alert_counted_since IS 'Since when raised alerts are counted.';
COMMENT ON COLUMN session.account.alert_count IS 'How many of them responders heard of at once.';
COMMENT ON COLUMN session.account.opened_at IS 'When it was opened.';
COMMENT ON COLUMN session.account.closed_at IS 'When it was closed, for ever.';

GRANT SELECT, INSERT, UPDATE ON session.account TO session;
