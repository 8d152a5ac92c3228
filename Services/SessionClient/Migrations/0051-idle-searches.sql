-- When nothing is old, looking for old rows reads one page of an index. That takes a time that is the same for the whole
-- statement: clock_timestamp() isn't, so it was compared with each row.

CREATE OR REPLACE FUNCTION session_client.delete_old_sagas(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
    letters bigint;
BEGIN
    -- The steps are deleted by their foreign key.
    DELETE FROM session_client.saga AS s
     WHERE s.id IN (
        SELECT o.id FROM session_client.saga AS o
         WHERE o.state <> 'running'
           AND o.ended_at < statement_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'saga')
         ORDER BY o.ended_at LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    DELETE FROM session_client.dead_letter AS d
     WHERE d.died_at < statement_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'dead_letter');
    GET DIAGNOSTICS letters = ROW_COUNT;
    RETURN deleted + letters;
END
$$;

CREATE OR REPLACE FUNCTION session_client.delete_old_uploads(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    oldest session_client.upload;
    chunks bigint;
BEGIN
    -- One whose next chunk is arriving is locked, and isn't old any more afterwards.
    SELECT u.* INTO oldest FROM session_client.upload AS u
     WHERE u.renewed_at < statement_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'upload')
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

CREATE OR REPLACE FUNCTION session_client.delete_old_stream_tokens(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
BEGIN
    DELETE FROM session_client.stream_token AS t
     WHERE t.stream IN (
        SELECT o.stream FROM session_client.stream_token AS o
         WHERE o.expires_at < statement_timestamp() ORDER BY o.expires_at LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;
