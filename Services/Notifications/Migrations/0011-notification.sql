CREATE TABLE notifications.notification (
    account    uuid        NOT NULL,
    id         uuid        NOT NULL,
    kind       text        NOT NULL,
    category   text        NOT NULL,
    pace       text,
    subject    uuid,
    details    json        NOT NULL,
    created_at timestamptz NOT NULL,
    read_at    timestamptz,
    cleared_at timestamptz,
    CONSTRAINT cause_is_told_once PRIMARY KEY (account, id)
) WITH (fillfactor = 80);
-- The history newest first and its oldest rows; an update of read_at or cleared_at leaves it alone.
CREATE INDEX notification_by_time ON notifications.notification (account, created_at, id);
CREATE INDEX notification_by_pace ON notifications.notification (account, pace, created_at) WHERE pace IS NOT NULL;
CREATE INDEX notification_not_cleared ON notifications.notification (account) WHERE cleared_at IS NULL;

COMMENT ON TABLE notifications.notification IS 'What accounts were told in the last 30 days; what was cleared is still here.';
COMMENT ON INDEX notifications.notification_by_time IS 'The history in its order.';
COMMENT ON INDEX notifications.notification_by_pace IS 'What was told lately of the same.';
COMMENT ON INDEX notifications.notification_not_cleared IS 'What may be read or cleared.';
COMMENT ON COLUMN notifications.notification.account IS 'Who was told.';
COMMENT ON COLUMN notifications.notification.id IS 'Its name, after what caused it.';
COMMENT ON COLUMN notifications.notification.kind IS 'What it says.';
COMMENT ON COLUMN notifications.notification.category IS 'What a person filters by; follows from the kind.';
COMMENT ON COLUMN notifications.notification.pace IS 'What it is limited together with, so that nobody is flooded; NULL for what has no limit. Follows from the kind and the subject.';
COMMENT ON COLUMN notifications.notification.subject IS 'The other account that it is about.';
COMMENT ON COLUMN notifications.notification.details IS 'What else it says: NotificationDetails of the contract.';
COMMENT ON COLUMN notifications.notification.created_at IS 'When it was delivered.';
COMMENT ON COLUMN notifications.notification.read_at IS 'When it was read.';
COMMENT ON COLUMN notifications.notification.cleared_at IS 'When it was cleared.';

GRANT SELECT, INSERT, UPDATE, DELETE ON notifications.notification TO notifications;
GRANT SELECT ON notifications.notification TO session_client;
