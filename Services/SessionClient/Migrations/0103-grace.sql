-- Nobody is late for as long as the person wanted: what others hear counts from the end of the grace.
CREATE OR REPLACE VIEW session_client.alarm_receipts WITH (security_invoker = true) AS
SELECT n.alarm, coalesce(n.subject, n.account) AS person, n.account AS recipient, n.kind,
       (n.details ->> 'count')::int AS repetition, n.id AS notification, h.due_at, h.happened_at,
       n.created_at AS notified_at, p.attempts AS push_attempts, p.pushed_at, p.answer AS push_answer, s.shown_at,
       n.read_at, n.created_at - h.since AS notified_after, p.pushed_at - h.since AS pushed_after,
       s.shown_at - h.since AS shown_after, n.read_at - h.since AS read_after, t.grace_ended_at
  FROM notifications.notification AS n
 CROSS JOIN LATERAL (SELECT timestamptz 'epoch' + (n.details ->> 'deadline')::bigint * interval '1 microsecond' AS due_at,
                            timestamptz 'epoch' + (n.details ->> 'at')::bigint * interval '1 microsecond' AS happened_at,
                            -- A repetition doesn't say it, but the person's own first notification does.
                            (SELECT timestamptz 'epoch' + max((g.details ->> 'graceEnds')::bigint) * interval '1 microsecond'
                               FROM notifications.notification AS g
                              WHERE g.alarm = n.alarm
                                AND n.kind IN ('checkInMissed', 'dependentCheckInMissed')) AS grace_ended_at
                    ) AS t
 CROSS JOIN LATERAL (SELECT t.due_at, t.happened_at,
                            CASE WHEN n.kind IN ('checkInMissed', 'dependentCheckInMissed')
                                 THEN coalesce(t.grace_ended_at, t.due_at, t.happened_at) ELSE t.happened_at END AS since) AS h
  LEFT JOIN LATERAL (SELECT count(*) AS attempts, min(a.began_at + a.took) FILTER (WHERE a.result = 'done') AS pushed_at,
                            (array_agg(a.result || ': ' || a.answer ORDER BY a.began_at DESC))[1] AS answer
                       FROM notifications.push_attempt AS a
                      WHERE a.account = n.account AND a.notification = n.id) AS p ON true
  LEFT JOIN LATERAL (SELECT min(s.shown_at) AS shown_at
                       FROM notifications.shown AS s
                      WHERE s.account = n.account AND s.notification = n.id) AS s ON true
 WHERE n.alarm IS NOT NULL AND NOT session_client.is_canary(n.account);
COMMENT ON COLUMN session_client.alarm_receipts.grace_ended_at IS 'When the grace after the deadline ended; null if it had none.';
COMMENT ON COLUMN session_client.alarm_receipts.notified_after IS 'Delay from the deadline, the end of the grace after it, or from happened_at, to notified_at.';

DROP FUNCTION session_client.alarm_begun(uuid, uuid);
CREATE FUNCTION session_client.alarm_begun(of_alarm uuid, of_person uuid)
    RETURNS TABLE (person uuid, kind text, due_at timestamptz, noticed_at timestamptz, in_partition int,
                   at_position bigint, appended_at timestamptz, grace_ended_at timestamptz)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    place record;
BEGIN
    FOR place IN
        SELECT h.partition, session_client.position_before(h.log, h.partition, session_client.time_of(of_alarm)) AS before
          FROM session_client.heads AS h
         WHERE h.log = 'session.log'
           AND (of_person IS NULL OR h.partition = session.log_partition_of('account/' || of_person))
    LOOP
        RETURN QUERY
        SELECT (m.body ->> 'account')::uuid, CASE m.type WHEN 'CheckInMissed' THEN 'missedCheckIn' ELSE 'alert' END,
               timestamptz 'epoch' + (m.body ->> 'deadline')::bigint * interval '1 microsecond',
               timestamptz 'epoch' + (m.body ->> 'at')::bigint * interval '1 microsecond',
               m.partition, m.position, m.recorded_at,
               timestamptz 'epoch' + (m.body ->> 'graceEnded')::bigint * interval '1 microsecond'
          FROM session_client.messages AS m
         WHERE m.log = 'session.log' AND m.partition = place.partition
           AND m.position > place.before AND m.position <= place.before + 2000
           AND m.kind = 'event' AND m.type IN ('CheckInMissed', 'AlertRaised') AND m.body ->> 'alarm' = of_alarm::text
           AND NOT session_client.is_canary(m.key);
        IF FOUND THEN RETURN; END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION session_client.alarm_begun(uuid, uuid) IS
    'The event that began an alarm: whose it is, when the check-in was due (null for an alert) and the grace after that ended (null if it had none), when that was noticed, and where the event is in session.log. Searches 2,000 rows from the time in the alarm''s id: of the person''s partition, or of each if the person isn''t known (null). No row if retention deleted it.';
GRANT EXECUTE ON FUNCTION session_client.alarm_begun(uuid, uuid) TO quartet_reader;

CREATE OR REPLACE FUNCTION session_client.told(of_alarm uuid) RETURNS json
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
    WITH receipt AS MATERIALIZED (
        SELECT r.*, r.notified_at - r.notified_after AS since
          FROM session_client.alarm_receipts AS r
         WHERE r.alarm = of_alarm
    ), begun AS MATERIALIZED (
        SELECT b.person, b.kind, b.due_at, b.grace_ended_at, b.noticed_at,
               json_build_object('log', 'session.log', 'partition', b.in_partition, 'position', b.at_position,
                                 'recorded', b.appended_at) AS event
          FROM session_client.alarm_begun(of_alarm, (SELECT r.person FROM receipt AS r LIMIT 1)) AS b
         UNION ALL
        -- The log is no longer kept, but the notifications are: those of the alarm itself say when it was noticed, an
        -- all-clear doesn't.
        SELECT r.person, CASE WHEN r.due_at IS NULL THEN 'alert' ELSE 'missedCheckIn' END, r.due_at, r.grace_ended_at, r.happened_at, NULL
          FROM (SELECT * FROM receipt
                 ORDER BY kind IN ('checkInMissed', 'dependentCheckInMissed', 'alertRaised', 'dependentAlertRaised') DESC,
                          notified_at
                 LIMIT 1) AS r
         LIMIT 1
    ), recipient AS (
        SELECT r.recipient AS account FROM receipt AS r
         UNION
        SELECT a.responder FROM begun AS b JOIN contacts.alarm_recipient AS a ON a.account = b.person AND a.alarm = of_alarm
    ), delivery AS (
        SELECT r.recipient, r.notified_at, json_build_object(
                   'id', r.notification, 'kind', r.kind, 'repetition', r.repetition, 'happened', r.happened_at,
                   'notified', r.notified_at, 'notifiedMs', session_client.milliseconds(r.notified_after),
                   'event', (SELECT json_build_object('log', 'notifications.log', 'partition', e.in_partition,
                                                      'position', e.at_position, 'recorded', e.appended_at)
                               FROM session_client.event_after('notifications.log', 'account/' || r.recipient,
                                        'NotificationDelivered', r.notified_at, r.notification::text) AS e),
                   'pushes', (SELECT coalesce(json_agg(json_build_object(
                                         'device', p.device, 'platform', d.platform, 'attempt', p.attempt, 'began', p.began_at,
                                         'afterMs', session_client.milliseconds(p.began_at + p.took - r.since),
                                         'tookMs', session_client.milliseconds(p.took),
                                         'result', p.result, 'answer', p.answer) ORDER BY p.began_at), '[]')
                                FROM notifications.push_attempt AS p
                                LEFT JOIN notifications.push_device AS d ON d.account = p.account AND d.device = p.device
                               WHERE p.account = r.recipient AND p.notification = r.notification),
                   'shown', (SELECT coalesce(json_agg(json_build_object(
                                        'device', s.device, 'shown', s.shown_at, 'reported', s.recorded_at,
                                        'afterMs', session_client.milliseconds(s.shown_at - r.since)) ORDER BY s.shown_at), '[]')
                               FROM notifications.shown AS s
                              WHERE s.account = r.recipient AND s.notification = r.notification),
                   'read', r.read_at, 'readMs', session_client.milliseconds(r.read_after)) AS document
          FROM receipt AS r
    )
    SELECT json_build_object(
               'alarm', of_alarm, 'kind', b.kind,
               'person', json_build_object('account', b.person, 'handle', (SELECT h.handle FROM session.handle AS h
                                                                            WHERE h.account = b.person)),
               'due', b.due_at, 'graceEnded', b.grace_ended_at, 'noticed', b.noticed_at,
               'noticedMs', session_client.milliseconds(b.noticed_at - coalesce(b.grace_ended_at, b.due_at)), 'event', b.event,
               'recipients',
               (SELECT coalesce(json_agg(json_build_object(
                           'account', p.account, 'handle', h.handle, 'isPerson', p.account = b.person,
                           'notifications', (SELECT coalesce(json_agg(d.document ORDER BY d.notified_at), '[]')
                                               FROM delivery AS d WHERE d.recipient = p.account))
                           ORDER BY p.account = b.person, h.handle), '[]')
                  FROM recipient AS p LEFT JOIN session.handle AS h ON h.account = p.account))
      FROM begun AS b;
$$;
COMMENT ON FUNCTION session_client.told(uuid) IS
    'Was she told? For one alarm, as JSON: when the check-in was due, when the grace after that ended, and when that was noticed; for each responder when they were notified, each attempt to push, on which device it was shown and when it was read; how late each was, in milliseconds; and where the events are in the logs. Null if neither the log nor a notification knows the alarm.';
-- compatible with 0.1.0
