-- How failed messages lose their bodies. Placeholders: schema, sender (the service whose function carries_secrets, if
-- it has one, names the types of commands with secrets).

INSERT INTO {{schema}}.retention (subject, keep) VALUES ('secrets', interval '1 hour'), ('dead_letter', interval '180 days');

CREATE FUNCTION {{schema}}.redact_failed() RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
    UPDATE {{schema}}.dead_letter AS d SET body = '{}'
     WHERE d.body::text <> '{}'
       AND (d.account IN (SELECT r.account FROM {{schema}}.open_redaction AS r)
            OR d.key IN (SELECT 'account/' || r.account FROM {{schema}}.open_redaction AS r));
    -- A closed account's command can only be rejected, whatever its body says. An event still concerns other accounts.
    UPDATE {{schema}}.parked AS p SET body = '{}'
     WHERE p.kind = 'command' AND p.body::text <> '{}'
       AND (p.account IN (SELECT r.account FROM {{schema}}.open_redaction AS r)
            OR p.key IN (SELECT 'account/' || r.account FROM {{schema}}.open_redaction AS r));
$$;
COMMENT ON FUNCTION {{schema}}.redact_failed() IS
    'Empties the dead letters and parked commands of accounts with an unfinished redaction.';

CREATE FUNCTION {{schema}}.empty_failed_secrets(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    too_old timestamptz := clock_timestamp() - (SELECT r.keep FROM {{schema}}.retention AS r WHERE r.subject = 'secrets');
    emptied bigint;
    parked  bigint;
BEGIN
    IF to_regprocedure('{{sender}}.carries_secrets(text)') IS NULL THEN RETURN 0; END IF;
    UPDATE {{schema}}.dead_letter AS d SET body = '{}'
     WHERE d.message_id IN (SELECT o.message_id FROM {{schema}}.dead_letter AS o
                             WHERE o.died_at < too_old AND o.body::text <> '{}' AND {{sender}}.carries_secrets(o.type)
                             ORDER BY o.died_at LIMIT at_most);
    GET DIAGNOSTICS emptied = ROW_COUNT;
    -- By now the command has expired and will be rejected, whatever its body says.
    UPDATE {{schema}}.parked AS p SET body = '{}'
     WHERE (p.source, p.partition, p.position) IN (
        SELECT o.source, o.partition, o.position FROM {{schema}}.parked AS o
         WHERE o.recorded_at < too_old AND o.body::text <> '{}' AND {{sender}}.carries_secrets(o.type)
         LIMIT at_most);
    GET DIAGNOSTICS parked = ROW_COUNT;
    RETURN emptied + parked;
END
$$;
COMMENT ON FUNCTION {{schema}}.empty_failed_secrets(int) IS
    'Empties dead letters and parked commands that carry secrets and are older than {{schema}}.retention says, at most at_most of each. Returns how many.';
GRANT EXECUTE ON FUNCTION {{schema}}.redact_failed(), {{schema}}.empty_failed_secrets(int) TO {{schema}};
