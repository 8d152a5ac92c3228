-- When nothing is old, looking for old rows reads one page of an index. That takes a time that is the same for the whole
-- statement: clock_timestamp() isn't, so it was compared with each row.

CREATE OR REPLACE FUNCTION session.delete_old_attempts(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
BEGIN
    DELETE FROM session.sign_in_attempt AS a
     WHERE (a.subject, a.source) IN (
        SELECT o.subject, o.source FROM session.sign_in_attempt AS o
         WHERE o.counted_since < statement_timestamp() - (SELECT r.keep FROM session.retention AS r WHERE r.subject = 'sign_in_attempt')
         ORDER BY o.counted_since LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;

CREATE OR REPLACE FUNCTION session.delete_old_groups(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
BEGIN
    DELETE FROM session.group_session AS g
     WHERE g.group_id IN (
        SELECT o.group_id FROM session.group_session AS o
         WHERE o.ended_at < statement_timestamp() - (SELECT r.keep FROM session.retention AS r WHERE r.subject = 'group_session')
           AND NOT EXISTS (SELECT FROM session.attachment AS a WHERE a.group_id = o.group_id)
         ORDER BY o.ended_at LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;

CREATE OR REPLACE FUNCTION session.delete_old_attachments(at_most int) RETURNS bigint
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
           AND o.renewed_at < statement_timestamp() - (SELECT r.keep FROM session.retention AS r WHERE r.subject = 'unfinished_attachment')
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

--! include bus/outcome-searches.sql schema=session
