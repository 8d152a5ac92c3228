CREATE TABLE session.credential (
    account uuid  CONSTRAINT account_has_one_password PRIMARY KEY,
    hash    bytea NOT NULL CONSTRAINT hash_is_a_sha_256 CHECK (octet_length(hash) = 32)
);
COMMENT ON TABLE session.credential IS 'What proves that somebody is who they say. Only session reads it.';
COMMENT ON COLUMN session.credential.account IS 'Whose.';
COMMENT ON COLUMN session.credential.hash IS 'SHA-256 of what the edge''s key derivation made of the password.';

-- Not even people at psql: nobody needs to see these.
REVOKE ALL ON session.credential FROM quartet_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON session.credential TO session;
