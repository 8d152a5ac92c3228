CREATE TABLE session_client.upload (
    account     uuid        NOT NULL,
    hash        bytea       NOT NULL CONSTRAINT hash_is_a_sha_256 CHECK (octet_length(hash) = 32),
    number      int         NOT NULL CONSTRAINT number_begins_at_zero CHECK (number >= 0),
    bytes       bytea       NOT NULL CONSTRAINT chunk_is_small CHECK (octet_length(bytes) BETWEEN 1 AND 65536),
    uploaded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT upload_chunk_is_stored_once PRIMARY KEY (account, hash, number)
);
-- Uploads are already compressed.
ALTER TABLE session_client.upload ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE INDEX upload_by_age ON session_client.upload (uploaded_at);
COMMENT ON TABLE session_client.upload IS 'Bytes that apps uploaded, in chunks. Kept for an hour; until then a service can copy them when a command names their hash.';
COMMENT ON INDEX session_client.upload_by_age IS 'Finds the chunks that retention deletes, the oldest first.';
COMMENT ON COLUMN session_client.upload.account IS 'The account that uploaded it. No other account can use it.';
COMMENT ON COLUMN session_client.upload.hash IS 'SHA-256 of the whole upload, which names it.';
COMMENT ON COLUMN session_client.upload.number IS 'The chunk''s number, from 0.';
COMMENT ON COLUMN session_client.upload.bytes IS 'At most 64 KiB of the upload.';
COMMENT ON COLUMN session_client.upload.uploaded_at IS 'When the chunk was last uploaded.';

GRANT SELECT, INSERT, UPDATE (uploaded_at), DELETE ON session_client.upload TO session_client;
GRANT SELECT ON session_client.upload TO session;
REVOKE ALL ON session_client.upload FROM quartet_reader;

INSERT INTO session_client.retention (subject, keep) VALUES ('upload', interval '1 hour');
CREATE FUNCTION session_client.delete_old_uploads(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
BEGIN
    DELETE FROM session_client.upload AS u
     WHERE (u.account, u.hash, u.number) IN (
        SELECT o.account, o.hash, o.number FROM session_client.upload AS o
         WHERE o.uploaded_at < clock_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'upload')
         ORDER BY o.uploaded_at LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;
COMMENT ON FUNCTION session_client.delete_old_uploads(int) IS
    'Deletes uploads that are older than session_client.retention says, at most at_most chunks. Returns how many.';
GRANT EXECUTE ON FUNCTION session_client.delete_old_uploads(int) TO session_client;
