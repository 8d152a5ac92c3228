-- No foreign keys: their share locks would make MultiXacts with ours, and the rules add both sides under lock.
CREATE TABLE contacts.relation (
    low                     uuid        NOT NULL,
    high                    uuid        NOT NULL,
    low_is_responder        boolean     NOT NULL,
    low_nickname            text        NOT NULL CONSTRAINT low_nickname_is_short CHECK (char_length(low_nickname) <= 400),
    low_notes               text        NOT NULL CONSTRAINT low_notes_are_short CHECK (char_length(low_notes) <= 8000),
    low_send_pings          boolean     NOT NULL,
    low_receive_pings       boolean     NOT NULL,
    low_notify_on_check_in  boolean     NOT NULL,
    low_notify_on_missed_check_in    boolean     NOT NULL,
    low_pinged_at           timestamptz,
    low_last_ping_at        timestamptz,
    low_role_requested_at   timestamptz,
    low_version             bigint      NOT NULL CONSTRAINT low_version_begins_at_one CHECK (low_version > 0),
    low_updated_at          timestamptz NOT NULL,
    high_is_responder       boolean     NOT NULL,
    high_nickname           text        NOT NULL CONSTRAINT high_nickname_is_short CHECK (char_length(high_nickname) <= 400),
    high_notes              text        NOT NULL CONSTRAINT high_notes_are_short CHECK (char_length(high_notes) <= 8000),
    high_send_pings         boolean     NOT NULL,
    high_receive_pings      boolean     NOT NULL,
    high_notify_on_check_in boolean     NOT NULL,
    high_notify_on_missed_check_in   boolean     NOT NULL,
    high_pinged_at          timestamptz,
    high_last_ping_at       timestamptz,
    high_role_requested_at  timestamptz,
    high_version            bigint      NOT NULL CONSTRAINT high_version_begins_at_one CHECK (high_version > 0),
    high_updated_at         timestamptz NOT NULL,
    added_at                timestamptz NOT NULL,
    CONSTRAINT two_accounts_have_one_relation PRIMARY KEY (low, high),
    CONSTRAINT relation_is_between_two CHECK (low < high),
    CONSTRAINT relation_has_a_role CHECK (low_is_responder OR high_is_responder),
    CONSTRAINT only_a_responder_pings
        CHECK ((low_pinged_at IS NULL OR low_is_responder) AND (high_pinged_at IS NULL OR high_is_responder)),
    CONSTRAINT no_responder_asks_to_be_one
        CHECK (NOT (low_is_responder AND low_role_requested_at IS NOT NULL)
               AND NOT (high_is_responder AND high_role_requested_at IS NOT NULL))
) WITH (fillfactor = 80);
-- The primary key finds the relations of the lesser side, this one those of the greater.
CREATE INDEX relation_by_high ON contacts.relation (high, low);

COMMENT ON TABLE contacts.relation IS 'What there is between two accounts: one row for both sides, so that neither changes without the other.';
COMMENT ON INDEX contacts.relation_by_high IS 'The relations of an account that is the greater side.';
COMMENT ON COLUMN contacts.relation.low IS 'The lesser of the two ids.';
COMMENT ON COLUMN contacts.relation.high IS 'The greater of the two ids.';
COMMENT ON COLUMN contacts.relation.low_is_responder IS 'Whether the lesser side is the other''s responder.';
COMMENT ON COLUMN contacts.relation.low_nickname IS 'What the lesser side calls the other.';
COMMENT ON COLUMN contacts.relation.low_notes IS 'What the lesser side wrote about the other.';
COMMENT ON COLUMN contacts.relation.low_send_pings IS 'Whether the lesser side wants to be able to ping.';
COMMENT ON COLUMN contacts.relation.low_receive_pings IS 'Whether the lesser side lets the other ping.';
COMMENT ON COLUMN contacts.relation.low_notify_on_check_in IS 'Whether the lesser side wants to hear of the other''s check-ins.';
COMMENT ON COLUMN contacts.relation.low_notify_on_missed_check_in IS 'Whether the lesser side wants to hear of the other''s missed check-ins.';
COMMENT ON COLUMN contacts.relation.low_pinged_at IS 'When the lesser side pinged the other, while no answer came.';
COMMENT ON COLUMN contacts.relation.low_last_ping_at IS 'When the lesser side last pinged the other, answered or not.';
COMMENT ON COLUMN contacts.relation.low_role_requested_at IS 'When the lesser side asked to become the other''s responder, while no answer came.';
COMMENT ON COLUMN contacts.relation.low_version IS 'How often the lesser side''s view of the fields was set; pings and requests don''t count.';
COMMENT ON COLUMN contacts.relation.low_updated_at IS 'When it was set.';
COMMENT ON COLUMN contacts.relation.high_is_responder IS 'Whether the greater side is the other''s responder.';
COMMENT ON COLUMN contacts.relation.high_nickname IS 'What the greater side calls the other.';
COMMENT ON COLUMN contacts.relation.high_notes IS 'What the greater side wrote about the other.';
COMMENT ON COLUMN contacts.relation.high_send_pings IS 'Whether the greater side wants to be able to ping.';
COMMENT ON COLUMN contacts.relation.high_receive_pings IS 'Whether the greater side lets the other ping.';
COMMENT ON COLUMN contacts.relation.high_notify_on_check_in IS 'Whether the greater side wants to hear of the other''s check-ins.';
COMMENT ON COLUMN contacts.relation.high_notify_on_missed_check_in IS 'Whether the greater side wants to hear of the other''s missed check-ins.';
COMMENT ON COLUMN contacts.relation.high_pinged_at IS 'When the greater side pinged the other, while no answer came.';
COMMENT ON COLUMN contacts.relation.high_last_ping_at IS 'When the greater side last pinged the other, answered or not.';
COMMENT ON COLUMN contacts.relation.high_role_requested_at IS 'When the greater side asked to become the other''s responder, while no answer came.';
COMMENT ON COLUMN contacts.relation.high_version IS 'How often the greater side''s view of the fields was set; pings and requests don''t count.';
COMMENT ON COLUMN contacts.relation.high_updated_at IS 'When it was set.';
COMMENT ON COLUMN contacts.relation.added_at IS 'Since when they are contacts.';

GRANT SELECT, INSERT, UPDATE, DELETE ON contacts.relation TO contacts;
