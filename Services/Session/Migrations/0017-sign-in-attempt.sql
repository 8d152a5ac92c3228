CREATE TABLE session.sign_in_attempt (
    subject       text        NOT NULL,
    source        uuid        NOT NULL,
    counted_since timestamptz NOT NULL,
    failures      int         NOT NULL CONSTRAINT failures_are_not_negative CHECK (failures >= 0),
    blocked_until timestamptz,
    codes_since   timestamptz,
    last_code_at  timestamptz,
    codes         int         NOT NULL,
    CONSTRAINT attempts_are_counted_once PRIMARY KEY (subject, source),
    CONSTRAINT codes_have_their_times
        CHECK ((codes > 0) = (codes_since IS NOT NULL) AND (codes > 0) = (last_code_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX sign_in_attempt_by_age ON session.sign_in_attempt (counted_since);
COMMENT ON TABLE session.sign_in_attempt IS 'Attempts of the last day to sign in, whether or not the account exists: both are counted alike. Only session reads it.';
COMMENT ON INDEX session.sign_in_attempt_by_age IS 'Finds the rows that are deleted next.';
COMMENT ON COLUMN session.sign_in_attempt.subject IS 'The key of the handle or phone that was tried, or of the account that requests a code for its new phone.';
COMMENT ON COLUMN session.sign_in_attempt.source IS 'Where the attempts came from: the edge''s id for a network address, or a device that was signed in before; 0 for all sources together.';
COMMENT ON COLUMN session.sign_in_attempt.counted_since IS 'When the first attempt was counted. A day later all are forgotten.';
COMMENT ON COLUMN session.sign_in_attempt.failures IS 'How many wrong passwords or digits were given.';
COMMENT ON COLUMN session.sign_in_attempt.blocked_until IS 'Until when no password or digits are checked.';
COMMENT ON COLUMN session.sign_in_attempt.codes_since IS 'When the current count of codes began; it lasts an hour.';
COMMENT ON COLUMN session.sign_in_attempt.last_code_at IS 'When the last code was requested.';
COMMENT ON COLUMN session.sign_in_attempt.codes IS 'How many codes were requested since codes_since.';

REVOKE ALL ON session.sign_in_attempt FROM quartet_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON session.sign_in_attempt TO session;

-- The rules ignore attempts that are older than a day, so longer retention changes nothing.
INSERT INTO session.retention (subject, keep) VALUES ('sign_in_attempt', interval '1 day');
CREATE FUNCTION session.delete_old_attempts(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
BEGIN
    DELETE FROM session.sign_in_attempt AS a
     WHERE (a.subject, a.source) IN (
        SELECT o.subject, o.source FROM session.sign_in_attempt AS o
         WHERE o.counted_since < clock_timestamp() - (SELECT r.keep FROM session.retention AS r WHERE r.subject = 'sign_in_attempt')
         ORDER BY o.counted_since LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;
COMMENT ON FUNCTION session.delete_old_attempts(int) IS
    'Deletes attempts that are older than session.retention says, at most at_most rows. Returns how many.';
GRANT EXECUTE ON FUNCTION session.delete_old_attempts(int) TO session;
