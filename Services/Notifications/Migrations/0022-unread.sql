CREATE VIEW notifications.unread AS
SELECT a.account, a.unread
  FROM notifications.account AS a
 WHERE a.closed_at IS NULL;
COMMENT ON VIEW notifications.unread IS 'How many notifications are unread.';
COMMENT ON COLUMN notifications.unread.account IS 'Whose.';
COMMENT ON COLUMN notifications.unread.unread IS 'How many are neither read nor cleared.';

GRANT SELECT ON notifications.unread TO session_client;
