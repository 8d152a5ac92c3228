CREATE TABLE notifications.scheduled (
    account uuid        NOT NULL,
    id      uuid        NOT NULL,
    kind    text        NOT NULL,
    subject uuid,
    details json        NOT NULL,
    due_at  timestamptz NOT NULL,
    CONSTRAINT notification_is_scheduled_once PRIMARY KEY (account, id)
);
COMMENT ON TABLE notifications.scheduled IS 'Notifications that will be delivered later.';
COMMENT ON COLUMN notifications.scheduled.account IS 'The account that will be notified.';
COMMENT ON COLUMN notifications.scheduled.id IS 'The notification''s id.';
COMMENT ON COLUMN notifications.scheduled.kind IS 'What the notification will say.';
COMMENT ON COLUMN notifications.scheduled.subject IS 'The other account that the notification is about.';
COMMENT ON COLUMN notifications.scheduled.details IS 'NotificationDetails of the contract.';
COMMENT ON COLUMN notifications.scheduled.due_at IS 'When it is delivered.';

GRANT SELECT, INSERT, UPDATE, DELETE ON notifications.scheduled TO notifications;
