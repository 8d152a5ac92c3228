-- Which rows of a log of events are emptied when accounts close. Placeholders: schema, log.

CREATE FUNCTION {{schema}}.{{log}}_of_redacted(of_partition int, after_position bigint, to_position bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- An event in another account's stream belongs to that account even if a closed one caused it: a client that
    -- resumes there must find it, and it carries ids only. An event of a group session belongs to everyone in it, and the
    -- session's state follows from it; the activity and the game states that apps put into it stay until retention
    -- deletes them. Nothing follows from a message, so those that a closed account sent are emptied.
    RETURN QUERY
    SELECT l.position::bigint FROM {{schema}}.{{log}} AS l
     WHERE l.partition = of_partition AND l.position > after_position AND l.position <= to_position
       AND l.type <> 'Redacted'
       AND (l.key::text IN (SELECT 'account/' || r.account FROM {{schema}}.open_redaction AS r)
            OR (l.key NOT LIKE 'account/%' AND NOT (l.key LIKE 'group/%' AND l.kind = 'event' AND l.type <> 'GroupMessageSent')
                AND l.account IN (SELECT r.account FROM {{schema}}.open_redaction AS r)));
END
$$;
COMMENT ON FUNCTION {{schema}}.{{log}}_of_redacted(int, bigint, bigint) IS
    'The positions, after one and up to another, of rows of accounts with an unfinished redaction.';
