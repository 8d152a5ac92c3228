-- A day more than a request's key is accepted, so that one sent again never runs again.
INSERT INTO session_client.retention (subject, keep) VALUES ('saga', interval '31 days'), ('dead_letter', interval '180 days');

CREATE INDEX saga_ended ON session_client.saga (ended_at) WHERE state <> 'running';
COMMENT ON INDEX session_client.saga_ended IS 'What retention forgets, the longest ended first.';

CREATE FUNCTION session_client.delete_old_sagas(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
    letters bigint;
BEGIN
    -- Its steps go with it.
    DELETE FROM session_client.saga AS s
     WHERE s.id IN (
        SELECT o.id FROM session_client.saga AS o
         WHERE o.state <> 'running'
           AND o.ended_at < clock_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'saga')
         ORDER BY o.ended_at LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    DELETE FROM session_client.dead_letter AS d
     WHERE d.died_at < clock_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'dead_letter');
    GET DIAGNOSTICS letters = ROW_COUNT;
    RETURN deleted + letters;
END
$$;
COMMENT ON FUNCTION session_client.delete_old_sagas(int) IS
    'Forgets ended sagas with their steps, at most so many, and dead letters that are older than session_client.retention says. Returns how many.';
REVOKE EXECUTE ON FUNCTION session_client.delete_old_sagas(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION session_client.delete_old_sagas(int) TO session_client;
