-- How a log's rows of closed accounts are emptied. Placeholders: schema, log.

INSERT INTO {{schema}}.redaction_pass (log, partition) SELECT '{{log}}', p.partition FROM {{schema}}.{{log}}_partition AS p;

CREATE FUNCTION {{schema}}.{{log}}_redact(of_partition int, at_most int) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    pass  {{schema}}.redaction_pass;
    began timestamptz := clock_timestamp();
    last  bigint;
    found boolean;
BEGIN
    SELECT * INTO pass FROM {{schema}}.redaction_pass AS p
     WHERE p.log = '{{log}}' AND p.partition = of_partition FOR NO KEY UPDATE;
    IF pass.is_whole AND began > pass.begun_at + pass.rows * interval '1 millisecond'
       AND EXISTS (SELECT FROM {{schema}}.open_redaction AS r WHERE r.noticed_at > pass.begun_at) THEN
        pass.begun_at := began;
        pass.is_whole := false;
        pass.rows := 0;
        SELECT p.base_position INTO pass.position FROM {{schema}}.{{log}}_partition AS p WHERE p.partition = of_partition;
    END IF;
    SELECT max(n.position) INTO last
      FROM (SELECT l.position FROM {{schema}}.{{log}} AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT at_most) AS n;
    last := least(coalesce(last, pass.position), {{schema}}.{{log}}_handled(of_partition));
    found := last > pass.position;
    IF found THEN
        UPDATE {{schema}}.{{log}} AS l SET body = '{}', type = 'Redacted', version = 1
          FROM {{schema}}.{{log}}_of_redacted(of_partition, pass.position, last) AS r(position)
         WHERE l.partition = of_partition AND l.position = r.position;
        -- Rows after the end don't count: they would postpone the next pass without limit.
        IF NOT pass.is_whole THEN pass.rows := pass.rows + last - pass.position; END IF;
        pass.position := last;
    ELSE
        pass.is_whole := true;
    END IF;
    SELECT least(min(n.recorded_at), began) INTO pass.passed_until
      FROM (SELECT l.recorded_at FROM {{schema}}.{{log}} AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT 1) AS n;
    UPDATE {{schema}}.redaction_pass AS p
       SET begun_at = pass.begun_at, position = pass.position, is_whole = pass.is_whole,
           passed_until = pass.passed_until, rows = pass.rows
     WHERE p.log = '{{log}}' AND p.partition = of_partition;
    RETURN found;
END
$$;
COMMENT ON FUNCTION {{schema}}.{{log}}_redact(int, int) IS
    'Continues a partition''s redaction_pass: searches at most at_most handled rows and empties those of closed accounts. Returns whether there may be more.';
GRANT EXECUTE ON FUNCTION {{schema}}.{{log}}_redact(int, int) TO {{schema}};
