CREATE TABLE session.credential (
    account uuid  CONSTRAINT account_has_one_password PRIMARY KEY,
    key     text  NOT NULL CONSTRAINT key_is_a_version CHECK (key ~ '^[0-9a-f]{8}$'),
    hash    bytea NOT NULL CONSTRAINT hash_is_a_sha_256 CHECK (octet_length(hash) = 32)
);
COMMENT ON TABLE session.credential IS 'What proves that somebody is who they say. Only session reads it.';
COMMENT ON COLUMN session.credential.account IS 'Whose.';
COMMENT ON COLUMN session.credential.key IS 'Under which of the server''s keys that was made: it is made anew under the current one when its person gives the password.';
COMMENT ON COLUMN session.credential.hash IS 'SHA-256 of what the edge''s key derivation made of the password.';

-- Not even people at psql: nobody needs to see these.
REVOKE ALL ON session.credential FROM quartet_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON session.credential TO session;
