CREATE FUNCTION notifications.microseconds(at timestamptz) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (extract(epoch FROM at) * 1000000)::bigint;
COMMENT ON FUNCTION notifications.microseconds(timestamptz) IS 'A time as published states have it: whole microseconds since 1970-01-01 00:00 UTC.';
GRANT EXECUTE ON FUNCTION notifications.microseconds(timestamptz) TO notifications, session_client, quartet_reader;
