-- How failed messages lose their errors together with their bodies: an error may quote what the message says. Takes the place of
-- two functions of failure-redaction.sql. Placeholders: schema, sender.

CREATE OR REPLACE FUNCTION {{schema}}.redact_failed() RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
    UPDATE {{schema}}.dead_letter AS d SET body = '{}', error = ''
     WHERE (d.body::text <> '{}' OR d.error <> '')
       AND (d.account IN (SELECT r.account FROM {{schema}}.open_redaction AS r)
            OR d.key IN (SELECT 'account/' || r.account FROM {{schema}}.open_redaction AS r));
    -- A closed account's command can only be rejected, whatever its body says. An event still concerns other accounts.
    UPDATE {{schema}}.parked AS p SET body = '{}', error = CASE WHEN p.error IS NOT NULL THEN '' END
     WHERE p.kind = 'command' AND (p.body::text <> '{}' OR p.error <> '')
       AND (p.account IN (SELECT r.account FROM {{schema}}.open_redaction AS r)
            OR p.key IN (SELECT 'account/' || r.account FROM {{schema}}.open_redaction AS r));
$$;

CREATE OR REPLACE FUNCTION {{schema}}.empty_failed_secrets(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    too_old timestamptz := clock_timestamp() - (SELECT r.keep FROM {{schema}}.retention AS r WHERE r.subject = 'secrets');
    emptied bigint;
    parked  bigint;
BEGIN
    IF to_regprocedure('{{sender}}.carries_secrets(text)') IS NULL THEN RETURN 0; END IF;
    UPDATE {{schema}}.dead_letter AS d SET body = '{}', error = ''
     WHERE d.message_id IN (SELECT o.message_id FROM {{schema}}.dead_letter AS o
                             WHERE o.died_at < too_old AND (o.body::text <> '{}' OR o.error <> '')
                               AND {{sender}}.carries_secrets(o.type)
                             ORDER BY o.died_at LIMIT at_most);
    GET DIAGNOSTICS emptied = ROW_COUNT;
    -- By now the command has expired and will be rejected, whatever its body says.
    UPDATE {{schema}}.parked AS p SET body = '{}', error = CASE WHEN p.error IS NOT NULL THEN '' END
     WHERE (p.source, p.partition, p.position) IN (
        SELECT o.source, o.partition, o.position FROM {{schema}}.parked AS o
         WHERE o.recorded_at < too_old AND (o.body::text <> '{}' OR o.error <> '') AND {{sender}}.carries_secrets(o.type)
         LIMIT at_most);
    GET DIAGNOSTICS parked = ROW_COUNT;
    RETURN emptied + parked;
END
$$;
COMMENT ON COLUMN {{schema}}.parked.error IS 'The latest error; empty once the body was emptied.';
COMMENT ON COLUMN {{schema}}.dead_letter.error IS 'The last error; empty once the body was emptied.';

-- Until now, errors of the database came with the rows that it refused.
UPDATE {{schema}}.dead_letter AS d SET error = regexp_replace(d.error, '\. (Failing row contains|Key) \(.*$', '')
 WHERE d.error ~ '\. (Failing row contains|Key) \(';
UPDATE {{schema}}.parked AS p SET error = regexp_replace(p.error, '\. (Failing row contains|Key) \(.*$', '')
 WHERE p.error ~ '\. (Failing row contains|Key) \(';
