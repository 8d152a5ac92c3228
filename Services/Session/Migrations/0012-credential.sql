CREATE TABLE session.credential (
    account uuid  CONSTRAINT account_has_one_password PRIMARY KEY,
    key     text  NOT NULL CONSTRAINT key_is_a_version CHECK (key ~ '^[0-9a-f]{8}$'),
    hash    bytea NOT NULL CONSTRAINT hash_is_a_sha_256 CHECK (octet_length(hash) = 32)
);
COMMENT ON TABLE session.credential IS 'Verifiers of passwords. Only session reads it.';
COMMENT ON COLUMN session.credential.account IS 'The account.';
COMMENT ON COLUMN session.credential.key IS 'The version of the server''s key under which the verifier was made. It is made again under the current key when the person next gives the password.';
COMMENT ON COLUMN session.credential.hash IS 'SHA-256 of the key that the edge derived from the password.';

-- Operators don't need to see these either.
REVOKE ALL ON session.credential FROM quartet_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON session.credential TO session;
