-- Finds old outcomes and dead letters at a cost that doesn't grow with their number. Placeholder: schema.

CREATE OR REPLACE FUNCTION {{schema}}.delete_old_outcomes(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    deleted bigint;
    letters bigint;
BEGIN
    -- Ids begin with their time, so the primary key finds the oldest.
    DELETE FROM {{schema}}.outcome AS o
     WHERE o.command_id IN (
        SELECT old.command_id FROM {{schema}}.outcome AS old
         WHERE old.command_id < (SELECT (lpad(to_hex((extract(epoch FROM statement_timestamp() - r.keep) * 1000)::bigint), 12, '0')
                                         || '00000000000000000000')::uuid
                                   FROM {{schema}}.retention AS r WHERE r.subject = 'outcome')
         ORDER BY old.command_id LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    DELETE FROM {{schema}}.dead_letter AS d
     WHERE d.died_at < statement_timestamp() - (SELECT r.keep FROM {{schema}}.retention AS r WHERE r.subject = 'dead_letter');
    GET DIAGNOSTICS letters = ROW_COUNT;
    RETURN deleted + letters;
END
$$;
