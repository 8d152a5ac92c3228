-- The JSON is NotificationsState of the contract; a test compares the two.
CREATE VIEW notifications.notifications_state AS
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
                          'cleared', notifications.microseconds(n.cleared_at)) ORDER BY n.created_at DESC, n.id DESC)
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
COMMENT ON VIEW notifications.notifications_state IS 'The state of the stream notifications/<account>, as JSON, with the newest 200 notifications. Read it together with the log''s position, in one statement. For older ones, read notifications.notification by (created_at, id).';
COMMENT ON COLUMN notifications.notifications_state.account IS 'The account.';
COMMENT ON COLUMN notifications.notifications_state.state IS 'NotificationsState of the contract, with times in microseconds.';

GRANT SELECT ON notifications.notifications_state TO session_client;
