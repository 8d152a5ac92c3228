CREATE TABLE session.avatar_chunk (
    account uuid  NOT NULL,
    number  int   NOT NULL CONSTRAINT number_begins_at_zero CHECK (number >= 0),
    bytes   bytea NOT NULL CONSTRAINT chunk_is_small CHECK (octet_length(bytes) BETWEEN 1 AND 65536),
    CONSTRAINT chunk_is_stored_once PRIMARY KEY (account, number)
);
-- Pictures are already compressed.
ALTER TABLE session.avatar_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;
COMMENT ON TABLE session.avatar_chunk IS 'The bytes of people''s pictures, copied from session_client.upload.';
COMMENT ON COLUMN session.avatar_chunk.account IS 'The account.';
COMMENT ON COLUMN session.avatar_chunk.number IS 'The chunk''s number, from 0.';
COMMENT ON COLUMN session.avatar_chunk.bytes IS 'At most 64 KiB of the picture.';

GRANT SELECT, INSERT, DELETE ON session.avatar_chunk TO session;
GRANT SELECT ON session.avatar_chunk TO session_client;
