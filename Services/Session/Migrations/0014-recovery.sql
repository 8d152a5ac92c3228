CREATE TABLE session.recovery (
    account uuid        CONSTRAINT account_has_one_set_of_recovery_codes PRIMARY KEY,
    hashes  bytea       NOT NULL
        CONSTRAINT recovery_codes_are_at_most_ten_hashes CHECK (octet_length(hashes) % 32 = 0 AND octet_length(hashes) <= 320),
    made_at timestamptz NOT NULL
) WITH (fillfactor = 80);
COMMENT ON TABLE session.recovery IS 'The recovery codes that are still valid. Only session reads it.';
COMMENT ON COLUMN session.recovery.account IS 'The account.';
COMMENT ON COLUMN session.recovery.hashes IS 'SHA-256 of each code''s proof, 32 bytes each. The hash of a used code is removed.';
COMMENT ON COLUMN session.recovery.made_at IS 'When the codes were made.';

REVOKE ALL ON session.recovery FROM quartet_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON session.recovery TO session;
