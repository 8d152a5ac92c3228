--! include bus/canary.sql schema=session_client reader=session_client

-- How many dead letters would have alarmed somebody, for the health of session-client.
CREATE FUNCTION session_client.alarm_dead_letters(of_names text[]) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
    SELECT count(*)
      FROM (SELECT DISTINCT split_part(n.name, '/', 1) FROM unnest(of_names) AS n (name)) AS t (type)
     CROSS JOIN LATERAL (
           (SELECT d.message_id, d.type, d.key, d.body, d.code FROM session.dead_letter AS d
             WHERE d.type = t.type AND (d.body::text <> '{}' OR d.error <> '')
               AND NOT session_client.is_canary(d.key) ORDER BY d.died_at DESC LIMIT 1000)
            UNION ALL
           (SELECT d.message_id, d.type, d.key, d.body, d.code FROM contacts.dead_letter AS d
             WHERE d.type = t.type AND (d.body::text <> '{}' OR d.error <> '')
               AND NOT session_client.is_canary(d.key) ORDER BY d.died_at DESC LIMIT 1000)
            UNION ALL
           (SELECT d.message_id, d.type, d.key, d.body, d.code FROM notifications.dead_letter AS d
             WHERE d.type = t.type AND (d.body::text <> '{}' OR d.error <> '')
               AND NOT session_client.is_canary(d.key) ORDER BY d.died_at DESC LIMIT 1000)) AS l
     WHERE l.code <> 'discarded'
       AND (l.type = ANY (of_names) OR l.type || '/' || (l.body ->> 'kind') = ANY (of_names))
       AND NOT EXISTS (SELECT FROM session_client.dead_letter_decision AS c WHERE c.message_id = l.message_id)
$$;
COMMENT ON FUNCTION session_client.alarm_dead_letters(text[]) IS
    'How many dead letters nobody has decided about, of certain types (RaiseAlert) or kinds (RelayAlert/alertRaised). Those that were emptied, because their accounts were closed, don''t count, nor do canaries. Of each type, only the newest thousand dead letters of a service are looked at.';
GRANT EXECUTE ON FUNCTION session_client.alarm_dead_letters(text[]) TO session_client, quartet_reader;
