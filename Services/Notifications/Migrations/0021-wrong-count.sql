CREATE VIEW notifications.wrong_count AS
SELECT a.account, a.unread, a.total, n.unread AS unread_rows, n.total AS total_rows
  FROM notifications.account AS a
 CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE n.read_at IS NULL AND n.cleared_at IS NULL) AS unread, count(*) AS total
                       FROM notifications.notification AS n
                      WHERE n.account = a.account) AS n
 WHERE (a.unread, a.total) IS DISTINCT FROM (n.unread, n.total);
COMMENT ON VIEW notifications.wrong_count IS 'Accounts whose counts are not those of their rows: always empty. Reads everything.';
COMMENT ON COLUMN notifications.wrong_count.account IS 'The account.';
COMMENT ON COLUMN notifications.wrong_count.unread IS 'How many it says are unread.';
COMMENT ON COLUMN notifications.wrong_count.total IS 'How many it says there are.';
COMMENT ON COLUMN notifications.wrong_count.unread_rows IS 'How many are unread.';
COMMENT ON COLUMN notifications.wrong_count.total_rows IS 'How many there are.';
