--! include bus/dead-letter.sql schema=session_client
--! include bus/dead-letter-retry.sql schema=session_client log=session_commands reader=session
--! include bus/dead-letter-retry.sql schema=session_client log=contacts_commands reader=contacts
--! include bus/dead-letter-retry.sql schema=session_client log=notifications_commands reader=notifications

CREATE FUNCTION session_client.retry_dead_letter(dead uuid) RETURNS uuid
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM session.dead_letter AS d WHERE d.message_id = dead) THEN
        RETURN session_client.retry_session_commands(dead);
    ELSIF EXISTS (SELECT FROM contacts.dead_letter AS d WHERE d.message_id = dead) THEN
        RETURN session_client.retry_contacts_commands(dead);
    ELSE
        RETURN session_client.retry_notifications_commands(dead);
    END IF;
END
$$;
COMMENT ON FUNCTION session_client.retry_dead_letter(uuid) IS
    'For operators: sends a dead letter of any service again, once, as a new command. Returns the new command''s id.';

CREATE FUNCTION session_client.discard_dead_letter(dead uuid, why text) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO session_client.dead_letter_decision (message_id, decision, reason) VALUES (dead, 'discarded', why);
END;
COMMENT ON FUNCTION session_client.discard_dead_letter(uuid, text) IS
    'For operators: records that nothing will be done about a dead letter, and why. The letter stays until retention deletes it.';

GRANT EXECUTE ON FUNCTION session_client.retry_dead_letter(uuid), session_client.discard_dead_letter(uuid, text) TO quartet_operator;
