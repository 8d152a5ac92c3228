-- compatible with 0.1.0
CREATE FUNCTION notifications.is_alarm(type text, body json) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN type = 'DeliverNotification'
           AND coalesce(body ->> 'kind' IN ('alertRaised', 'checkInMissed', 'dependentAlertRaised', 'dependentCheckInMissed'), false);
COMMENT ON FUNCTION notifications.is_alarm(text, json) IS
    'Whether a command alarms somebody. The index parked_alarm depends on it, so a list with other kinds needs a function of another name and another index.';
GRANT EXECUTE ON FUNCTION notifications.is_alarm(text, json) TO notifications, quartet_reader;

CREATE INDEX parked_alarm ON notifications.parked (recorded_at)
 WHERE notifications.is_alarm(type, body) AND NOT notifications.is_canary(key);
COMMENT ON INDEX notifications.parked_alarm IS 'Finds the alarm that has been parked longest, however many other messages are.';

-- As those of the other services. No timer of this one alarms anybody, so the argument changes nothing.
CREATE FUNCTION notifications.waiting_alarms(within interval DEFAULT interval '100 years')
    RETURNS TABLE (place text, since timestamptz, is_alarm boolean)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
    SELECT 'notifications.parked', p.recorded_at, true
      FROM notifications.parked AS p
     WHERE notifications.is_alarm(p.type, p.body) AND NOT notifications.is_canary(p.key)
     ORDER BY p.recorded_at LIMIT 1
$$;
COMMENT ON FUNCTION notifications.waiting_alarms(interval) IS
    'Since when the oldest alarm has been parked; canaries don''t count.';
GRANT EXECUTE ON FUNCTION notifications.waiting_alarms(interval) TO session_client, quartet_reader;
