-- Where the synthetic alarm of each partition stands. The rights are those of who asks.
CREATE VIEW session_client.canary WITH (security_invoker = true) AS
WITH standing AS (
    SELECT p.partition, s.account AS person, c.responder, s.check_in_interval AS every, s.due_at, s.alarm,
           n.alarm AS received, n.received_at, g.silent_from,
           CASE WHEN s.account IS NOT NULL AND s.due_at IS NULL THEN NULL
                WHEN s.account IS NULL OR c.responder IS NULL OR NOT coalesce(n.is_registered, false) THEN 'opened'
                WHEN s.alarm IS NULL THEN
                    CASE WHEN s.due_at <= clock_timestamp() THEN 'decided'
                         WHEN g.silent_from < clock_timestamp() THEN 'pushed' END
                WHEN n.alarm = s.alarm THEN 'ended'
                WHEN EXISTS (SELECT FROM notifications.notification AS m
                              WHERE m.alarm = s.alarm AND m.account = c.responder) THEN 'pushed'
                WHEN c.alarm = s.alarm THEN 'notified'
                ELSE 'relayed' END AS leg
      FROM session.log_partition AS p
      LEFT JOIN session.canary AS s ON session.log_partition_of('account/' || s.account) = p.partition
      LEFT JOIN contacts.canary AS c ON c.account = s.account
      LEFT JOIN notifications.canary AS n ON n.account = c.responder
      -- The last alarm was given up, and the next isn't due yet. Who rested has another deadline.
     CROSS JOIN LATERAL (SELECT CASE WHEN s.due_at = s.last_check_in_at + s.check_in_interval
                                     THEN coalesce(n.received_at, s.opened_at) + 2 * s.check_in_interval END AS silent_from) AS g
)
SELECT t.partition, t.person, t.responder, t.every, t.due_at, t.alarm, t.received, t.received_at, t.leg,
       CASE t.leg WHEN 'decided' THEN 'session' WHEN 'pushed' THEN 'notifications'
                  WHEN 'relayed' THEN CASE WHEN w.waits THEN 'session-client' ELSE 'contacts' END
                  WHEN 'notified' THEN CASE WHEN w.waits THEN 'session-client' ELSE 'notifications' END END AS service,
       CASE WHEN t.due_at IS NOT NULL THEN
           greatest(interval '0', clock_timestamp() - t.due_at, clock_timestamp() - t.silent_from) END AS late
  FROM standing AS t
  LEFT JOIN LATERAL (
        -- Whether the policy has still to hand it on. Of what the policy hasn't handled, 500 rows are read; further behind, it
        -- has not.
        SELECT EXISTS (SELECT FROM (SELECT l.key, row_number() OVER (ORDER BY l.position) AS number
                                      FROM session.log AS l
                                     WHERE t.leg = 'relayed' AND l.partition = t.partition
                                       AND l.position > coalesce((SELECT b.position FROM session_client.batch AS b
                                                                   WHERE b.source = 'session.log' AND b.partition = t.partition
                                                                   ORDER BY b.number DESC LIMIT 1), 0)
                                     ORDER BY l.position LIMIT 500) AS m
                        WHERE m.key = 'account/' || t.person OR m.number = 500)
            OR EXISTS (SELECT FROM (SELECT l.key, row_number() OVER (ORDER BY l.position) AS number
                                      FROM contacts.log AS l
                                     WHERE t.leg = 'notified' AND l.partition = t.partition
                                       AND l.position > coalesce((SELECT b.position FROM session_client.batch AS b
                                                                   WHERE b.source = 'contacts.log' AND b.partition = t.partition
                                                                   ORDER BY b.number DESC LIMIT 1), 0)
                                     ORDER BY l.position LIMIT 500) AS m
                        WHERE m.key = 'account/' || t.responder OR m.number = 500)
            OR EXISTS (SELECT FROM session_client.parked AS q
                        WHERE q.partition = t.partition
                          AND (q.source, q.key) IN (('session.log', 'account/' || t.person),
                                                    ('contacts.log', 'account/' || t.responder))) AS waits
       ) AS w ON t.leg IN ('relayed', 'notified');
COMMENT ON VIEW session_client.canary IS
    'For each partition, where the alarm of its synthetic person stands: it goes the way of people''s alarms, to the push.';
COMMENT ON COLUMN session_client.canary.partition IS 'The partition, the same in all logs.';
COMMENT ON COLUMN session_client.canary.person IS 'The synthetic person; null if there is none yet.';
COMMENT ON COLUMN session_client.canary.responder IS 'The person''s responder.';
COMMENT ON COLUMN session_client.canary.every IS 'How often the person is missed.';
COMMENT ON COLUMN session_client.canary.due_at IS 'When the person is missed next, or was; null while canaries are off.';
COMMENT ON COLUMN session_client.canary.alarm IS 'The alarm that is on.';
COMMENT ON COLUMN session_client.canary.received IS 'The newest alarm that arrived.';
COMMENT ON COLUMN session_client.canary.received_at IS 'When it arrived.';
COMMENT ON COLUMN session_client.canary.leg IS
    'The first thing that has to happen and hasn''t: opened (the accounts), decided (the missed check-in), relayed (to the responder), notified, pushed, ended (by a check-in). Null while nothing is due.';
COMMENT ON COLUMN session_client.canary.service IS 'The service that has to do it; null if that may be one of two.';
COMMENT ON COLUMN session_client.canary.late IS
    'For how long the alarm has been on its way, or since when none arrived that should have. Zero while nothing is due; null while canaries are off.';
GRANT SELECT ON session_client.canary TO session_client;

-- Nobody is told of a canary's alarm.
CREATE OR REPLACE VIEW session_client.alarm_receipts WITH (security_invoker = true) AS
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
 WHERE n.alarm IS NOT NULL AND NOT session_client.is_canary(n.account);

CREATE OR REPLACE FUNCTION session_client.alarm_begun(of_alarm uuid, of_person uuid)
    RETURNS TABLE (person uuid, kind text, due_at timestamptz, noticed_at timestamptz, in_partition int,
                   at_position bigint, appended_at timestamptz)
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
               m.partition, m.position, m.recorded_at
          FROM session_client.messages AS m
         WHERE m.log = 'session.log' AND m.partition = place.partition
           AND m.position > place.before AND m.position <= place.before + 2000
           AND m.kind = 'event' AND m.type IN ('CheckInMissed', 'AlertRaised') AND m.body ->> 'alarm' = of_alarm::text
           AND NOT session_client.is_canary(m.key);
        IF FOUND THEN RETURN; END IF;
    END LOOP;
END
$$;
