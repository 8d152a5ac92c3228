CREATE TABLE notifications.signed_out_device (
    account       uuid        NOT NULL,
    device        uuid        NOT NULL,
    signed_out_at timestamptz NOT NULL,
    CONSTRAINT device_is_signed_out_once PRIMARY KEY (account, device)
);
CREATE INDEX signed_out_device_by_age ON notifications.signed_out_device (signed_out_at);
COMMENT ON TABLE notifications.signed_out_device IS 'Devices that were signed out within the last hour. A registration for pushes that was under way then is refused: ids of devices aren''t used again.';
COMMENT ON INDEX notifications.signed_out_device_by_age IS 'Finds the rows that are deleted next.';
COMMENT ON COLUMN notifications.signed_out_device.account IS 'The account.';
COMMENT ON COLUMN notifications.signed_out_device.device IS 'The device.';
COMMENT ON COLUMN notifications.signed_out_device.signed_out_at IS 'When notifications heard of it.';

GRANT SELECT, INSERT, DELETE ON notifications.signed_out_device TO notifications;

-- An app's command expires after five minutes, so no registration can wait for longer.
INSERT INTO notifications.retention (subject, keep) VALUES ('signed_out_device', interval '1 hour');
CREATE FUNCTION notifications.delete_old_signed_out_devices(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
BEGIN
    DELETE FROM notifications.signed_out_device AS d
     WHERE (d.account, d.device) IN (
        SELECT o.account, o.device FROM notifications.signed_out_device AS o
         WHERE o.signed_out_at < statement_timestamp() - (SELECT r.keep FROM notifications.retention AS r WHERE r.subject = 'signed_out_device')
         ORDER BY o.signed_out_at LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;
COMMENT ON FUNCTION notifications.delete_old_signed_out_devices(int) IS
    'Deletes devices that were signed out longer ago than notifications.retention says, at most at_most rows. Returns how many.';
REVOKE EXECUTE ON FUNCTION notifications.delete_old_signed_out_devices(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION notifications.delete_old_signed_out_devices(int) TO notifications;
