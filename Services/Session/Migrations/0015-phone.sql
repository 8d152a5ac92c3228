CREATE TABLE session.phone_code (
    account       uuid        NOT NULL,
    purpose       text        NOT NULL CONSTRAINT purpose_is_known CHECK (purpose IN ('signIn', 'phoneChange')),
    source        uuid        NOT NULL,
    code          uuid        NOT NULL,
    phone_id      uuid        NOT NULL,
    phone         text,
    phone_region  text,
    signs_in_from timestamptz,
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
COMMENT ON COLUMN session.phone_code.account IS 'The account.';
COMMENT ON COLUMN session.phone_code.purpose IS 'What the code is for: signing in, or changing the phone.';
COMMENT ON COLUMN session.phone_code.source IS 'Where a sign-in code was requested: the edge''s id for a network address, or a device that was signed in before. So a code that a stranger requests doesn''t replace others.';
COMMENT ON COLUMN session.phone_code.code IS 'The code''s id. The edge derives the digits from it under the server''s key.';
COMMENT ON COLUMN session.phone_code.phone_id IS 'The edge''s id for the phone number that the code was sent to.';
COMMENT ON COLUMN session.phone_code.phone IS 'The phone number that the account gets.';
COMMENT ON COLUMN session.phone_code.phone_region IS 'The phone number''s region.';
COMMENT ON COLUMN session.phone_code.signs_in_from IS 'When the phone that the account gets by this code may first sign in; null: as soon as it is changed.';
COMMENT ON COLUMN session.phone_code.key IS 'The version of the server''s key under which digits and phone_id were made.';
COMMENT ON COLUMN session.phone_code.hash IS 'SHA-256 of the proof that the edge, and only the edge, derives from the digits.';
COMMENT ON COLUMN session.phone_code.attempts IS 'How often wrong digits were given; the fifth voids the code.';
COMMENT ON COLUMN session.phone_code.issued_at IS 'When the code was sent.';
COMMENT ON COLUMN session.phone_code.expires_at IS 'Until when the code is valid; once used, the time of its use.';

REVOKE ALL ON session.phone_code FROM quartet_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON session.phone_code TO session;

CREATE VIEW session.phone AS
SELECT a.phone_id, a.account, a.phone_key AS key
  FROM session.account AS a
 WHERE a.closed_at IS NULL AND a.phone_id IS NOT NULL;
COMMENT ON VIEW session.phone IS 'The account of each phone, by the edge''s id for the number. The number itself isn''t shown.';
COMMENT ON COLUMN session.phone.phone_id IS 'The edge''s id for the phone number.';
COMMENT ON COLUMN session.phone.account IS 'The account that the phone signs in.';
COMMENT ON COLUMN session.phone.key IS 'The version of the server''s key under which phone_id was made.';
GRANT SELECT ON session.phone TO session_client;

CREATE VIEW session.server_key AS
SELECT u.key, sum(u.passwords)::bigint AS passwords, sum(u.phones)::bigint AS phones
  FROM (SELECT c.key, count(*) AS passwords, 0 AS phones FROM session.credential AS c GROUP BY c.key
         UNION ALL
        SELECT a.phone_key, 0, count(*) FROM session.account AS a WHERE a.phone_key IS NOT NULL GROUP BY a.phone_key) AS u
 GROUP BY u.key;
COMMENT ON VIEW session.server_key IS 'How much was made under each of the server''s keys. Dropping a key voids the passwords that are counted for it.';
COMMENT ON COLUMN session.server_key.key IS 'The key''s version; session-client logs the versions it has at its start.';
COMMENT ON COLUMN session.server_key.passwords IS 'Accounts whose password was last given under this key.';
COMMENT ON COLUMN session.server_key.phones IS 'Accounts whose phone_id was made under this key.';
