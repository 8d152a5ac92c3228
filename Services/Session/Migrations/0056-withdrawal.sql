CREATE TABLE session.withdrawal (
    inviter      uuid        NOT NULL,
    invited      uuid        NOT NULL,
    withdrawn_at timestamptz NOT NULL,
    CONSTRAINT withdrawal_is_remembered_once PRIMARY KEY (inviter, invited),
    CONSTRAINT nobody_invites_oneself CHECK (inviter <> invited)
) WITH (fillfactor = 80);
CREATE INDEX withdrawal_by_age ON session.withdrawal (withdrawn_at);
COMMENT ON TABLE session.withdrawal IS 'Whose invitations to whom were withdrawn in the last minutes, because they are no contacts any more. An invitation that was asked for before is refused.';
COMMENT ON INDEX session.withdrawal_by_age IS 'Finds the rows that are deleted next.';
COMMENT ON COLUMN session.withdrawal.inviter IS 'The account that invited the other.';
COMMENT ON COLUMN session.withdrawal.invited IS 'The account that was invited.';
COMMENT ON COLUMN session.withdrawal.withdrawn_at IS 'When the latest withdrawal was asked for.';

GRANT SELECT, INSERT, UPDATE, DELETE ON session.withdrawal TO session;

-- The rules ignore withdrawals that are older than ten minutes, so longer retention changes nothing.
INSERT INTO session.retention (subject, keep) VALUES ('withdrawal', interval '10 minutes');
CREATE FUNCTION session.delete_old_withdrawals(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
BEGIN
    DELETE FROM session.withdrawal AS w
     WHERE (w.inviter, w.invited) IN (
        SELECT o.inviter, o.invited FROM session.withdrawal AS o
         WHERE o.withdrawn_at < statement_timestamp() - (SELECT r.keep FROM session.retention AS r WHERE r.subject = 'withdrawal')
         ORDER BY o.withdrawn_at LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;
COMMENT ON FUNCTION session.delete_old_withdrawals(int) IS
    'Deletes withdrawals that are older than session.retention says, at most at_most rows. Returns how many.';
REVOKE EXECUTE ON FUNCTION session.delete_old_withdrawals(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION session.delete_old_withdrawals(int) TO session;
