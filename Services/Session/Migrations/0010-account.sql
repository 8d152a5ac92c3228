-- The UNIQUE constraints are checked at the end of a statement, not row by row: the UPDATE of a batch may give a value
-- up in one row and take it in another.
CREATE TABLE session.account (
    account                  uuid        CONSTRAINT account_is_known_once PRIMARY KEY,
    opened_at                timestamptz NOT NULL,
    closed_at                timestamptz,

    handle                   text        CONSTRAINT handle_leads_to_one_account UNIQUE DEFERRABLE INITIALLY IMMEDIATE,
    skeleton                 text        CONSTRAINT no_handle_looks_like_another UNIQUE DEFERRABLE INITIALLY IMMEDIATE,
    name                     text,
    emergency_note           text        NOT NULL CONSTRAINT emergency_note_is_short CHECK (char_length(emergency_note) <= 8000),
    profile_version          bigint      NOT NULL,
    avatar                   json,

    phone                    text        CONSTRAINT phone_is_e164 CHECK (phone ~ '^\+[1-9][0-9]{6,14}$')
                                         CONSTRAINT number_signs_in_one_account UNIQUE DEFERRABLE INITIALLY IMMEDIATE,
    phone_region             text        CONSTRAINT phone_region_is_two_letters CHECK (phone_region ~ '^[A-Z]{2}$'),
    phone_id                 uuid        CONSTRAINT phone_signs_in_one_account UNIQUE DEFERRABLE INITIALLY IMMEDIATE,
    phone_key                text        CONSTRAINT phone_key_is_a_version CHECK (phone_key ~ '^[0-9a-f]{8}$'),
    is_single_device         boolean     NOT NULL,
    is_confirmation_required boolean     NOT NULL,
    oldest_change_at         timestamptz,

    check_in_interval        interval    NOT NULL
        CONSTRAINT check_in_interval_is_a_second_to_a_week CHECK (check_in_interval BETWEEN '1 second' AND '7 days'),
    reminds_two_hours        boolean     NOT NULL,
    reminds_thirty_minutes   boolean     NOT NULL,
    last_check_in_at         timestamptz,
    due_at                   timestamptz,
    reminded                 text,
    missed_alarm             uuid,
    missed_last_alarm_at     timestamptz,
    missed_repetitions       int         NOT NULL,

    alert_raised_at          timestamptz,
    alert_alarm              uuid,
    alert_last_alarm_at      timestamptz,
    alert_repetitions        int         NOT NULL,
    alert_waits_until        timestamptz,
    alert_counted_since      timestamptz,
    alert_count              int         NOT NULL DEFAULT 0 CONSTRAINT alert_count_is_not_negative CHECK (alert_count >= 0),

    CONSTRAINT handle_has_a_skeleton CHECK ((handle IS NULL) = (skeleton IS NULL)),
    CONSTRAINT open_account_has_a_handle CHECK (closed_at IS NOT NULL OR handle IS NOT NULL),
    CONSTRAINT phone_has_a_name CHECK ((phone IS NULL) = (phone_id IS NULL) AND (phone IS NULL) = (phone_key IS NULL)),
    CONSTRAINT region_is_a_phones CHECK (phone_region IS NULL OR phone IS NOT NULL),
    CONSTRAINT deadline_follows_a_check_in CHECK (due_at IS NULL OR due_at > last_check_in_at),
    CONSTRAINT open_account_has_a_deadline CHECK ((closed_at IS NULL) = (due_at IS NOT NULL)),
    CONSTRAINT only_a_deadline_is_missed CHECK (missed_alarm IS NULL OR due_at IS NOT NULL),
    CONSTRAINT missed_check_in_was_told CHECK ((missed_alarm IS NULL) = (missed_last_alarm_at IS NULL)),
    CONSTRAINT raised_alert_is_an_alarm CHECK ((alert_raised_at IS NULL) = (alert_alarm IS NULL)),
    CONSTRAINT alert_was_told_or_waits
        CHECK (CASE WHEN alert_raised_at IS NULL THEN alert_last_alarm_at IS NULL AND alert_waits_until IS NULL
                    ELSE (alert_last_alarm_at IS NULL) = (alert_waits_until IS NOT NULL) END),
    CONSTRAINT closed_account_holds_nothing_of_the_person
        CHECK (closed_at IS NULL OR (name IS NULL AND emergency_note = '' AND last_check_in_at IS NULL
                                     AND due_at IS NULL AND alert_raised_at IS NULL)),
    CONSTRAINT closed_account_has_no_phone CHECK (closed_at IS NULL OR phone IS NULL),
    CONSTRAINT closed_account_has_no_avatar CHECK (closed_at IS NULL OR avatar IS NULL),
    CONSTRAINT closed_account_has_no_changes CHECK (closed_at IS NULL OR oldest_change_at IS NULL)
) WITH (fillfactor = 70);
CREATE INDEX account_by_phone_key ON session.account (phone_key) WHERE phone_key IS NOT NULL;
CREATE INDEX account_in_alarm ON session.account (account) WHERE missed_alarm IS NOT NULL OR alert_alarm IS NOT NULL;

COMMENT ON TABLE session.account IS 'Every account. A closed one keeps its id permanently and its handle for a month, but no personal data.';
COMMENT ON INDEX session.account_by_phone_key IS 'Counts the phones whose ids were made under each of the server''s keys.';
COMMENT ON INDEX session.account_in_alarm IS 'Finds missed check-ins and raised alerts, for operators.';
COMMENT ON COLUMN session.account.account IS 'The account.';
COMMENT ON COLUMN session.account.opened_at IS 'When the account was opened.';
COMMENT ON COLUMN session.account.closed_at IS 'When the account was closed, which is permanent.';
COMMENT ON COLUMN session.account.handle IS 'The unique name by which others find the account.';
COMMENT ON COLUMN session.account.skeleton IS 'The handle''s appearance: handles that could be mistaken for each other have the same skeleton.';
COMMENT ON COLUMN session.account.name IS 'The person''s name; null until the account has a profile.';
COMMENT ON COLUMN session.account.emergency_note IS 'What responders should know in an emergency.';
COMMENT ON COLUMN session.account.profile_version IS 'How often the profile was set.';
COMMENT ON COLUMN session.account.avatar IS 'The person''s picture: Avatar of the contract. Its bytes are in session.avatar_chunk.';
COMMENT ON COLUMN session.account.phone IS 'The phone number that signs in this account, in E.164 form; confirmed by a code.';
COMMENT ON COLUMN session.account.phone_region IS 'The region in which the phone was entered: ISO 3166-1 alpha-2.';
COMMENT ON COLUMN session.account.phone_id IS 'The edge''s id for the phone number, made under a key of the server so that it can''t be turned back into the number.';
COMMENT ON COLUMN session.account.phone_key IS 'The version of the key under which phone_id was made. The edge replaces the id by one made under the current key.';
COMMENT ON COLUMN session.account.is_single_device IS 'Whether a sign-in signs out the other devices.';
COMMENT ON COLUMN session.account.is_confirmation_required IS 'Whether sensitive actions need the password again.';
COMMENT ON COLUMN session.account.oldest_change_at IS 'When the oldest change in session.security_change was made. The timer that forgets it is set from this.';
COMMENT ON COLUMN session.account.check_in_interval IS 'How often to check in.';
COMMENT ON COLUMN session.account.reminds_two_hours IS 'Whether to remind two hours before the deadline.';
COMMENT ON COLUMN session.account.reminds_thirty_minutes IS 'Whether to remind thirty minutes before the deadline.';
COMMENT ON COLUMN session.account.last_check_in_at IS 'When the last check-in was.';
COMMENT ON COLUMN session.account.due_at IS 'The deadline of the next check-in, or the one that was missed. The first deadline is one interval after the account was opened.';
COMMENT ON COLUMN session.account.reminded IS 'The latest reminder that was given for this deadline.';
COMMENT ON COLUMN session.account.missed_alarm IS 'The alarm of the missed check-in; null if none was missed.';
COMMENT ON COLUMN session.account.missed_last_alarm_at IS 'When responders were last alarmed about the missed check-in. Repetitions count from here, so an outage causes one and not several at once.';
COMMENT ON COLUMN session.account.missed_repetitions IS 'How often the alarm about the missed check-in was repeated.';
COMMENT ON COLUMN session.account.alert_raised_at IS 'When the alert was raised; null if there is none.';
COMMENT ON COLUMN session.account.alert_alarm IS 'The alert''s alarm.';
COMMENT ON COLUMN session.account.alert_last_alarm_at IS 'When responders were last alarmed about the alert; null while that waits.';
COMMENT ON COLUMN session.account.alert_repetitions IS 'How often the alarm about the alert was repeated.';
COMMENT ON COLUMN session.account.alert_waits_until IS 'When responders will be alarmed about the alert, if it was delayed because too many were raised before it.';
COMMENT ON COLUMN session.account.alert_counted_since IS 'When the current count of raised alerts began.';
COMMENT ON COLUMN session.account.alert_count IS 'How many alerts since then alarmed responders at once.';

GRANT SELECT, INSERT, UPDATE ON session.account TO session;

CREATE VIEW session.handle AS
SELECT a.handle, a.account
  FROM session.account AS a
 WHERE a.closed_at IS NULL;
COMMENT ON VIEW session.handle IS 'The account of each handle. Look handles up in the form of the contract''s Handle.';
COMMENT ON COLUMN session.handle.handle IS 'The handle.';
COMMENT ON COLUMN session.handle.account IS 'The account.';
GRANT SELECT ON session.handle TO session_client;

CREATE VIEW session.profile AS
SELECT a.account, a.handle, a.name, a.emergency_note, a.profile_version AS version
  FROM session.account AS a
 WHERE a.closed_at IS NULL;
COMMENT ON VIEW session.profile IS 'What other people may see of a person. The edge decides which columns each of them sees.';
COMMENT ON COLUMN session.profile.account IS 'The account.';
COMMENT ON COLUMN session.profile.handle IS 'The handle: visible to everyone who found it, and to people this person asked to become contacts.';
COMMENT ON COLUMN session.profile.name IS 'The name: visible to contacts, to people who have the contact code, and to people this person asked to become contacts.';
COMMENT ON COLUMN session.profile.emergency_note IS 'What responders should know in an emergency: visible to responders.';
COMMENT ON COLUMN session.profile.version IS 'How often the profile was set.';
GRANT SELECT ON session.profile TO session_client;
