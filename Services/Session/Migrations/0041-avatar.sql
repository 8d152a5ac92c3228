ALTER TABLE session.account
    ADD COLUMN avatar json,
    ADD CONSTRAINT closed_account_has_no_avatar CHECK (closed_at IS NULL OR avatar IS NULL);
COMMENT ON COLUMN session.account.avatar IS 'The person''s picture: Avatar of the contract; its bytes are in session.avatar_chunk.';

CREATE TABLE session.avatar_chunk (
    account uuid  NOT NULL,
    number  int   NOT NULL CONSTRAINT number_begins_at_zero CHECK (number >= 0),
    bytes   bytea NOT NULL CONSTRAINT chunk_is_small CHECK (octet_length(bytes) BETWEEN 1 AND 65536),
    CONSTRAINT chunk_is_stored_once PRIMARY KEY (account, number)
);
-- Pictures are compressed already.
ALTER TABLE session.avatar_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;
COMMENT ON TABLE session.avatar_chunk IS 'The bytes of people''s pictures, copied from what the edge uploaded.';
COMMENT ON COLUMN session.avatar_chunk.account IS 'Whose.';
COMMENT ON COLUMN session.avatar_chunk.number IS 'The chunk''s number, from 0.';
COMMENT ON COLUMN session.avatar_chunk.bytes IS 'At most 64 KiB of it.';

GRANT SELECT, INSERT, DELETE ON session.avatar_chunk TO session;
GRANT SELECT ON session.avatar_chunk TO session_client;
