CREATE VIEW session_client.alarm_receipts WITH (security_invoker = true) AS
SELECT n.alarm, coalesce(n.subject, n.account) AS person, n.account AS recipient, n.kind,
       (n.details ->> 'count')::int AS repetition, n.id AS notification, h.due_at, h.happened_at,
       n.created_at AS notified_at, p.attempts AS push_attempts, p.pushed_at, p.answer AS push_answer, s.shown_at,
       n.read_at, n.created_at - h.since AS notified_after, p.pushed_at - h.since AS pushed_after,
       s.shown_at - h.since AS shown_after, n.read_at - h.since AS read_after
  FROM notifications.notification AS n
 CROSS JOIN LATERAL (SELECT timestamptz 'epoch' + (n.details ->> 'deadline')::bigint * interval '1 microsecond' AS due_at,
                            timestamptz 'epoch' + (n.details ->> 'at')::bigint * interval '1 microsecond' AS happened_at
                    ) AS t
 CROSS JOIN LATERAL (SELECT t.due_at, t.happened_at,
                            CASE WHEN n.kind IN ('checkInMissed', 'dependentCheckInMissed')
                                 THEN coalesce(t.due_at, t.happened_at) ELSE t.happened_at END AS since) AS h
  LEFT JOIN LATERAL (SELECT count(*) AS attempts, min(a.began_at + a.took) FILTER (WHERE a.result = 'done') AS pushed_at,
                            (array_agg(a.result || ': ' || a.answer ORDER BY a.began_at DESC))[1] AS answer
                       FROM notifications.push_attempt AS a
                      WHERE a.account = n.account AND a.notification = n.id) AS p ON true
  LEFT JOIN LATERAL (SELECT min(s.shown_at) AS shown_at
                       FROM notifications.shown AS s
                      WHERE s.account = n.account AND s.notification = n.id) AS s ON true
 WHERE n.alarm IS NOT NULL;
COMMENT ON VIEW session_client.alarm_receipts IS 'Who was notified of an alarm and of its end, and when each notification reached them. Ask for one alarm, which an index finds.';
COMMENT ON COLUMN session_client.alarm_receipts.alarm IS 'The alarm.';
COMMENT ON COLUMN session_client.alarm_receipts.person IS 'The account with the alarm.';
COMMENT ON COLUMN session_client.alarm_receipts.recipient IS 'The account that was notified: the person''s own, or a responder''s.';
COMMENT ON COLUMN session_client.alarm_receipts.kind IS 'The kind of notification.';
COMMENT ON COLUMN session_client.alarm_receipts.repetition IS 'The number of the repetition; null for the first notification.';
COMMENT ON COLUMN session_client.alarm_receipts.notification IS 'The notification.';
COMMENT ON COLUMN session_client.alarm_receipts.due_at IS 'The deadline that was missed; null for an alert.';
COMMENT ON COLUMN session_client.alarm_receipts.happened_at IS 'When the missed check-in was noticed, the alert raised, or the alarm ended.';
COMMENT ON COLUMN session_client.alarm_receipts.notified_at IS 'When the notification was delivered, and so reached open streams.';
COMMENT ON COLUMN session_client.alarm_receipts.push_attempts IS 'How often a push to the recipient''s devices was tried.';
COMMENT ON COLUMN session_client.alarm_receipts.pushed_at IS 'When the push service first accepted a push.';
COMMENT ON COLUMN session_client.alarm_receipts.push_answer IS 'How the last push ended.';
COMMENT ON COLUMN session_client.alarm_receipts.shown_at IS 'When an app first showed the notification.';
COMMENT ON COLUMN session_client.alarm_receipts.read_at IS 'When the notification was read.';
COMMENT ON COLUMN session_client.alarm_receipts.notified_after IS 'Delay from the deadline, or from happened_at, to notified_at.';
COMMENT ON COLUMN session_client.alarm_receipts.pushed_after IS 'Delay to pushed_at.';
COMMENT ON COLUMN session_client.alarm_receipts.shown_after IS 'Delay to shown_at.';
COMMENT ON COLUMN session_client.alarm_receipts.read_after IS 'Delay to read_at.';
