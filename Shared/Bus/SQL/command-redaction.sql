-- Which rows of a log of commands are emptied when accounts close. Placeholders: schema, log, reader (the service that
-- records the commands' outcomes).

CREATE FUNCTION {{schema}}.{{log}}_of_redacted(of_partition int, after_position bigint, to_position bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- A command without an account, such as a sign-in, belongs to the account in its outcome.
    RETURN QUERY
    SELECT l.position::bigint FROM {{schema}}.{{log}} AS l
     WHERE l.partition = of_partition AND l.position > after_position AND l.position <= to_position
       AND l.type <> 'Redacted'
       AND (l.key::text IN (SELECT 'account/' || r.account FROM {{schema}}.open_redaction AS r)
            OR coalesce(l.account, (SELECT o.account FROM {{reader}}.outcome AS o WHERE o.command_id = l.command_id))
               IN (SELECT r.account FROM {{schema}}.open_redaction AS r));
END
$$;
COMMENT ON FUNCTION {{schema}}.{{log}}_of_redacted(int, bigint, bigint) IS
    'The positions, after one and up to another, of commands of accounts with an unfinished redaction.';
