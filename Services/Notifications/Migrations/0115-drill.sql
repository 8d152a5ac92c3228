-- compatible with 0.1.0
ALTER TABLE notifications.notification ADD COLUMN answered_at timestamptz;
COMMENT ON COLUMN notifications.notification.answered_at IS 'When the account said of a drill that it got it; null otherwise. Nothing else tells the drill''s person so.';

CREATE OR REPLACE VIEW notifications.notifications_state AS
SELECT a.account,
       json_strip_nulls(json_build_object(
           'account', a.account,
           'unread', a.unread,
           'isClosed', a.closed_at IS NOT NULL,
           'notifications', coalesce((
               SELECT json_agg(json_build_object(
                          'id', n.id, 'kind', n.kind, 'subject', n.subject, 'details', n.details,
                          'created', notifications.microseconds(n.created_at),
                          'read', notifications.microseconds(n.read_at),
                          'cleared', notifications.microseconds(n.cleared_at),
                          'answered', notifications.microseconds(n.answered_at)) ORDER BY n.created_at DESC, n.id DESC)
                 FROM (SELECT h.*
                         FROM notifications.notification AS h
                        WHERE h.account = a.account
                        ORDER BY h.created_at DESC, h.id DESC
                        LIMIT 200) AS n), '[]'),
           'scheduled', coalesce((
               SELECT json_agg(json_build_object(
                          'id', s.id, 'kind', s.kind, 'subject', s.subject, 'details', s.details,
                          'due', notifications.microseconds(s.due_at)) ORDER BY s.id)
                 FROM notifications.scheduled AS s
                WHERE s.account = a.account), '[]'),
           'pushDevices', coalesce((
               SELECT json_agg(d.device ORDER BY d.device)
                 FROM notifications.push_device AS d
                WHERE d.account = a.account AND NOT d.is_leaving), '[]'))) AS state
  FROM notifications.account AS a;

-- In whole seconds, and nothing of devices: the drill's person reads it.
CREATE VIEW notifications.drill_receipt AS
SELECT n.account, n.id AS notification,
       CASE WHEN n.cleared_at IS DISTINCT FROM n.created_at THEN date_trunc('second', n.created_at) END AS notified_at,
       date_trunc('second', n.answered_at) AS answered_at
  FROM notifications.notification AS n
 WHERE n.details ->> 'drillEnds' IS NOT NULL AND n.alarm IS NULL;
COMMENT ON VIEW notifications.drill_receipt IS 'What became of each notification of a drill. Ask for some by account and id.';
COMMENT ON COLUMN notifications.drill_receipt.account IS 'The account that was notified.';
COMMENT ON COLUMN notifications.drill_receipt.notification IS 'The notification.';
COMMENT ON COLUMN notifications.drill_receipt.notified_at IS 'When it was ready for the account''s devices; null if it was out of date by then and told nobody.';
COMMENT ON COLUMN notifications.drill_receipt.answered_at IS 'When the account said that it got it.';
GRANT SELECT ON notifications.drill_receipt TO session_client;
