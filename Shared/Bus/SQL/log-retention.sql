-- How a log forgets. Placeholders: schema, log, reader (the service that handles the log, if any does).

INSERT INTO {{schema}}.retention (subject, keep, truncate_after) VALUES ('{{log}}', interval '30 days', interval '90 days');

CREATE FUNCTION {{schema}}.{{log}}_handled(of_partition int) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    handled bigint;
BEGIN
    -- A consumer that has never run has no leases, and isn't waited for.
    IF NOT EXISTS (SELECT FROM {{reader}}.lease AS l WHERE l.source = '{{schema}}.{{log}}') THEN
        RETURN 9223372036854775807;
    END IF;
    SELECT b.position INTO handled FROM {{reader}}.batch AS b
     WHERE b.source = '{{schema}}.{{log}}' AND b.partition = of_partition ORDER BY b.number DESC LIMIT 1;
    RETURN coalesce(handled, 0);
END
$$;
COMMENT ON FUNCTION {{schema}}.{{log}}_handled(int) IS
    'The position up to which {{reader}} has handled or parked a partition''s messages; the greatest bigint if it never read this log.';

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
    -- Positions are in order of time, so the old rows are at the beginning.
    SELECT max(old.position) INTO up_to
      FROM (SELECT l.position, l.recorded_at FROM {{schema}}.{{log}} AS l
             WHERE l.partition = of_partition AND l.position > base ORDER BY l.position LIMIT at_most) AS old
     WHERE (old.recorded_at < clock_timestamp() - rule.keep AND old.position <= handled)
        OR old.recorded_at < clock_timestamp() - rule.truncate_after;
    IF up_to IS NULL THEN RETURN 0; END IF;

    PERFORM FROM {{schema}}.{{log}}_partition AS p WHERE p.partition = of_partition FOR NO KEY UPDATE;
    -- The newest row always stays: numbers continue from it, and finding it never walks over dead index entries.
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
    'Deletes at most at_most of a partition''s rows that are handled and older than {{schema}}.retention says, or older than it waits for a consumer. Never deletes the newest row. Returns how many.';
GRANT EXECUTE ON FUNCTION {{schema}}.{{log}}_handled(int), {{schema}}.{{log}}_delete_old(int, int) TO {{schema}};
