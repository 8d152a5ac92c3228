CREATE TABLE session.attachment (
    group_id     uuid        NOT NULL
        CONSTRAINT attachment_is_in_a_session REFERENCES session.group_session ON DELETE CASCADE,
    account      uuid        NOT NULL,
    hash         bytea       NOT NULL CONSTRAINT hash_is_a_sha_256 CHECK (octet_length(hash) = 32),
    -- Checked after each statement, since an update of a batch may exchange values.
    content      uuid        NOT NULL CONSTRAINT content_is_of_one_attachment UNIQUE DEFERRABLE INITIALLY IMMEDIATE,
    size         int         NOT NULL CONSTRAINT size_is_at_most_a_hundred_megabytes CHECK (size BETWEEN 1 AND 104857600),
    renewed_at   timestamptz NOT NULL,
    completed_at timestamptz,
    CONSTRAINT attachment_is_uploaded_once PRIMARY KEY (group_id, account, hash)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX attachment_is_shown_once ON session.attachment (group_id, hash) WHERE completed_at IS NOT NULL;
CREATE INDEX attachment_by_account ON session.attachment (account);
CREATE INDEX unfinished_attachment_by_age ON session.attachment (renewed_at) WHERE completed_at IS NULL;
COMMENT ON TABLE session.attachment IS 'Attachments of group sessions, those that are being uploaded too. Gone when the session is over; their bytes follow.';
COMMENT ON INDEX session.attachment_is_shown_once IS 'Keeps a session from showing the same bytes twice.';
COMMENT ON INDEX session.attachment_by_account IS 'The room that an account''s attachments take.';
COMMENT ON INDEX session.unfinished_attachment_by_age IS 'Finds the unfinished attachments that retention deletes.';
COMMENT ON COLUMN session.attachment.group_id IS 'The session.';
COMMENT ON COLUMN session.attachment.account IS 'The uploader, who may have left.';
COMMENT ON COLUMN session.attachment.hash IS 'Its id: the SHA-256 of the hashes of its chunks.';
COMMENT ON COLUMN session.attachment.content IS 'Names its bytes in attachment_chunk.';
COMMENT ON COLUMN session.attachment.size IS 'In bytes.';
COMMENT ON COLUMN session.attachment.renewed_at IS 'When it was begun, or when chunks were adopted last.';
COMMENT ON COLUMN session.attachment.completed_at IS 'Since when others see it; NULL while it is being uploaded.';
GRANT SELECT, INSERT, UPDATE, DELETE ON session.attachment TO session;

-- Apart from the attachment's row, which commands read.
CREATE TABLE session.attachment_description (
    group_id     uuid  NOT NULL,
    account      uuid  NOT NULL,
    hash         bytea NOT NULL,
    name         text  NOT NULL CONSTRAINT name_is_at_most_255_bytes CHECK (octet_length(name) BETWEEN 1 AND 255),
    content_type text  NOT NULL CONSTRAINT content_type_is_short CHECK (octet_length(content_type) BETWEEN 3 AND 127),
    metadata     json  CONSTRAINT metadata_is_an_object CHECK (json_typeof(metadata) = 'object')
        CONSTRAINT metadata_is_at_most_four_kilobytes CHECK (octet_length(metadata::text) <= 4096),
    CONSTRAINT attachment_is_described_once PRIMARY KEY (group_id, account, hash),
    CONSTRAINT description_is_of_an_attachment FOREIGN KEY (group_id, account, hash)
        REFERENCES session.attachment ON DELETE CASCADE
);
COMMENT ON TABLE session.attachment_description IS 'What complete attachments are. Written once.';
COMMENT ON COLUMN session.attachment_description.group_id IS 'The session.';
COMMENT ON COLUMN session.attachment_description.account IS 'The uploader.';
COMMENT ON COLUMN session.attachment_description.hash IS 'The attachment''s id.';
COMMENT ON COLUMN session.attachment_description.name IS 'The file''s name.';
COMMENT ON COLUMN session.attachment_description.content_type IS 'Its media type, as its uploader says.';
COMMENT ON COLUMN session.attachment_description.metadata IS 'Whatever the app says about it.';
GRANT SELECT, INSERT ON session.attachment_description TO session;

-- No foreign key: chunks outlive their attachment until retention has deleted them all, a few at a time.
CREATE TABLE session.attachment_chunk (
    content uuid  NOT NULL,
    number  int   NOT NULL CONSTRAINT number_is_zero_to_1599 CHECK (number BETWEEN 0 AND 1599),
    hash    bytea NOT NULL,
    bytes   bytea NOT NULL CONSTRAINT chunk_is_small CHECK (octet_length(bytes) BETWEEN 1 AND 65536),
    CONSTRAINT attachment_chunk_is_stored_once PRIMARY KEY (content, number),
    -- The rules decide by the hash that was read; if the upload changes before it is copied, the copy fails.
    CONSTRAINT hash_is_that_of_the_bytes CHECK (hash = sha256(bytes))
);
-- Most attachments are already compressed.
ALTER TABLE session.attachment_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;
COMMENT ON TABLE session.attachment_chunk IS 'The bytes of attachments, copied from session_client.upload_chunk.';
COMMENT ON COLUMN session.attachment_chunk.content IS 'Whose bytes: attachment.content.';
COMMENT ON COLUMN session.attachment_chunk.number IS 'The chunk''s number, from 0.';
COMMENT ON COLUMN session.attachment_chunk.hash IS 'SHA-256 of the chunk.';
COMMENT ON COLUMN session.attachment_chunk.bytes IS '64 KiB, or what is left.';
GRANT SELECT, INSERT ON session.attachment_chunk TO session;
GRANT SELECT ON session.attachment_chunk TO session_client;
REVOKE ALL ON session.attachment_chunk FROM quartet_reader;

CREATE TABLE session.deleted_content (
    content    uuid        NOT NULL CONSTRAINT content_is_deleted_once PRIMARY KEY,
    deleted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE session.deleted_content IS 'Bytes of attachments that are gone. Retention deletes them in pieces.';
COMMENT ON COLUMN session.deleted_content.content IS 'Names them in attachment_chunk.';
COMMENT ON COLUMN session.deleted_content.deleted_at IS 'When the attachment was removed.';
GRANT INSERT ON session.deleted_content TO session;

INSERT INTO session.retention (subject, keep) VALUES ('unfinished_attachment', interval '1 hour');
CREATE FUNCTION session.delete_old_attachments(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    unfinished bigint;
    deleted bigint;
BEGIN
    -- An attachment whose chunks are being adopted is locked, and isn't old any more afterwards.
    WITH old AS (
        SELECT o.content FROM session.attachment AS o
         WHERE o.completed_at IS NULL
           AND o.renewed_at < clock_timestamp() - (SELECT r.keep FROM session.retention AS r WHERE r.subject = 'unfinished_attachment')
         ORDER BY o.renewed_at LIMIT at_most FOR UPDATE SKIP LOCKED),
    gone AS (
        DELETE FROM session.attachment AS a WHERE a.content IN (SELECT o.content FROM old AS o) RETURNING a.content)
    INSERT INTO session.deleted_content (content) SELECT g.content FROM gone AS g;
    GET DIAGNOSTICS unfinished = ROW_COUNT;
    -- At most 4 MiB in one transaction.
    DELETE FROM session.attachment_chunk AS c
     WHERE (c.content, c.number) IN (
        SELECT k.content, k.number
          FROM session.deleted_content AS d JOIN session.attachment_chunk AS k ON k.content = d.content
         LIMIT least(at_most, 64));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted = 0 THEN
        DELETE FROM session.deleted_content AS d
         WHERE d.content IN (SELECT o.content FROM session.deleted_content AS o
                              WHERE NOT EXISTS (SELECT FROM session.attachment_chunk AS k WHERE k.content = o.content)
                              LIMIT at_most);
        GET DIAGNOSTICS deleted = ROW_COUNT;
    END IF;
    RETURN unfinished + deleted;
END
$$;
COMMENT ON FUNCTION session.delete_old_attachments(int) IS
    'Deletes attachments that were never finished, and a piece of the bytes of those that are gone. Returns how many rows.';
REVOKE EXECUTE ON FUNCTION session.delete_old_attachments(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION session.delete_old_attachments(int) TO session;
