-- What of a log is an account's. Placeholders: schema, log.

CREATE OR REPLACE FUNCTION {{schema}}.{{log}}_redact(of_account uuid, of_partition int, after_position bigint, at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    last bigint;
BEGIN
    SELECT max(l.position) INTO last
      FROM (SELECT n.position FROM {{schema}}.{{log}} AS n
             WHERE n.partition = of_partition AND n.position > after_position
             ORDER BY n.position LIMIT at_most) AS l;
    IF last IS NULL THEN RETURN NULL; END IF;
    last := least(last, {{schema}}.{{log}}_handled(of_partition));
    -- What it caused in somebody else's stream is theirs: who resumes there must find it, and it has ids alone.
    UPDATE {{schema}}.{{log}} AS l SET body = '{}', type = 'Redacted', version = 1
     WHERE l.partition = of_partition AND l.position > after_position AND l.position <= last AND l.type <> 'Redacted'
       AND (l.key = 'account/' || of_account OR (l.account = of_account AND l.key NOT LIKE 'account/%'));
    RETURN last;
END
$$;
