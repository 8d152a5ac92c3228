-- How a service's dead letters are sent again. Placeholders: schema and log (of the commands), reader (the service).

CREATE FUNCTION {{schema}}.retry_{{log}}(dead uuid, why text, with_key uuid DEFAULT NULL) RETURNS uuid
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    letter record; -- not the table's row type: the reader's schema may be created after this one
    fresh  uuid := {{schema}}.new_id();
BEGIN
    SELECT * INTO letter FROM {{reader}}.dead_letter AS d WHERE d.message_id = dead;
    IF NOT FOUND OR letter.kind <> 'command' THEN
        RAISE EXCEPTION '{{reader}} has no dead letter of a command with the message_id %', dead
            USING HINT = 'SELECT message_id, type, error FROM {{reader}}.dead_letter lists them.', ERRCODE = 'no_data_found';
    END IF;
    INSERT INTO {{schema}}.dead_letter_decision (message_id, decision, command_id, reason) VALUES (dead, 'retried', fresh, why);
    PERFORM {{schema}}.record_act(
        'retry_dead_letter', json_build_object('message', dead, 'type', letter.type, 'key', letter.key, 'command', fresh),
        why, with_key);
    PERFORM {{schema}}.{{log}}_append(
        ARRAY[{{schema}}.{{log}}_partition_of(letter.key)], ARRAY[1], ARRAY[1], ARRAY['command'], ARRAY[letter.type],
        ARRAY[letter.version], ARRAY[letter.key], ARRAY[letter.account], ARRAY[letter.body],
        ARRAY[{{schema}}.new_id()], ARRAY[fresh], ARRAY[NULL::text], ARRAY[NULL::uuid],
        ARRAY[letter.correlation_id], ARRAY[dead], ARRAY[letter.trace_parent], ARRAY[NULL::bigint]);
    PERFORM pg_notify('{{schema}}.{{log}}', {{schema}}.{{log}}_partition_of(letter.key)::text);
    RETURN fresh;
END
$$;
COMMENT ON FUNCTION {{schema}}.retry_{{log}}(uuid, text, uuid) IS
    'For operators: sends a dead letter of {{reader}} again, once, as a new command caused by the dead one. Returns the new command''s id.';
