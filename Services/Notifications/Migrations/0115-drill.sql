-- What became of a notification, for the report of a drill. Of devices it says no more than their kind.
CREATE VIEW notifications.receipt AS
SELECT n.account, n.id AS notification, CASE WHEN n.cleared_at IS DISTINCT FROM n.created_at THEN n.created_at END AS notified_at,
       (SELECT json_agg(json_build_object('platform', coalesce(d.platform, 'other'), 'taken', notifications.microseconds(p.taken_at))
                        ORDER BY p.taken_at, p.device)
          FROM (SELECT a.device, min(a.began_at + a.took) AS taken_at
                  FROM notifications.push_attempt AS a
                 WHERE a.account = n.account AND a.notification = n.id AND a.result = 'done'
                 GROUP BY a.device) AS p
          LEFT JOIN notifications.push_device AS d ON d.account = n.account AND d.device = p.device) AS pushes,
       (SELECT min(s.shown_at) FROM notifications.shown AS s
         WHERE s.account = n.account AND s.notification = n.id) AS shown_at,
       n.read_at
  FROM notifications.notification AS n;
COMMENT ON VIEW notifications.receipt IS 'What became of each notification: pushed to what kinds of device, shown, read. Ask for some by account and id.';
COMMENT ON COLUMN notifications.receipt.account IS 'The account that was notified.';
COMMENT ON COLUMN notifications.receipt.notification IS 'The notification.';
COMMENT ON COLUMN notifications.receipt.notified_at IS 'When it was delivered, and so reached open streams; null if it was out of date by then and told nobody.';
COMMENT ON COLUMN notifications.receipt.pushes IS 'For each device for which a push service took a push: its platform, and when that was (taken, microseconds). Null if none did.';
COMMENT ON COLUMN notifications.receipt.shown_at IS 'When a device first showed it.';
COMMENT ON COLUMN notifications.receipt.read_at IS 'When it was read.';
GRANT SELECT ON notifications.receipt TO session_client;
-- compatible with 0.1.0
