-- compatible with 0.1.0
-- For whom a push service took a push lately. Not a column of notifications.account, whose rows the rules lock: a push that was
-- taken is recorded without waiting for them.
CREATE TABLE notifications.push_taken (
    account     uuid        NOT NULL CONSTRAINT push_is_taken_once_a_day PRIMARY KEY,
    taken_at    timestamptz NOT NULL,
    is_recorded boolean     NOT NULL DEFAULT false
) WITH (fillfactor = 70);
CREATE INDEX push_taken_unrecorded ON notifications.push_taken (taken_at, account) WHERE NOT is_recorded;
CREATE INDEX push_taken_by_age ON notifications.push_taken (taken_at) WHERE is_recorded;
COMMENT ON TABLE notifications.push_taken IS 'Accounts of which a push service has taken a push within the last day. The first of a day becomes an event, PushTaken.';
COMMENT ON INDEX notifications.push_taken_unrecorded IS 'Finds those that become an event next.';
COMMENT ON INDEX notifications.push_taken_by_age IS 'Finds the rows that are deleted next.';
COMMENT ON COLUMN notifications.push_taken.account IS 'The account.';
COMMENT ON COLUMN notifications.push_taken.taken_at IS 'When the first push of the day was taken.';
COMMENT ON COLUMN notifications.push_taken.is_recorded IS 'Whether the command for that event is in notifications.due.';
GRANT SELECT, INSERT, DELETE, UPDATE (taken_at, is_recorded) ON notifications.push_taken TO notifications;

CREATE FUNCTION notifications.delete_old_taken_pushes(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
BEGIN
    DELETE FROM notifications.push_taken AS t
     WHERE t.is_recorded AND t.account IN (
        SELECT o.account FROM notifications.push_taken AS o
         WHERE o.is_recorded AND o.taken_at < statement_timestamp() - interval '1 day'
         ORDER BY o.taken_at LIMIT at_most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;
COMMENT ON FUNCTION notifications.delete_old_taken_pushes(int) IS
    'Deletes rows of push_taken that are older than a day and so hold back no further event, at most at_most rows. Returns how many.';
REVOKE EXECUTE ON FUNCTION notifications.delete_old_taken_pushes(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION notifications.delete_old_taken_pushes(int) TO notifications;
