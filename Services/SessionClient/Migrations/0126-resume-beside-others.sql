-- compatible with 0.1.0
-- An operation that failed can be resumed whatever else of its account runs or rests: it takes its turn.
CREATE OR REPLACE FUNCTION session_client.resume_saga(of_saga uuid, why text, with_key uuid DEFAULT NULL) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    saga  session_client.saga;
    steps bigint;
    home  text;
BEGIN
    SELECT * INTO saga FROM session_client.saga AS s WHERE s.id = of_saga;
    -- As at the beginning of a saga: no other one of the account begins or ends meanwhile.
    PERFORM pg_advisory_xact_lock(hashtextextended(saga.account::text, 0));
    SELECT * INTO saga FROM session_client.saga AS s WHERE s.id = of_saga FOR NO KEY UPDATE;
    IF saga.state IS NULL OR saga.state NOT IN ('running', 'failed') THEN
        RAISE EXCEPTION 'there is no operation % that runs or failed', of_saga
            USING HINT = 'SELECT id, type, state, last_error FROM session_client.saga lists them.', ERRCODE = 'no_data_found';
    END IF;
    -- Their outcomes are known to be wanting, or nobody waits for them any more.
    UPDATE session_client.saga_step AS t
       SET attempt = t.attempt + 1, body_hash = NULL, outcome = NULL, result = NULL, ended_at = NULL
     WHERE t.saga = of_saga
       AND (t.outcome IN ('failed', 'rejected')
            OR t.outcome IS NULL
               AND (saga.state = 'failed' OR saga.owned_until IS NULL OR saga.owned_until < clock_timestamp()));
    GET DIAGNOSTICS steps = ROW_COUNT;
    UPDATE session_client.saga AS s
       SET state = 'running', result = NULL, ended_at = NULL, owner = NULL, owned_until = NULL, attempts = 0,
           next_attempt = clock_timestamp()
     WHERE s.id = of_saga;
    PERFORM session_client.record_act(
        'resume_saga',
        json_build_object('operation', of_saga, 'type', saga.type, 'account', saga.account, 'state', saga.state, 'steps', steps),
        why, with_key);
    IF saga.state = 'failed' THEN
        home := 'account/' || saga.account;
        PERFORM session_client.operations_append(
            ARRAY[session_client.operations_partition_of(home)], ARRAY[1], ARRAY[1], ARRAY['event'],
            ARRAY['OperationStarted'], ARRAY[1::smallint], ARRAY[home], ARRAY[saga.account],
            ARRAY[json_build_object('operation', of_saga, 'type', saga.type)], ARRAY[session_client.new_id()],
            ARRAY[NULL::uuid], ARRAY[NULL::text], ARRAY[NULL::uuid], ARRAY[saga.correlation_id], ARRAY[NULL::uuid],
            ARRAY[saga.trace_parent], ARRAY[NULL::bigint]);
        PERFORM pg_notify('session_client.operations', session_client.operations_partition_of(home)::text);
    END IF;
    RETURN steps;
END
$$;
