-- How many dead letters would have alarmed somebody, for the health of session-client.
CREATE FUNCTION session_client.alarm_dead_letters(of_types text[], of_kinds text[]) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
    SELECT count(*)
      FROM ((SELECT d.message_id, d.type, d.body, d.code FROM session.dead_letter AS d ORDER BY d.died_at DESC LIMIT 1000)
             UNION ALL
            (SELECT d.message_id, d.type, d.body, d.code FROM contacts.dead_letter AS d ORDER BY d.died_at DESC LIMIT 1000)
             UNION ALL
            (SELECT d.message_id, d.type, d.body, d.code FROM notifications.dead_letter AS d
              ORDER BY d.died_at DESC LIMIT 1000)) AS l
     WHERE l.code <> 'discarded' AND l.type = ANY (of_types)
       AND coalesce(l.body ->> 'kind' = ANY (of_kinds), true)
       AND NOT EXISTS (SELECT FROM session_client.dead_letter_decision AS c WHERE c.message_id = l.message_id)
$$;
COMMENT ON FUNCTION session_client.alarm_dead_letters(text[], text[]) IS
    'How many dead letters of these types, and of these kinds where they have one, nobody has decided about. Of each service, only the newest thousand dead letters are looked at.';
GRANT EXECUTE ON FUNCTION session_client.alarm_dead_letters(text[], text[]) TO session_client, quartet_reader;
