-- What a consumer does that was gone for longer than a log keeps. Placeholder: schema.

CREATE FUNCTION {{schema}}.accept_truncation(of_source text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place   record;
    skipped bigint := 0;
    base    bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM {{schema}}.lease AS l WHERE l.source = of_source) THEN
        RAISE EXCEPTION '{{schema}} reads no log named %', of_source USING HINT = 'SELECT DISTINCT source FROM {{schema}}.lease shows the names.';
    END IF;
    FOR place IN
        SELECT l.partition, b.number, b.position, b.given_time
          FROM {{schema}}.lease AS l
         CROSS JOIN LATERAL (SELECT n.number, n.position, n.given_time FROM {{schema}}.batch AS n
                              WHERE n.source = l.source AND n.partition = l.partition ORDER BY n.number DESC LIMIT 1) AS b
         WHERE l.source = of_source
    LOOP
        EXECUTE format('SELECT base_position FROM %I.%I WHERE partition = $1',
                       split_part(of_source, '.', 1), split_part(of_source, '.', 2) || '_partition')
           INTO base USING place.partition;
        CONTINUE WHEN base <= place.position;
        -- A batch without messages: who builds on the one before it is fenced.
        INSERT INTO {{schema}}.batch (source, partition, number, position, owner, epoch, given_time, messages)
        VALUES (of_source, place.partition, place.number + 1, base, '00000000-0000-0000-0000-000000000000', 0,
                greatest(place.given_time, clock_timestamp()), 0);
        skipped := skipped + base - place.position;
    END LOOP;
    RETURN skipped;
END
$$;
COMMENT ON FUNCTION {{schema}}.accept_truncation(text) IS
    'For operators: {{schema}} was gone for longer than a log keeps; it goes on where the log now begins. Returns how many messages it will never have seen.';
REVOKE EXECUTE ON FUNCTION {{schema}}.accept_truncation(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {{schema}}.accept_truncation(text) TO quartet_operator;
