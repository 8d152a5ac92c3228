CREATE TABLE notifications.held (
    account uuid        NOT NULL,
    pace    text        NOT NULL,
    id      uuid        NOT NULL,
    kind    text        NOT NULL,
    subject uuid,
    details json        NOT NULL,
    due_at  timestamptz NOT NULL,
    CONSTRAINT newest_is_held_alone PRIMARY KEY (account, pace)
);
COMMENT ON TABLE notifications.held IS 'Notifications held back because of their rate limit: the newest of each group, delivered soon.';
COMMENT ON COLUMN notifications.held.account IS 'The account that will be notified.';
COMMENT ON COLUMN notifications.held.pace IS 'The group whose rate is limited together.';
COMMENT ON COLUMN notifications.held.id IS 'The notification''s id, derived from its cause.';
COMMENT ON COLUMN notifications.held.kind IS 'What the notification will say.';
COMMENT ON COLUMN notifications.held.subject IS 'The other account that the notification is about.';
COMMENT ON COLUMN notifications.held.details IS 'NotificationDetails of the contract.';
COMMENT ON COLUMN notifications.held.due_at IS 'When it is delivered.';

GRANT SELECT, INSERT, UPDATE, DELETE ON notifications.held TO notifications;
