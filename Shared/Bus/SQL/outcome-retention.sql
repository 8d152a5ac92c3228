-- Forgets how old commands ended, and old dead letters; empties an account's. Placeholder: schema.

-- A day more than an id is accepted: whoever is told that its id is too old was never told wrong.
INSERT INTO {{schema}}.retention (subject, keep) VALUES ('outcome', interval '31 days'), ('dead_letter', interval '180 days');

CREATE FUNCTION {{schema}}.delete_old_outcomes(at_most int) RETURNS bigint
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
         WHERE old.command_id < (SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp() - r.keep) * 1000)::bigint), 12, '0')
                                         || '00000000000000000000')::uuid
                                   FROM {{schema}}.retention AS r WHERE r.subject = 'outcome')
         ORDER BY old.command_id LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    DELETE FROM {{schema}}.dead_letter AS d
     WHERE d.died_at < clock_timestamp() - (SELECT r.keep FROM {{schema}}.retention AS r WHERE r.subject = 'dead_letter');
    GET DIAGNOSTICS letters = ROW_COUNT;
    RETURN deleted + letters;
END
$$;
COMMENT ON FUNCTION {{schema}}.delete_old_outcomes(int) IS
    'Forgets outcomes, at most so many, and dead letters that are older than {{schema}}.retention says. Returns how many.';
REVOKE EXECUTE ON FUNCTION {{schema}}.delete_old_outcomes(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {{schema}}.delete_old_outcomes(int) TO {{schema}};

CREATE FUNCTION {{schema}}.redact_outcomes(of_account uuid, after_id uuid, at_most int) RETURNS uuid
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    last uuid;
BEGIN
    UPDATE {{schema}}.dead_letter AS d SET body = '{}' WHERE d.account = of_account AND d.body::text <> '{}';
    SELECT max(o.command_id::text)::uuid INTO last
      FROM (SELECT n.command_id FROM {{schema}}.outcome AS n WHERE n.command_id > after_id
             ORDER BY n.command_id LIMIT at_most) AS o;
    UPDATE {{schema}}.outcome AS o SET body = '{}'
     WHERE o.command_id > after_id AND o.command_id <= last AND o.account = of_account AND o.body::text <> '{}';
    RETURN last;
END
$$;
COMMENT ON FUNCTION {{schema}}.redact_outcomes(uuid, uuid, int) IS
    'Empties an account''s outcomes and dead letters, looking at so many after an id. Returns the last one looked at; null at the end.';
REVOKE EXECUTE ON FUNCTION {{schema}}.redact_outcomes(uuid, uuid, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {{schema}}.redact_outcomes(uuid, uuid, int) TO {{schema}};
