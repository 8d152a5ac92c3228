-- compatible with 0.1.0
CREATE FUNCTION contacts.is_alarm_timer(type text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN type IN ('BeginNextTier', 'JudgePings');
COMMENT ON FUNCTION contacts.is_alarm_timer(text) IS 'Whether timers of this type alarm somebody.';

CREATE FUNCTION contacts.is_alarm(type text, body json) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN type IN ('BeginNextTier', 'JudgePings')
           OR type = 'RelayAlert' AND coalesce(body ->> 'kind' IN ('alertRaised', 'checkInMissed'), false);
COMMENT ON FUNCTION contacts.is_alarm(text, json) IS
    'Whether a command alarms somebody. The index parked_alarm depends on it, so a list with other types needs a function of another name and another index.';
GRANT EXECUTE ON FUNCTION contacts.is_alarm(text, json) TO contacts, quartet_reader;

--! include bus/waiting-alarms.sql schema=contacts reader=session_client
