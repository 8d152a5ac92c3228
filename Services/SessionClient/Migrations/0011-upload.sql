CREATE TABLE session_client.upload (
    account    uuid        NOT NULL,
    hash       bytea       NOT NULL CONSTRAINT hash_is_a_sha_256 CHECK (octet_length(hash) = 32),
    size       bigint      NOT NULL DEFAULT 0 CONSTRAINT size_is_not_negative CHECK (size >= 0),
    renewed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT upload_is_one_row PRIMARY KEY (account, hash)
) WITH (fillfactor = 70);
CREATE INDEX upload_by_age ON session_client.upload (renewed_at);
COMMENT ON TABLE session_client.upload IS 'Uploads of apps that no service has claimed yet. Kept for an hour after the last chunk.';
COMMENT ON INDEX session_client.upload_by_age IS 'Finds the uploads that retention deletes, the oldest first.';
COMMENT ON COLUMN session_client.upload.account IS 'The account that uploads it. No other account can use it.';
COMMENT ON COLUMN session_client.upload.hash IS 'SHA-256 of the hashes of its chunks, which names it. Whoever claims it checks that.';
COMMENT ON COLUMN session_client.upload.size IS 'The bytes in its chunks so far.';
COMMENT ON COLUMN session_client.upload.renewed_at IS 'When the last chunk was uploaded.';
GRANT SELECT, INSERT, UPDATE, DELETE ON session_client.upload TO session_client;
GRANT SELECT ON session_client.upload TO session;

CREATE TABLE session_client.upload_chunk (
    account uuid  NOT NULL,
    hash    bytea NOT NULL,
    number  int   NOT NULL CONSTRAINT number_is_zero_to_1599 CHECK (number BETWEEN 0 AND 1599),
    bytes   bytea NOT NULL CONSTRAINT chunk_is_small CHECK (octet_length(bytes) BETWEEN 1 AND 65536),
    CONSTRAINT upload_chunk_is_stored_once PRIMARY KEY (account, hash, number),
    CONSTRAINT chunk_is_of_an_upload FOREIGN KEY (account, hash) REFERENCES session_client.upload
);
-- Uploads are already compressed.
ALTER TABLE session_client.upload_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;
COMMENT ON TABLE session_client.upload_chunk IS 'The bytes of uploads. A service copies them when a command names their hash.';
COMMENT ON COLUMN session_client.upload_chunk.account IS 'The account that uploaded it.';
COMMENT ON COLUMN session_client.upload_chunk.hash IS 'The upload.';
COMMENT ON COLUMN session_client.upload_chunk.number IS 'The chunk''s number, from 0.';
COMMENT ON COLUMN session_client.upload_chunk.bytes IS '64 KiB of the upload, or what is left.';
GRANT SELECT, INSERT, UPDATE (bytes), DELETE ON session_client.upload_chunk TO session_client;
GRANT SELECT ON session_client.upload_chunk TO session;
REVOKE ALL ON session_client.upload_chunk FROM quartet_reader;

INSERT INTO session_client.retention (subject, keep) VALUES ('upload', interval '1 hour');
CREATE FUNCTION session_client.delete_old_uploads(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    oldest session_client.upload;
    chunks bigint;
BEGIN
    -- One whose next chunk is arriving is locked, and isn't old any more afterwards.
    SELECT u.* INTO oldest FROM session_client.upload AS u
     WHERE u.renewed_at < clock_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'upload')
     ORDER BY u.renewed_at LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN RETURN 0; END IF;
    -- At most 4 MiB in one transaction.
    DELETE FROM session_client.upload_chunk AS c
     WHERE c.account = oldest.account AND c.hash = oldest.hash
       AND c.number IN (SELECT k.number FROM session_client.upload_chunk AS k
                         WHERE k.account = oldest.account AND k.hash = oldest.hash LIMIT least(at_most, 64));
    GET DIAGNOSTICS chunks = ROW_COUNT;
    IF chunks = 0 THEN
        DELETE FROM session_client.upload AS u WHERE u.account = oldest.account AND u.hash = oldest.hash;
    END IF;
    RETURN greatest(chunks, 1);
END
$$;
COMMENT ON FUNCTION session_client.delete_old_uploads(int) IS
    'Deletes at most so many chunks of the oldest upload, if that is older than session_client.retention says, and at last the upload. Returns how many rows.';
GRANT EXECUTE ON FUNCTION session_client.delete_old_uploads(int) TO session_client;
