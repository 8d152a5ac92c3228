-- Which rows of a log are emptied when accounts close. Placeholders: schema, log.

CREATE FUNCTION {{schema}}.{{log}}_of_redacted(of_partition int, after_position bigint, to_position bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- What such an account caused in somebody else's stream is theirs: who resumes there must find it, and it has ids alone.
    RETURN QUERY
    SELECT l.position::bigint FROM {{schema}}.{{log}} AS l
     WHERE l.partition = of_partition AND l.position > after_position AND l.position <= to_position
       AND l.type <> 'Redacted'
       AND (l.key::text IN (SELECT 'account/' || r.account FROM {{schema}}.redaction AS r
                             WHERE r.done_at IS NULL OR r.done_at < r.late_until)
            OR (l.key NOT LIKE 'account/%'
                AND l.account IN (SELECT r.account FROM {{schema}}.redaction AS r
                                   WHERE r.done_at IS NULL OR r.done_at < r.late_until)));
END
$$;
COMMENT ON FUNCTION {{schema}}.{{log}}_of_redacted(int, bigint, bigint) IS
    'Positions of a partition, after one and up to another, of the rows of accounts whose redaction is open.';
