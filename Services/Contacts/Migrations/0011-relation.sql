-- No foreign keys: their share locks would make MultiXacts with ours, and the rules lock both accounts anyway.
CREATE TABLE contacts.relation (
    low                            uuid        NOT NULL,
    high                           uuid        NOT NULL,
    low_is_responder               boolean     NOT NULL,
    low_nickname                   text        NOT NULL CONSTRAINT low_nickname_is_short CHECK (char_length(low_nickname) <= 400),
    low_notes                      text        NOT NULL CONSTRAINT low_notes_are_short CHECK (char_length(low_notes) <= 8000),
    low_send_pings                 boolean     NOT NULL,
    low_receive_pings              boolean     NOT NULL,
    low_notify_on_check_in         boolean     NOT NULL,
    low_notify_on_missed_check_in  boolean     NOT NULL,
    low_pinged_at                  timestamptz,
    low_last_ping_at               timestamptz,
    low_role_requested_at          timestamptz,
    low_version                    bigint      NOT NULL CONSTRAINT low_version_begins_at_one CHECK (low_version > 0),
    low_updated_at                 timestamptz NOT NULL,
    high_is_responder              boolean     NOT NULL,
    high_nickname                  text        NOT NULL CONSTRAINT high_nickname_is_short CHECK (char_length(high_nickname) <= 400),
    high_notes                     text        NOT NULL CONSTRAINT high_notes_are_short CHECK (char_length(high_notes) <= 8000),
    high_send_pings                boolean     NOT NULL,
    high_receive_pings             boolean     NOT NULL,
    high_notify_on_check_in        boolean     NOT NULL,
    high_notify_on_missed_check_in boolean     NOT NULL,
    high_pinged_at                 timestamptz,
    high_last_ping_at              timestamptz,
    high_role_requested_at         timestamptz,
    high_version                   bigint      NOT NULL CONSTRAINT high_version_begins_at_one CHECK (high_version > 0),
    high_updated_at                timestamptz NOT NULL,
    added_at                       timestamptz NOT NULL,
    CONSTRAINT two_accounts_have_one_relation PRIMARY KEY (low, high),
    CONSTRAINT relation_is_between_two CHECK (low < high),
    CONSTRAINT relation_has_a_role CHECK (low_is_responder OR high_is_responder),
    CONSTRAINT only_a_responder_pings
        CHECK ((low_pinged_at IS NULL OR low_is_responder) AND (high_pinged_at IS NULL OR high_is_responder)),
    CONSTRAINT no_responder_asks_to_be_one
        CHECK (NOT (low_is_responder AND low_role_requested_at IS NOT NULL)
               AND NOT (high_is_responder AND high_role_requested_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX relation_by_high ON contacts.relation (high, low);

COMMENT ON TABLE contacts.relation IS 'The relation of two accounts: one row for both sides, so that they change together.';
COMMENT ON INDEX contacts.relation_by_high IS 'Finds the relations in which an account is the greater side. The primary key finds those in which it is the lesser.';
COMMENT ON COLUMN contacts.relation.low IS 'The lesser of the two account ids.';
COMMENT ON COLUMN contacts.relation.high IS 'The greater of the two account ids.';
COMMENT ON COLUMN contacts.relation.low_is_responder IS 'Whether the lesser side is the other''s responder.';
COMMENT ON COLUMN contacts.relation.low_nickname IS 'The lesser side''s nickname for the other.';
COMMENT ON COLUMN contacts.relation.low_notes IS 'The lesser side''s notes about the other.';
COMMENT ON COLUMN contacts.relation.low_send_pings IS 'Whether the lesser side wants to be able to ping.';
COMMENT ON COLUMN contacts.relation.low_receive_pings IS 'Whether the lesser side lets the other ping.';
COMMENT ON COLUMN contacts.relation.low_notify_on_check_in IS 'Whether to notify the lesser side of the other''s check-ins.';
COMMENT ON COLUMN contacts.relation.low_notify_on_missed_check_in IS 'Whether to notify the lesser side of the other''s missed check-ins.';
COMMENT ON COLUMN contacts.relation.low_pinged_at IS 'When the lesser side pinged the other; null once that is answered.';
COMMENT ON COLUMN contacts.relation.low_last_ping_at IS 'When the lesser side last pinged the other, answered or not.';
COMMENT ON COLUMN contacts.relation.low_role_requested_at IS 'When the lesser side asked to become the other''s responder; null once that is answered.';
COMMENT ON COLUMN contacts.relation.low_version IS 'How often the lesser side''s fields were set, not counting pings and requests.';
COMMENT ON COLUMN contacts.relation.low_updated_at IS 'When they were last set.';
COMMENT ON COLUMN contacts.relation.high_is_responder IS 'Whether the greater side is the other''s responder.';
COMMENT ON COLUMN contacts.relation.high_nickname IS 'The greater side''s nickname for the other.';
COMMENT ON COLUMN contacts.relation.high_notes IS 'The greater side''s notes about the other.';
COMMENT ON COLUMN contacts.relation.high_send_pings IS 'Whether the greater side wants to be able to ping.';
COMMENT ON COLUMN contacts.relation.high_receive_pings IS 'Whether the greater side lets the other ping.';
COMMENT ON COLUMN contacts.relation.high_notify_on_check_in IS 'Whether to notify the greater side of the other''s check-ins.';
COMMENT ON COLUMN contacts.relation.high_notify_on_missed_check_in IS 'Whether to notify the greater side of the other''s missed check-ins.';
COMMENT ON COLUMN contacts.relation.high_pinged_at IS 'When the greater side pinged the other; null once that is answered.';
COMMENT ON COLUMN contacts.relation.high_last_ping_at IS 'When the greater side last pinged the other, answered or not.';
COMMENT ON COLUMN contacts.relation.high_role_requested_at IS 'When the greater side asked to become the other''s responder; null once that is answered.';
COMMENT ON COLUMN contacts.relation.high_version IS 'How often the greater side''s fields were set, not counting pings and requests.';
COMMENT ON COLUMN contacts.relation.high_updated_at IS 'When they were last set.';
COMMENT ON COLUMN contacts.relation.added_at IS 'When the two became contacts.';

GRANT SELECT, INSERT, UPDATE, DELETE ON contacts.relation TO contacts;

CREATE VIEW contacts.contact AS
SELECT r.low AS account, r.high AS contact, r.low_nickname AS nickname, r.low_notes AS notes,
       r.high_is_responder AS is_my_responder, r.low_is_responder AS i_am_responder,
       r.low_send_pings AS send_pings, r.low_receive_pings AS receive_pings,
       r.low_notify_on_check_in AS notify_on_check_in, r.low_notify_on_missed_check_in AS notify_on_missed_check_in,
       r.low_pinged_at AS outgoing_ping_at, r.high_pinged_at AS incoming_ping_at,
       r.low_role_requested_at AS outgoing_role_request_at, r.high_role_requested_at AS incoming_role_request_at,
       r.added_at, r.low_updated_at AS updated_at, r.low_version AS version
  FROM contacts.relation AS r
UNION ALL
SELECT r.high AS account, r.low AS contact, r.high_nickname AS nickname, r.high_notes AS notes,
       r.low_is_responder AS is_my_responder, r.high_is_responder AS i_am_responder,
       r.high_send_pings AS send_pings, r.high_receive_pings AS receive_pings,
       r.high_notify_on_check_in AS notify_on_check_in, r.high_notify_on_missed_check_in AS notify_on_missed_check_in,
       r.high_pinged_at AS outgoing_ping_at, r.low_pinged_at AS incoming_ping_at,
       r.high_role_requested_at AS outgoing_role_request_at, r.low_role_requested_at AS incoming_role_request_at,
       r.added_at, r.high_updated_at AS updated_at, r.high_version AS version
  FROM contacts.relation AS r;
COMMENT ON VIEW contacts.contact IS 'Each relation as each of its two sides sees it.';
COMMENT ON COLUMN contacts.contact.account IS 'The account whose view this is.';
COMMENT ON COLUMN contacts.contact.contact IS 'The other account.';
COMMENT ON COLUMN contacts.contact.nickname IS 'This side''s nickname for the other.';
COMMENT ON COLUMN contacts.contact.notes IS 'This side''s notes about the other.';
COMMENT ON COLUMN contacts.contact.is_my_responder IS 'Whether the other is this side''s responder.';
COMMENT ON COLUMN contacts.contact.i_am_responder IS 'Whether this side is the other''s responder, and so may see the other''s check-ins and alerts.';
COMMENT ON COLUMN contacts.contact.send_pings IS 'Whether this side wants to be able to ping.';
COMMENT ON COLUMN contacts.contact.receive_pings IS 'Whether this side lets the other ping it.';
COMMENT ON COLUMN contacts.contact.notify_on_check_in IS 'Whether to notify this side of the other''s check-ins.';
COMMENT ON COLUMN contacts.contact.notify_on_missed_check_in IS 'Whether to notify this side of the other''s missed check-ins.';
COMMENT ON COLUMN contacts.contact.outgoing_ping_at IS 'When this side pinged the other; null once that is answered.';
COMMENT ON COLUMN contacts.contact.incoming_ping_at IS 'When the other pinged this side; null once that is answered.';
COMMENT ON COLUMN contacts.contact.outgoing_role_request_at IS 'When this side asked to become the other''s responder; null once that is answered.';
COMMENT ON COLUMN contacts.contact.incoming_role_request_at IS 'When the other asked to become this side''s responder; null once that is answered.';
COMMENT ON COLUMN contacts.contact.added_at IS 'When the two became contacts.';
COMMENT ON COLUMN contacts.contact.updated_at IS 'When this side''s fields were last set.';
COMMENT ON COLUMN contacts.contact.version IS 'How often they were set, not counting pings and requests.';
GRANT SELECT ON contacts.contact TO contacts, session_client;
