-- Withdrawing an invitation finds its notification without reading all others.
CREATE INDEX notification_of_group ON notifications.notification (account, (details ->> 'group'))
    WHERE cleared_at IS NULL AND details ->> 'group' IS NOT NULL;
COMMENT ON INDEX notifications.notification_of_group IS 'Finds the notifications about a group session that can be read or cleared.';
