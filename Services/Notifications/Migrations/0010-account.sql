CREATE TABLE notifications.account (
    account   uuid        CONSTRAINT account_is_known_once PRIMARY KEY,
    unread    int         NOT NULL CONSTRAINT unread_is_not_negative CHECK (unread >= 0),
    total     int         NOT NULL,
    forget_at timestamptz,
    closed_at timestamptz,
    CONSTRAINT unread_ones_are_in_the_history CHECK (unread <= total),
    CONSTRAINT closed_account_has_no_history CHECK (closed_at IS NULL OR total = 0)
) WITH (fillfactor = 70);
COMMENT ON TABLE notifications.account IS 'Every account that notifications knows. Closed accounts stay, so that a late command can''t reopen one.';
COMMENT ON COLUMN notifications.account.account IS 'The account.';
COMMENT ON COLUMN notifications.account.unread IS 'How many of its notifications are neither read nor cleared. This is the only place where they are counted.';
COMMENT ON COLUMN notifications.account.total IS 'How many notifications its history has.';
COMMENT ON COLUMN notifications.account.forget_at IS 'When its history is next checked for notifications older than 30 days; null while it is empty.';
COMMENT ON COLUMN notifications.account.closed_at IS 'When the account was closed, which is permanent.';

GRANT SELECT, INSERT, UPDATE ON notifications.account TO notifications;

CREATE VIEW notifications.unread AS
SELECT a.account, a.unread
  FROM notifications.account AS a
 WHERE a.closed_at IS NULL;
COMMENT ON VIEW notifications.unread IS 'How many unread notifications each account has.';
COMMENT ON COLUMN notifications.unread.account IS 'The account.';
COMMENT ON COLUMN notifications.unread.unread IS 'How many notifications are neither read nor cleared.';
GRANT SELECT ON notifications.unread TO session_client;
