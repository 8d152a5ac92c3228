--! include bus/log.sql schema=notifications log=due reader=notifications partitions=8
--! include bus/append.sql schema=notifications log=due
--! include bus/timer.sql schema=notifications
--! include bus/log-retention.sql schema=notifications log=due consumer=notifications
--! include bus/log-domains.sql schema=notifications log=due
-- Who handles this log is its owner, so nobody else has to know how far it is handled; and the views that show it ask with
-- the rights of who reads them.

ALTER TABLE notifications.account ADD COLUMN forget_at timestamptz;
UPDATE notifications.account AS a
   SET forget_at = (SELECT min(n.created_at) FROM notifications.notification AS n WHERE n.account = a.account)
                   + interval '720 hours'
 WHERE a.total > 0;
-- No constraint binds it to the total: replicas of the version before write rows without it until they are gone.
COMMENT ON COLUMN notifications.account.forget_at IS 'When its history is next looked at for what is older than 30 days; null while it is empty.';

-- As the service sets them.
INSERT INTO notifications.timer (key, name, due_at, type, version, body)
SELECT 'account/' || a.account, 'ForgetOldNotifications', a.forget_at, 'ForgetOldNotifications', 1,
       json_build_object('account', a.account)
  FROM notifications.account AS a
 WHERE a.forget_at IS NOT NULL
 UNION ALL
SELECT 'account/' || s.account, 'DeliverScheduledNotification/' || s.id, s.due_at, 'DeliverScheduledNotification', 1,
       json_build_object('account', s.account, 'id', s.id, 'due', notifications.microseconds(s.due_at))
  FROM notifications.scheduled AS s;
