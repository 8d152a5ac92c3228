CREATE FUNCTION session_client.operations_state(of_account uuid) RETURNS json
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN json_build_object(
        'account', of_account,
        'operations', coalesce((
            SELECT json_agg(json_strip_nulls(json_build_object(
                       'id', s.id, 'type', s.type, 'state', s.state, 'result', s.result,
                       'started', (extract(epoch FROM s.started_at) * 1000000)::bigint,
                       'ended', (extract(epoch FROM s.ended_at) * 1000000)::bigint)) ORDER BY s.started_at DESC, s.id DESC)
              FROM (SELECT *
                      FROM session_client.saga AS o
                     WHERE o.account = of_account
                     ORDER BY o.started_at DESC, o.id DESC
                     LIMIT 50) AS s), '[]'));
COMMENT ON FUNCTION session_client.operations_state(uuid) IS 'The state of the stream operations/<account>: the newest 50 operations; read it together with the log''s position, in one statement.';
GRANT EXECUTE ON FUNCTION session_client.operations_state(uuid) TO session_client, quartet_reader;
