-- How outcomes and dead letters are deleted, and the outcomes of closed accounts emptied. Placeholder: schema.

-- A day longer than ids are accepted, so that an id is never accepted again after its outcome is gone.
INSERT INTO {{schema}}.retention (subject, keep) VALUES ('outcome', interval '31 days');

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
    'Deletes outcomes, at most at_most, and dead letters that are older than {{schema}}.retention says. Returns how many.';
GRANT EXECUTE ON FUNCTION {{schema}}.delete_old_outcomes(int) TO {{schema}};

INSERT INTO {{schema}}.redaction_pass (log, partition) VALUES ('outcome', 0);

CREATE FUNCTION {{schema}}.redact_outcomes(at_most int) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    pass  {{schema}}.redaction_pass;
    began timestamptz := clock_timestamp();
    last  uuid;
    count bigint;
BEGIN
    SELECT * INTO pass FROM {{schema}}.redaction_pass AS p WHERE p.log = 'outcome' FOR NO KEY UPDATE;
    IF pass.is_whole THEN
        -- Ids aren't in order of time, so late outcomes need another pass.
        IF began <= pass.begun_at + pass.rows * interval '1 millisecond'
           OR NOT EXISTS (SELECT FROM {{schema}}.open_redaction AS r
                           WHERE r.noticed_at > pass.begun_at
                              OR (r.late_until > pass.begun_at AND r.late_until < began)) THEN
            RETURN false;
        END IF;
        pass.begun_at := began;
        pass.rows := 0;
        pass.command_id := '00000000-0000-0000-0000-000000000000';
        pass.passed_until := '-infinity';
    END IF;
    SELECT o.command_id, o.number INTO last, count
      FROM (SELECT n.command_id, row_number() OVER (ORDER BY n.command_id) AS number
              FROM {{schema}}.outcome AS n WHERE n.command_id > pass.command_id
             ORDER BY n.command_id LIMIT at_most) AS o
     ORDER BY o.number DESC LIMIT 1;
    pass.is_whole := last IS NULL;
    IF pass.is_whole THEN
        pass.passed_until := pass.begun_at;
    ELSE
        UPDATE {{schema}}.outcome AS o SET body = '{}'
         WHERE o.command_id > pass.command_id AND o.command_id <= last AND o.body::text <> '{}'
           AND o.account IN (SELECT r.account FROM {{schema}}.open_redaction AS r);
        pass.rows := pass.rows + count;
        pass.command_id := last;
    END IF;
    UPDATE {{schema}}.redaction_pass AS p
       SET begun_at = pass.begun_at, command_id = pass.command_id, is_whole = pass.is_whole,
           passed_until = pass.passed_until, rows = pass.rows
     WHERE p.log = 'outcome';
    RETURN NOT pass.is_whole;
END
$$;
COMMENT ON FUNCTION {{schema}}.redact_outcomes(int) IS
    'Continues the redaction_pass of outcomes: searches at most at_most and empties those of closed accounts. Returns whether there may be more.';
GRANT EXECUTE ON FUNCTION {{schema}}.redact_outcomes(int) TO {{schema}};
