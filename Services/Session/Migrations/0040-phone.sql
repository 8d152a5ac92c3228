-- Unique at the end of a statement, as handles are.
ALTER TABLE session.account
    ADD COLUMN phone        text CONSTRAINT phone_is_e164 CHECK (phone ~ '^\+[1-9][0-9]{6,14}$')
                                 CONSTRAINT number_signs_in_one_account UNIQUE DEFERRABLE INITIALLY IMMEDIATE,
    ADD COLUMN phone_region text CONSTRAINT phone_region_is_two_letters CHECK (phone_region ~ '^[A-Z]{2}$'),
    ADD COLUMN phone_id     uuid CONSTRAINT phone_signs_in_one_account UNIQUE DEFERRABLE INITIALLY IMMEDIATE,
    ADD COLUMN phone_key    text CONSTRAINT phone_key_is_a_version CHECK (phone_key ~ '^[0-9a-f]{8}$'),
    ADD CONSTRAINT phone_has_a_name CHECK ((phone IS NULL) = (phone_id IS NULL) AND (phone IS NULL) = (phone_key IS NULL)),
    ADD CONSTRAINT region_is_a_phones CHECK (phone_region IS NULL OR phone IS NOT NULL),
    ADD CONSTRAINT closed_account_has_no_phone CHECK (closed_at IS NULL OR phone IS NULL);
COMMENT ON COLUMN session.account.phone IS 'The phone that it can sign in by, in the form of E.164; proved by a code.';
COMMENT ON COLUMN session.account.phone_region IS 'Where the phone was given: ISO 3166-1 alpha-2.';
COMMENT ON COLUMN session.account.phone_id IS 'What the edge calls the phone''s number: made under the server''s key, so that nobody can turn it back.';
COMMENT ON COLUMN session.account.phone_key IS 'Under which of the server''s keys that name was made; the edge gives it another under the current one.';

CREATE INDEX account_by_phone_key ON session.account (phone_key) WHERE phone_key IS NOT NULL;
COMMENT ON INDEX session.account_by_phone_key IS 'Which phones have a name that another key made.';

CREATE TABLE session.phone_code (
    account       uuid        NOT NULL,
    purpose       text        NOT NULL CONSTRAINT purpose_is_known CHECK (purpose IN ('signIn', 'phoneChange')),
    source        uuid        NOT NULL,
    code          uuid        NOT NULL,
    phone_id      uuid        NOT NULL,
    phone         text,
    phone_region  text,
    key           text        NOT NULL CONSTRAINT key_is_a_version CHECK (key ~ '^[0-9a-f]{8}$'),
    hash          bytea       NOT NULL CONSTRAINT hash_is_a_sha_256 CHECK (octet_length(hash) = 32),
    attempts      int         NOT NULL CONSTRAINT attempts_are_few CHECK (attempts BETWEEN 0 AND 5),
    issued_at     timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    CONSTRAINT one_code_is_good_per_purpose_and_source PRIMARY KEY (account, purpose, source),
    CONSTRAINT phone_change_is_one CHECK (purpose = 'signIn' OR source = '00000000-0000-0000-0000-000000000000'),
    CONSTRAINT phone_change_names_the_phone CHECK ((purpose = 'phoneChange') = (phone IS NOT NULL))
) WITH (fillfactor = 80);
COMMENT ON TABLE session.phone_code IS 'The latest code that was sent to a phone, for each purpose and source. Only session reads it.';
COMMENT ON COLUMN session.phone_code.account IS 'Whose.';
COMMENT ON COLUMN session.phone_code.purpose IS 'What it is good for.';
COMMENT ON COLUMN session.phone_code.source IS 'From where it was asked for to sign in: what the edge calls an address, or a device that was signed in before. Codes that strangers ask for don''t void others.';
COMMENT ON COLUMN session.phone_code.code IS 'Which one: the edge makes the digits from this id under the server''s key.';
COMMENT ON COLUMN session.phone_code.phone_id IS 'Whose number it was sent to.';
COMMENT ON COLUMN session.phone_code.phone IS 'The number that the account gets.';
COMMENT ON COLUMN session.phone_code.phone_region IS 'The number''s region.';
COMMENT ON COLUMN session.phone_code.key IS 'Under which of the server''s keys digits and name were made.';
COMMENT ON COLUMN session.phone_code.hash IS 'SHA-256 of what whoever knows the digits can show, which only the edge can make of them.';
COMMENT ON COLUMN session.phone_code.attempts IS 'How often it was tried with wrong digits; five are too many.';
COMMENT ON COLUMN session.phone_code.issued_at IS 'When it was sent.';
COMMENT ON COLUMN session.phone_code.expires_at IS 'Until when it is good; the time of its use, once it was used.';

REVOKE ALL ON session.phone_code FROM quartet_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON session.phone_code TO session;

ALTER TABLE session.phone_code ADD COLUMN signs_in_from timestamptz;
COMMENT ON COLUMN session.phone_code.signs_in_from IS 'From when on the phone that the account got by this code may sign in; null: from the change on.';

ALTER TABLE session.device
    ADD COLUMN confirmed_until timestamptz,
    ADD COLUMN is_confirmed_by_password boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN session.device.confirmed_until IS 'Until when it may do what needs a confirmation.';
COMMENT ON COLUMN session.device.is_confirmed_by_password IS 'Whether the confirmation was the password; else a code that was sent to the phone.';

CREATE VIEW session.phone AS
SELECT a.phone_id, a.account, a.phone_key AS key
  FROM session.account AS a
 WHERE a.closed_at IS NULL AND a.phone_id IS NOT NULL;
COMMENT ON VIEW session.phone IS 'Whose phone it is, by what the edge calls its number; the number itself isn''t shown.';
COMMENT ON COLUMN session.phone.phone_id IS 'What the edge calls the number.';
COMMENT ON COLUMN session.phone.account IS 'Who signs in by it.';
COMMENT ON COLUMN session.phone.key IS 'Under which of the server''s keys that name was made.';
GRANT SELECT ON session.phone TO session_client;

CREATE VIEW session.server_key AS
SELECT u.key, sum(u.passwords)::bigint AS passwords, sum(u.phones)::bigint AS phones
  FROM (SELECT c.key, count(*) AS passwords, 0 AS phones FROM session.credential AS c GROUP BY c.key
         UNION ALL
        SELECT a.phone_key, 0, count(*) FROM session.account AS a WHERE a.phone_key IS NOT NULL GROUP BY a.phone_key) AS u
 GROUP BY u.key;
COMMENT ON VIEW session.server_key IS 'What was made under which of the server''s keys: whoever is counted as a password loses it when the key is dropped.';
COMMENT ON COLUMN session.server_key.key IS 'The key''s version; session-client says at its start which it has.';
COMMENT ON COLUMN session.server_key.passwords IS 'Accounts whose password was given last under it.';
COMMENT ON COLUMN session.server_key.phones IS 'Accounts whose phone has its name by it.';

CREATE OR REPLACE VIEW session.device_status AS
SELECT d.account, d.device, d.signed_out_at IS NULL AS active, d.reason
  FROM session.device AS d;
COMMENT ON COLUMN session.device_status.reason IS 'Why it isn''t signed in any more.';
