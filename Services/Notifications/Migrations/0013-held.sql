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
COMMENT ON TABLE notifications.held IS 'What accounts are told in a moment, after much of the same in a short time: the newest of it.';
COMMENT ON COLUMN notifications.held.account IS 'Who will be told.';
COMMENT ON COLUMN notifications.held.pace IS 'What it is limited together with.';
COMMENT ON COLUMN notifications.held.id IS 'Its name, after what caused it; the notification''s, too.';
COMMENT ON COLUMN notifications.held.kind IS 'What it will say.';
COMMENT ON COLUMN notifications.held.subject IS 'The other account that it is about.';
COMMENT ON COLUMN notifications.held.details IS 'What else it will say: NotificationDetails of the contract.';
COMMENT ON COLUMN notifications.held.due_at IS 'When.';

GRANT SELECT, INSERT, UPDATE, DELETE ON notifications.held TO notifications;
