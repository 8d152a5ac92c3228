--! include bus/dead-letter.sql schema=session_client
--! include bus/dead-letter-retry.sql schema=session_client log=session_commands reader=session
--! include bus/dead-letter-retry.sql schema=session_client log=contacts_commands reader=contacts
--! include bus/dead-letter-retry.sql schema=session_client log=notifications_commands reader=notifications

CREATE FUNCTION session_client.retry_dead_letter(dead uuid, why text, with_key uuid DEFAULT NULL) RETURNS uuid
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM session.dead_letter AS d WHERE d.message_id = dead) THEN
        RETURN session_client.retry_session_commands(dead, why, with_key);
    ELSIF EXISTS (SELECT FROM contacts.dead_letter AS d WHERE d.message_id = dead) THEN
        RETURN session_client.retry_contacts_commands(dead, why, with_key);
    ELSE
        RETURN session_client.retry_notifications_commands(dead, why, with_key);
    END IF;
END
$$;
COMMENT ON FUNCTION session_client.retry_dead_letter(uuid, text, uuid) IS
    'For operators: sends a dead letter of any service again, once, as a new command. Returns the new command''s id.';

CREATE FUNCTION session_client.discard_dead_letter(dead uuid, why text, with_key uuid DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    letter record;
BEGIN
    SELECT found.type, found.key INTO letter
      FROM (SELECT d.type, d.key FROM session.dead_letter AS d WHERE d.message_id = dead
             UNION ALL
            SELECT d.type, d.key FROM contacts.dead_letter AS d WHERE d.message_id = dead
             UNION ALL
            SELECT d.type, d.key FROM notifications.dead_letter AS d WHERE d.message_id = dead
             UNION ALL
            SELECT d.type, d.key FROM session_client.dead_letter AS d WHERE d.message_id = dead) AS found;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no dead letter with the message_id %', dead
            USING HINT = 'SELECT message_id, type, error FROM session_client.dead_letters lists them.', ERRCODE = 'no_data_found';
    END IF;
    INSERT INTO session_client.dead_letter_decision (message_id, decision, reason) VALUES (dead, 'discarded', why);
    PERFORM session_client.record_act(
        'discard_dead_letter', json_build_object('message', dead, 'type', letter.type, 'key', letter.key), why, with_key);
END
$$;
COMMENT ON FUNCTION session_client.discard_dead_letter(uuid, text, uuid) IS
    'For operators: records that nothing will be done about a dead letter, and why. The letter stays until retention deletes it.';

GRANT EXECUTE ON FUNCTION session_client.retry_dead_letter(uuid, text, uuid), session_client.discard_dead_letter(uuid, text, uuid)
   TO quartet_operator;
