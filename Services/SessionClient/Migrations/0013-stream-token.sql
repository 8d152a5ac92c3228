CREATE TABLE session_client.stream_token (
    stream     uuid        NOT NULL CONSTRAINT stream_has_one_token PRIMARY KEY,
    account    uuid        NOT NULL,
    device     uuid        NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX stream_token_by_end ON session_client.stream_token (expires_at);
COMMENT ON TABLE session_client.stream_token IS 'Open streams for which an app presented a newer access token, perhaps to another replica than the one that serves the stream. That one looks here when the token that it knows ends.';
COMMENT ON INDEX session_client.stream_token_by_end IS 'Finds the rows that retention deletes, the oldest first.';
COMMENT ON COLUMN session_client.stream_token.stream IS 'The stream''s id, which only its reader was told, with a proof that this server made it.';
COMMENT ON COLUMN session_client.stream_token.account IS 'The account of the token.';
COMMENT ON COLUMN session_client.stream_token.device IS 'The device of the token.';
COMMENT ON COLUMN session_client.stream_token.expires_at IS 'When the newest token that was presented ends, and the stream with it.';

GRANT SELECT, INSERT, UPDATE (expires_at) ON session_client.stream_token TO session_client;
REVOKE ALL ON session_client.stream_token FROM quartet_reader;

CREATE FUNCTION session_client.delete_old_stream_tokens(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
BEGIN
    DELETE FROM session_client.stream_token AS t
     WHERE t.stream IN (
        SELECT o.stream FROM session_client.stream_token AS o
         WHERE o.expires_at < clock_timestamp() ORDER BY o.expires_at LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;
COMMENT ON FUNCTION session_client.delete_old_stream_tokens(int) IS
    'Deletes the tokens of streams that have ended, at most at_most. Returns how many.';
GRANT EXECUTE ON FUNCTION session_client.delete_old_stream_tokens(int) TO session_client;
