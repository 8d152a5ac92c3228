-- How a log forgets. Placeholders: schema, log, consumer (the schema of who handles it, if anybody does).

INSERT INTO {{schema}}.retention (subject, keep, truncate_after) VALUES ('{{log}}', interval '30 days', interval '90 days');

CREATE FUNCTION {{schema}}.{{log}}_handled(of_partition int) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    handled bigint;
BEGIN
    -- Who has never run has no lease rows and isn't waited for.
    IF NOT EXISTS (SELECT FROM {{consumer}}.lease AS l WHERE l.source = '{{schema}}.{{log}}') THEN
        RETURN 9223372036854775807;
    END IF;
    SELECT b.position INTO handled FROM {{consumer}}.batch AS b
     WHERE b.source = '{{schema}}.{{log}}' AND b.partition = of_partition ORDER BY b.number DESC LIMIT 1;
    RETURN coalesce(handled, 0);
END
$$;
COMMENT ON FUNCTION {{schema}}.{{log}}_handled(int) IS
    'Up to where {{consumer}} has handled a partition, or parked it with all that is in it; everything, if it never consumed this log.';

CREATE FUNCTION {{schema}}.{{log}}_delete_old(of_partition int, at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    rule    record;
    base    bigint;
    newest  bigint;
    handled bigint;
    up_to   bigint;
    deleted bigint;
BEGIN
    SELECT r.keep, r.truncate_after INTO rule FROM {{schema}}.retention AS r WHERE r.subject = '{{log}}';
    SELECT p.base_position INTO base FROM {{schema}}.{{log}}_partition AS p WHERE p.partition = of_partition;
    handled := {{schema}}.{{log}}_handled(of_partition);
    -- Positions are in the order of time, so what is old is at the beginning.
    SELECT max(old.position) INTO up_to
      FROM (SELECT l.position, l.recorded_at FROM {{schema}}.{{log}} AS l
             WHERE l.partition = of_partition AND l.position > base ORDER BY l.position LIMIT at_most) AS old
     WHERE (old.recorded_at < clock_timestamp() - rule.keep AND old.position <= handled)
        OR old.recorded_at < clock_timestamp() - rule.truncate_after;
    IF up_to IS NULL THEN RETURN 0; END IF;

    PERFORM FROM {{schema}}.{{log}}_partition AS p WHERE p.partition = of_partition FOR NO KEY UPDATE;
    -- The newest row stays for ever: numbers go on from it, and finding it never walks over dead index entries.
    SELECT l.position INTO newest FROM {{schema}}.{{log}} AS l
     WHERE l.partition = of_partition ORDER BY l.position DESC LIMIT 1;
    up_to := least(up_to, newest - 1);
    DELETE FROM {{schema}}.{{log}} AS l
     WHERE l.partition = of_partition AND l.position > base AND l.position <= up_to;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted > 0 THEN
        UPDATE {{schema}}.{{log}}_partition AS p SET base_position = greatest(p.base_position, up_to)
         WHERE p.partition = of_partition;
    END IF;
    RETURN deleted;
END
$$;
COMMENT ON FUNCTION {{schema}}.{{log}}_delete_old(int, int) IS
    'Deletes a partition''s rows, at most so many, that are older than {{schema}}.retention says and handled, or expired. Never the newest. Returns how many.';
REVOKE EXECUTE ON FUNCTION {{schema}}.{{log}}_handled(int), {{schema}}.{{log}}_delete_old(int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {{schema}}.{{log}}_handled(int), {{schema}}.{{log}}_delete_old(int, int) TO {{schema}};
GRANT EXECUTE ON FUNCTION {{schema}}.{{log}}_handled(int) TO quartet_reader;

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
       AND EXISTS (SELECT FROM {{schema}}.redaction AS r
                    WHERE (r.done_at IS NULL OR r.done_at < r.late_until) AND r.noticed_at > pass.begun_at) THEN
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
        -- What comes behind the end isn't counted: it would put the next pass off without end.
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
    'Goes on with a partition''s redaction_pass: empties the rows of closed accounts among the next ones, at most so many, as far as they are handled. Returns whether there may be more.';
REVOKE EXECUTE ON FUNCTION {{schema}}.{{log}}_redact(int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {{schema}}.{{log}}_redact(int, int) TO {{schema}};
