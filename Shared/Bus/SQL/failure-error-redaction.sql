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

CREATE INDEX parked_by_type ON {{schema}}.parked (type, recorded_at) WHERE body::text <> '{}' OR error <> '';
CREATE INDEX dead_letter_by_type ON {{schema}}.dead_letter (type, died_at) WHERE body::text <> '{}' OR error <> '';
COMMENT ON INDEX {{schema}}.parked_by_type IS 'Finds the oldest parked message of a type that has not been emptied.';
COMMENT ON INDEX {{schema}}.dead_letter_by_type IS 'Finds the oldest dead letter of a type that has not been emptied, and the newest.';

-- Goes from type to type, since most types carry no secrets, however many messages they have.
CREATE OR REPLACE FUNCTION {{schema}}.empty_failed_secrets(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    too_old timestamptz := clock_timestamp() - (SELECT r.keep FROM {{schema}}.retention AS r WHERE r.subject = 'secrets');
    emptied bigint;
    parked  bigint;
BEGIN
    IF to_regprocedure('{{sender}}.carries_secrets(text)') IS NULL THEN RETURN 0; END IF;
    WITH RECURSIVE found AS (
        (SELECT d.type FROM {{schema}}.dead_letter AS d
          WHERE d.body::text <> '{}' OR d.error <> '' ORDER BY d.type LIMIT 1)
         UNION ALL
        SELECT n.type FROM found AS f
         CROSS JOIN LATERAL (SELECT d.type FROM {{schema}}.dead_letter AS d
                              WHERE d.type > f.type AND (d.body::text <> '{}' OR d.error <> '')
                              ORDER BY d.type LIMIT 1) AS n)
    UPDATE {{schema}}.dead_letter AS d SET body = '{}', error = ''
     WHERE d.message_id IN (
        SELECT o.message_id FROM found AS f
         CROSS JOIN LATERAL (SELECT l.message_id FROM {{schema}}.dead_letter AS l
                              WHERE l.type = f.type AND l.died_at < too_old AND (l.body::text <> '{}' OR l.error <> '')
                              ORDER BY l.died_at LIMIT at_most) AS o
         WHERE {{sender}}.carries_secrets(f.type) LIMIT at_most);
    GET DIAGNOSTICS emptied = ROW_COUNT;
    -- By now the command has expired and will be rejected, whatever its body says.
    WITH RECURSIVE found AS (
        (SELECT p.type FROM {{schema}}.parked AS p
          WHERE p.body::text <> '{}' OR p.error <> '' ORDER BY p.type LIMIT 1)
         UNION ALL
        SELECT n.type FROM found AS f
         CROSS JOIN LATERAL (SELECT p.type FROM {{schema}}.parked AS p
                              WHERE p.type > f.type AND (p.body::text <> '{}' OR p.error <> '')
                              ORDER BY p.type LIMIT 1) AS n)
    UPDATE {{schema}}.parked AS p SET body = '{}', error = CASE WHEN p.error IS NOT NULL THEN '' END
     WHERE (p.source, p.partition, p.position) IN (
        SELECT o.source, o.partition, o.position FROM found AS f
         CROSS JOIN LATERAL (SELECT m.source, m.partition, m.position FROM {{schema}}.parked AS m
                              WHERE m.type = f.type AND m.recorded_at < too_old
                                AND (m.body::text <> '{}' OR m.error <> '')
                              ORDER BY m.recorded_at LIMIT at_most) AS o
         WHERE {{sender}}.carries_secrets(f.type) LIMIT at_most);
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
