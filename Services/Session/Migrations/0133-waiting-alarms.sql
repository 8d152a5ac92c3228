-- compatible with 0.1.0
CREATE FUNCTION session.is_alarm_timer(type text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN type IN ('AnnounceAlert', 'MissCheckIn', 'MissTrip', 'RaiseUnansweredAlert', 'RepeatAlarm');
COMMENT ON FUNCTION session.is_alarm_timer(text) IS 'Whether timers of this type alarm somebody.';

CREATE FUNCTION session.is_alarm(type text, body json) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN type IN ('AnnounceAlert', 'MissCheckIn', 'MissTrip', 'RaiseAlert', 'RaiseUnansweredAlert', 'RepeatAlarm');
COMMENT ON FUNCTION session.is_alarm(text, json) IS
    'Whether a command alarms somebody. The index parked_alarm depends on it, so a list with other types needs a function of another name and another index.';
GRANT EXECUTE ON FUNCTION session.is_alarm(text, json) TO session, quartet_reader;

--! include bus/waiting-alarms.sql schema=session reader=session_client
