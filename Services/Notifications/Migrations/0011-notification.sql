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
    alarm      uuid        GENERATED ALWAYS AS ((details ->> 'alarm')::uuid) STORED,
    CONSTRAINT cause_is_told_once PRIMARY KEY (account, id)
) WITH (fillfactor = 80);
CREATE INDEX notification_by_time ON notifications.notification (account, created_at, id);
CREATE INDEX notification_by_pace ON notifications.notification (account, pace, created_at) WHERE pace IS NOT NULL;
CREATE INDEX notification_not_cleared ON notifications.notification (account) WHERE cleared_at IS NULL;
CREATE INDEX notification_by_alarm ON notifications.notification (alarm) WHERE alarm IS NOT NULL;

COMMENT ON TABLE notifications.notification IS 'The notifications of the last 30 days, including cleared ones.';
COMMENT ON INDEX notifications.notification_by_time IS 'Lists the history in order, and finds its oldest rows. Reading or clearing a notification doesn''t change it.';
COMMENT ON INDEX notifications.notification_by_pace IS 'Finds the recent notifications that are limited together.';
COMMENT ON INDEX notifications.notification_not_cleared IS 'Finds the notifications that can be read or cleared.';
COMMENT ON INDEX notifications.notification_by_alarm IS 'Finds the notifications about an alarm.';
COMMENT ON COLUMN notifications.notification.account IS 'The account that was notified.';
COMMENT ON COLUMN notifications.notification.id IS 'The notification''s id, derived from its cause.';
COMMENT ON COLUMN notifications.notification.kind IS 'What the notification says.';
COMMENT ON COLUMN notifications.notification.category IS 'The category that people filter by; follows from the kind.';
COMMENT ON COLUMN notifications.notification.pace IS 'The group whose rate is limited together; null if there is no limit. Follows from kind and subject.';
COMMENT ON COLUMN notifications.notification.subject IS 'The other account that the notification is about.';
COMMENT ON COLUMN notifications.notification.details IS 'NotificationDetails of the contract.';
COMMENT ON COLUMN notifications.notification.created_at IS 'When the notification was delivered.';
COMMENT ON COLUMN notifications.notification.read_at IS 'When it was read.';
COMMENT ON COLUMN notifications.notification.cleared_at IS 'When it was cleared.';
COMMENT ON COLUMN notifications.notification.alarm IS 'The alarm that it belongs to. All notifications about an alarm, up to its all-clear, have the same one.';

GRANT SELECT, INSERT, UPDATE, DELETE ON notifications.notification TO notifications;
GRANT SELECT ON notifications.notification TO session_client;

CREATE VIEW notifications.wrong_count AS
SELECT a.account, a.unread, a.total, n.unread AS unread_rows, n.total AS total_rows
  FROM notifications.account AS a
 CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE n.read_at IS NULL AND n.cleared_at IS NULL) AS unread, count(*) AS total
                       FROM notifications.notification AS n
                      WHERE n.account = a.account) AS n
 WHERE (a.unread, a.total) IS DISTINCT FROM (n.unread, n.total);
COMMENT ON VIEW notifications.wrong_count IS 'Accounts whose counts differ from their rows. Should always be empty. Reads all notifications.';
COMMENT ON COLUMN notifications.wrong_count.account IS 'The account.';
COMMENT ON COLUMN notifications.wrong_count.unread IS 'The stored count of unread notifications.';
COMMENT ON COLUMN notifications.wrong_count.total IS 'The stored count of notifications.';
COMMENT ON COLUMN notifications.wrong_count.unread_rows IS 'How many notifications are unread.';
COMMENT ON COLUMN notifications.wrong_count.total_rows IS 'How many notifications there are.';
