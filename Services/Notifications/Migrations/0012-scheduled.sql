CREATE TABLE notifications.scheduled (
    account uuid        NOT NULL,
    id      uuid        NOT NULL,
    kind    text        NOT NULL,
    subject uuid,
    details json        NOT NULL,
    due_at  timestamptz NOT NULL,
    CONSTRAINT notification_is_scheduled_once PRIMARY KEY (account, id)
);
COMMENT ON TABLE notifications.scheduled IS 'What accounts are to be told later.';
COMMENT ON COLUMN notifications.scheduled.account IS 'Who will be told.';
COMMENT ON COLUMN notifications.scheduled.id IS 'Its name, and the notification''s.';
COMMENT ON COLUMN notifications.scheduled.kind IS 'What it will say.';
COMMENT ON COLUMN notifications.scheduled.subject IS 'The other account that it is about.';
COMMENT ON COLUMN notifications.scheduled.details IS 'What else it will say: NotificationDetails of the contract.';
COMMENT ON COLUMN notifications.scheduled.due_at IS 'When.';

GRANT SELECT, INSERT, UPDATE, DELETE ON notifications.scheduled TO notifications;
