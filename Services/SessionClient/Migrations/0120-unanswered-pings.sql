-- The time line of an alarm says, too, which pings made it because they weren't answered.
CREATE OR REPLACE FUNCTION session_client.alarm_chain(of_alarm uuid, at_most bigint DEFAULT 10000)
    RETURNS TABLE (at timestamptz, since_start interval, who text, what text, details text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    slack     CONSTANT interval := interval '5 seconds'; -- an alarm's id is made a moment before its event is recorded
    begun     CONSTANT timestamptz := session_client.time_of(of_alarm) - slack;
    of_person uuid;
    ended     timestamptz;
    people    uuid[];
    keys      text[];
BEGIN
    SELECT min(r.person::text)::uuid, array_agg(DISTINCT r.recipient),
           max(r.notified_at) FILTER (WHERE r.kind IN ('alertCleared', 'dependentAlertCleared', 'dependentCheckedInLate',
                                                       'dependentAlarmEnded'))
      INTO of_person, people, ended
      FROM session_client.alarm_receipts AS r
     WHERE r.alarm = of_alarm;
    IF of_person IS NULL THEN
        SELECT b.person INTO of_person FROM session_client.alarm_begun(of_alarm, NULL) AS b;
    END IF;
    IF of_person IS NULL THEN
        RAISE NOTICE 'no alarm with the id % is known to notifications, or in the rows of session.log that were searched', of_alarm;
        RETURN;
    END IF;
    people := people || of_person
           || ARRAY(SELECT a.responder FROM contacts.alarm_recipient AS a WHERE a.account = of_person AND a.alarm = of_alarm);
    keys := ARRAY(SELECT DISTINCT 'account/' || a.account FROM unnest(people) AS a(account));
    -- Some may have heard of an end that was theirs alone.
    IF EXISTS (SELECT FROM contacts.alarm AS a WHERE a.account = of_person AND a.alarm = of_alarm) THEN
        ended := NULL;
    ELSE
        ended := greatest(ended, (SELECT max(e.ended_at) FROM contacts.ended_alarm AS e
                                   WHERE e.account = of_person AND e.alarm = of_alarm));
    END IF;

    RETURN QUERY
    WITH place AS MATERIALIZED (
        SELECT p.log, p.partition, session_client.position_before(p.log, p.partition, begun) AS before,
               session_client.position_before(p.log, p.partition, coalesce(ended + interval '1 hour', 'infinity')) AS last
          FROM (SELECT 'session.log' AS log, session.log_partition_of('account/' || of_person) AS partition
                 UNION
                SELECT 'contacts.log', contacts.log_partition_of(k.key) FROM unnest(keys) AS k(key)) AS p
    ), message AS MATERIALIZED (
        SELECT m.*
          FROM place AS p
         CROSS JOIN LATERAL (SELECT m.type, m.recorded_at, m.position, m.body, m.body ->> 'account' AS account,
                                    (m.body ->> 'at')::bigint AS decided
                               FROM session_client.messages AS m
                              WHERE m.log = p.log AND m.partition = p.partition AND m.position > p.before
                                AND m.position <= least(p.last, p.before + at_most) AND m.kind = 'event' AND m.key = ANY (keys)
                                AND m.type IN ('CheckInMissed', 'AlertRaised', 'AlertAnnounced', 'AlertRaisedAgain', 'AlarmRepeated',
                                               'CheckedIn', 'AlertCleared', 'AlarmClosed', 'ResponderAlerted', 'TierBegan',
                                               'AlarmAcknowledged', 'AlarmHoldChanged', 'AlarmUnanswered', 'RenewalAsked',
                                               'AlarmClosingDecided', 'AlarmEnded')
                                AND m.body ->> 'alarm' = of_alarm::text) AS m
    ), hold AS (
        SELECT m.recorded_at, m.account, h.until, h.safe_until
          FROM message AS m
         CROSS JOIN LATERAL (SELECT timestamptz 'epoch' + (m.body -> 'hold' ->> 'until')::bigint * interval '1 microsecond' AS until,
                                    timestamptz 'epoch' + (m.body -> 'hold' ->> 'safeUntil')::bigint * interval '1 microsecond'
                                        AS safe_until) AS h
         WHERE m.type = 'AlarmHoldChanged'
    ), line (at, rank, account, what, details) AS (
        SELECT timestamptz 'epoch' + (m.body ->> 'deadline')::bigint * interval '1 microsecond', 0, m.account, 'check-in due', NULL
          FROM message AS m
         WHERE m.type = 'CheckInMissed'
         UNION ALL
        SELECT timestamptz 'epoch' + (m.body ->> 'graceEnded')::bigint * interval '1 microsecond', 0, m.account, 'grace over', NULL
          FROM message AS m
         WHERE m.type = 'CheckInMissed' AND m.body ->> 'graceEnded' IS NOT NULL
         UNION ALL
        SELECT timestamptz 'epoch' + (p.ping ->> 'sent')::bigint * interval '1 microsecond', 0, p.ping ->> 'contact', 'ping', NULL
          FROM message AS m CROSS JOIN LATERAL json_array_elements((m.body ->> 'pings')::json) AS p(ping)
         WHERE m.type IN ('AlertRaised', 'AlertRaisedAgain') AND m.body ->> 'pings' IS NOT NULL
         UNION ALL
        SELECT m.recorded_at, 1, m.account,
               CASE m.type WHEN 'CheckInMissed' THEN 'miss noticed' WHEN 'AlertAnnounced' THEN 'alert announced'
                           WHEN 'AlertRaisedAgain' THEN CASE WHEN m.body ->> 'pings' IS NULL THEN 'called again' ELSE 'ping added' END WHEN 'AlarmRepeated' THEN 'repeated'
                           WHEN 'CheckedIn' THEN 'ended' WHEN 'AlertCleared' THEN 'ended' WHEN 'AlarmClosed' THEN 'closed'
                           WHEN 'TierBegan' THEN 'tier began' WHEN 'AlarmUnanswered' THEN 'nobody is on it'
                           WHEN 'AlarmClosingDecided' THEN 'closing decided' ELSE 'alert raised' END,
               CASE m.type WHEN 'AlarmRepeated' THEN 'repetition ' || (m.body ->> 'repetition')
                           WHEN 'CheckedIn' THEN 'checked in' WHEN 'AlertCleared' THEN 'cleared by the person'
                           WHEN 'TierBegan' THEN format('tier %s, told: %s', m.body ->> 'tier', m.body ->> 'responders')
                           WHEN 'AlertRaised' THEN CASE WHEN m.body ->> 'trip' IS NOT NULL THEN 'by a trip'
                                                        WHEN m.body ->> 'pings' IS NOT NULL
                                                        THEN 'by unanswered pings: ' || json_array_length((m.body ->> 'pings')::json) END
                           WHEN 'AlertRaisedAgain' THEN CASE WHEN m.body ->> 'pings' IS NOT NULL THEN 'by an unanswered ping' END
                           ELSE m.body ->> 'reason' END
          FROM message AS m
         WHERE m.type IN ('CheckInMissed', 'AlertRaised', 'AlertAnnounced', 'AlertRaisedAgain', 'AlarmRepeated', 'CheckedIn',
                          'AlertCleared', 'AlarmClosed', 'TierBegan', 'AlarmUnanswered', 'AlarmClosingDecided')
         UNION ALL
        SELECT m.recorded_at, 2, m.account,
               CASE WHEN m.type = 'AlarmEnded' THEN 'told the end' WHEN m.body ->> 'repetition' = '0' THEN 'told'
                    ELSE 'told again' END,
               CASE WHEN m.type = 'AlarmEnded' THEN m.body ->> 'reason'
                    WHEN m.body ->> 'repetition' <> '0' THEN 'repetition ' || (m.body ->> 'repetition')
                    -- Whoever is told as a tier begins is of it.
                    ELSE (SELECT 'tier ' || coalesce(string_agg(t.body ->> 'tier', ' or ' ORDER BY t.position)
                                                         FILTER (WHERE t.type = 'TierBegan' AND t.decided = m.decided),
                                                     CASE WHEN m.decided = min(t.decided) FILTER (WHERE t.type = 'ResponderAlerted')
                                                           AND bool_or(t.type = 'TierBegan') THEN '1' END)
                            FROM message AS t) END
          FROM message AS m
         WHERE m.type IN ('ResponderAlerted', 'AlarmEnded')
         UNION ALL
        -- Everybody who sees an answer has an event of it, the one who gave it, too.
        SELECT m.recorded_at, 3, m.account,
               CASE m.body ->> 'answer' WHEN 'onIt' THEN 'on it' WHEN 'safe' THEN 'reached, safe'
                                        WHEN 'needsHelp' THEN 'not so: help is needed' WHEN 'cannot' THEN 'can''t'
                                        ELSE coalesce(m.body ->> 'answer', 'answer no longer stands') END,
               'until ' || to_char(timestamptz 'epoch' + (m.body ->> 'until')::bigint * interval '1 microsecond', 'HH24:MI:SS')
          FROM message AS m
         WHERE m.type = 'AlarmAcknowledged' AND m.account = m.body ->> 'responder'
         UNION ALL
        SELECT m.recorded_at, 3, m.account, 'asked: still on it?', NULL FROM message AS m WHERE m.type = 'RenewalAsked'
         UNION ALL
        SELECT h.recorded_at, 4, h.account, CASE WHEN h.until IS NULL AND h.safe_until IS NULL THEN 'held back no longer'
                                                ELSE 'to be held back' END,
               'at most until ' || to_char(greatest(h.until, h.safe_until), 'YYYY-MM-DD HH24:MI:SS')
          FROM hold AS h
         UNION ALL
        SELECT s.at, s.rank, s.recipient::text, s.what, s.details
          FROM session_client.alarm_receipts AS r
         CROSS JOIN LATERAL (
            VALUES (r.recipient, r.notified_at, 5, 'notified',
                    r.kind || coalesce(' ' || r.repetition, '')
                           || CASE WHEN r.push_attempts > 0 AND r.pushed_at IS NULL THEN ', push ' || r.push_answer ELSE '' END),
                   (r.recipient, r.pushed_at, 6, 'pushed', r.kind), (r.recipient, r.shown_at, 7, 'shown', r.kind),
                   (r.recipient, r.read_at, 8, 'read', r.kind)) AS s(recipient, at, rank, what, details)
         WHERE r.alarm = of_alarm AND s.at IS NOT NULL
         UNION ALL
        SELECT l.recorded_at, 9, NULL, 'not searched',
               format('%s, partition %s, after position %s: ask session_client.alarm_chain for more than %s rows',
                      p.log, p.partition, p.before + at_most, at_most)
          FROM place AS p
          JOIN session_client.messages AS l
            ON l.log = p.log AND l.partition = p.partition AND l.position = p.before + at_most
         WHERE p.last > p.before + at_most
    )
    -- A device's clock may be slow, so that what was shown seems to come before the beginning.
    SELECT l.at, l.at - min(l.at) FILTER (WHERE l.rank <> 7) OVER (), coalesce(h.handle, l.account), l.what, l.details
      FROM line AS l LEFT JOIN session.handle AS h ON h.account = l.account::uuid
     ORDER BY l.at, l.rank, 3, l.what, l.details;
END
$$;
COMMENT ON FUNCTION session_client.alarm_chain(uuid, bigint) IS
    'What became of one alarm, in order of time: when it was due or raised, who was told (whoever is of a later tier: of which), notified, pushed to, shown it and read it, what they answered, what was to be held back because of that and until when at most, each repetition, and how it ended. Times are when the log''s row was recorded, so where the clock is that of a device (shown), or a deadline, lines may change places. Searches the first at_most rows from the alarm''s beginning in the partition of the person in session.log and of everybody in contacts.log, and has a line where it stopped before the end. What retention deleted is missing.';
GRANT EXECUTE ON FUNCTION session_client.alarm_chain(uuid, bigint) TO quartet_reader;
-- compatible with 0.1.0
