-- How a service's published states write times. Placeholders: schema, reader.

CREATE FUNCTION {{schema}}.microseconds(at timestamptz) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (extract(epoch FROM at) * 1000000)::bigint;
COMMENT ON FUNCTION {{schema}}.microseconds(timestamptz) IS 'A time as published states have it: whole microseconds since 1970-01-01 00:00 UTC.';
GRANT EXECUTE ON FUNCTION {{schema}}.microseconds(timestamptz) TO {{schema}}, {{reader}}, quartet_reader;
