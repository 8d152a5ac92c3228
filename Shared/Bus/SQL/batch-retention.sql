-- How batches are deleted, at a cost that doesn't grow with their number. Placeholder: schema.

CREATE OR REPLACE FUNCTION {{schema}}.delete_old_batches(keep interval, at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
BEGIN
    WITH newest AS MATERIALIZED (
        SELECT l.source, l.partition,
               (SELECT b.number FROM {{schema}}.batch AS b
                 WHERE b.source = l.source AND b.partition = l.partition ORDER BY b.number DESC LIMIT 1) AS number
          FROM {{schema}}.lease AS l
    ), old AS (
        SELECT n.source, n.partition, b.number
          FROM newest AS n
         -- Numbers are in order of time, so the old rows are at the beginning: if the first one is young, all are.
         CROSS JOIN LATERAL (SELECT f.given_time FROM {{schema}}.batch AS f
                              WHERE f.source = n.source AND f.partition = n.partition
                              ORDER BY f.number LIMIT 1) AS first
         CROSS JOIN LATERAL (SELECT o.number, o.given_time FROM {{schema}}.batch AS o
                              WHERE o.source = n.source AND o.partition = n.partition AND o.number < n.number
                              ORDER BY o.number LIMIT at_most) AS b
         WHERE first.given_time < clock_timestamp() - keep AND b.given_time < clock_timestamp() - keep
    )
    DELETE FROM {{schema}}.batch AS b USING old AS o
     WHERE b.source = o.source AND b.partition = o.partition AND b.number = o.number;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;
