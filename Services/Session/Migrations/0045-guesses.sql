ALTER TABLE session.device
    ADD COLUMN failures      int NOT NULL DEFAULT 0 CONSTRAINT failures_are_not_negative CHECK (failures >= 0),
    ADD COLUMN blocked_until timestamptz;
COMMENT ON COLUMN session.device.failures IS 'Wrong passwords in a row that were given on it while it is signed in; those of others are counted in session.sign_in_attempt.';
COMMENT ON COLUMN session.device.blocked_until IS 'Until when no password is looked at on it.';

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
COMMENT ON TABLE session.sign_in_attempt IS 'What was tried within a day to sign in as somebody, or as nobody: both are counted alike. Only session reads it.';
COMMENT ON INDEX session.sign_in_attempt_by_age IS 'What is forgotten next.';
COMMENT ON COLUMN session.sign_in_attempt.subject IS 'The key of the handle or phone that was tried; or of the account that asks for a code for its new phone.';
COMMENT ON COLUMN session.sign_in_attempt.source IS 'From where: what the edge calls an address, or a device that was signed in before; 0 for all together.';
COMMENT ON COLUMN session.sign_in_attempt.counted_since IS 'When the first was counted; a day later all are forgotten.';
COMMENT ON COLUMN session.sign_in_attempt.failures IS 'Wrong passwords or digits.';
COMMENT ON COLUMN session.sign_in_attempt.blocked_until IS 'Until when none is looked at.';
COMMENT ON COLUMN session.sign_in_attempt.codes_since IS 'Since when codes are counted: an hour at a time.';
COMMENT ON COLUMN session.sign_in_attempt.last_code_at IS 'When the last one was asked for.';
COMMENT ON COLUMN session.sign_in_attempt.codes IS 'How many codes were asked for since.';

REVOKE ALL ON session.sign_in_attempt FROM quartet_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON session.sign_in_attempt TO session;

-- A day is the rules' own: kept longer they count for nothing.
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
    'Forgets what was tried, at most so many rows, when it is older than session.retention says. Returns how many.';
REVOKE EXECUTE ON FUNCTION session.delete_old_attempts(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION session.delete_old_attempts(int) TO session;
