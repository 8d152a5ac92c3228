-- What keeps a service's alarms waiting: a timer that nobody noticed, its log of those that were due, or that they failed. Placeholder:
-- schema. The migration that includes this has {{schema}}.is_canary(text), {{schema}}.is_alarm(text, json), and
-- {{schema}}.is_alarm_timer(text), whose types are among those of urgent_timer_by_due.

CREATE INDEX parked_alarm ON {{schema}}.parked (recorded_at) WHERE {{schema}}.is_alarm(type, body) AND NOT {{schema}}.is_canary(key);
COMMENT ON INDEX {{schema}}.parked_alarm IS 'Finds the alarm that has been parked longest, however many other messages are.';

-- Timers in the order of urgent_timer_by_due: timer_by_due, which has all others, too, would need a sort. Without bitmap scans, each
-- partition of the log is read along its key and no further than the LIMIT says: these would first read all that waits, to sort it.
CREATE FUNCTION {{schema}}.waiting_alarms(within interval DEFAULT interval '100 years')
    RETURNS TABLE (place text, since timestamptz, is_alarm boolean)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
    (SELECT '{{schema}}.timer', t.due_at, true
       FROM {{schema}}.timer AS t
      WHERE {{schema}}.is_alarm_timer(t.type) AND NOT {{schema}}.is_canary(t.key)
        AND t.due_at >= statement_timestamp() - within AND t.due_at <= statement_timestamp()
      ORDER BY t.due_at, t.name, t.key LIMIT 1)
     UNION ALL
    (SELECT '{{schema}}.parked', p.recorded_at, true
       FROM {{schema}}.parked AS p
      WHERE {{schema}}.is_alarm(p.type, p.body) AND NOT {{schema}}.is_canary(p.key)
        -- Its account isn't closed. No other alarm asks for nothing in its body.
        AND (p.body::text <> '{}' OR p.type = 'RaiseAlert' AND p.error IS DISTINCT FROM '')
      ORDER BY p.recorded_at LIMIT 1)
     UNION ALL
    (SELECT DISTINCT ON (w.waits) '{{schema}}.due', m.recorded_at, w.waits
       FROM (SELECT p.partition, {{schema}}.due_handled(p.partition) AS position
               FROM {{schema}}.due_partition AS p
             OFFSET 0) AS h
      CROSS JOIN LATERAL (SELECT l.command_id, l.recorded_at, row_number() OVER (ORDER BY l.position) AS number,
                                 {{schema}}.is_alarm_timer(l.type) AND NOT {{schema}}.is_canary(l.key) AS is_alarm
                            FROM {{schema}}.due AS l
                           WHERE l.partition = h.partition AND l.position > h.position
                           ORDER BY l.position LIMIT 500) AS m
      CROSS JOIN LATERAL (SELECT m.is_alarm AND NOT EXISTS (SELECT FROM {{schema}}.outcome AS o
                                                             WHERE o.command_id = m.command_id OFFSET 0) AS waits) AS w
      WHERE w.waits OR m.number = 500
      ORDER BY w.waits, m.recorded_at)
$$;
COMMENT ON FUNCTION {{schema}}.waiting_alarms(interval) IS
    'Since when the oldest alarm has waited in {{schema}}: for a timer that is due, in {{schema}}.due, or parked; canaries don''t count. If a partition of {{schema}}.due is behind by 500 messages, no others are looked at: is_alarm is false for the last of these. Only timers that are no older than the argument says are looked for: a look at all of them also goes past every dead one that an old snapshot keeps.';
GRANT EXECUTE ON FUNCTION {{schema}}.waiting_alarms(interval) TO {{reader}}, quartet_reader;
