CREATE TABLE session.credential (
    account       uuid  CONSTRAINT account_has_one_password PRIMARY KEY,
    hash          bytea NOT NULL CONSTRAINT hash_is_a_sha_256 CHECK (octet_length(hash) = 32),
    failures      int   NOT NULL CONSTRAINT failures_are_not_negative CHECK (failures >= 0),
    blocked_until timestamptz
) WITH (fillfactor = 80);
COMMENT ON TABLE session.credential IS 'What proves that somebody is who they say. Only session reads it.';
COMMENT ON COLUMN session.credential.account IS 'Whose.';
COMMENT ON COLUMN session.credential.hash IS 'SHA-256 of what the edge''s key derivation made of the password.';
COMMENT ON COLUMN session.credential.failures IS 'Wrong passwords in a row.';
COMMENT ON COLUMN session.credential.blocked_until IS 'Until when no password is looked at.';

-- Not even people at psql: nobody needs to see these.
REVOKE ALL ON session.credential FROM quartet_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON session.credential TO session;
