-- What the logs say: the newest messages of all, and everything that one request led to.

CREATE FUNCTION session_client.newest_messages(at_most bigint) RETURNS SETOF session_client.messages
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
    WITH newest AS (
        -- A command that was appended again, after a lost connection or at its sender's request, is handled where it
        -- came first.
        SELECT DISTINCT ON (m.log, m.kind, CASE m.kind WHEN 'command' THEN m.command_id ELSE m.message_id END) m.*
          FROM session_client.heads AS h
         CROSS JOIN LATERAL (SELECT m.* FROM session_client.messages AS m
                              WHERE m.log = h.log AND m.partition = h.partition AND m.position > h.head - at_most
                                AND m.position <= h.head
                              ORDER BY m.position DESC LIMIT at_most) AS m
         ORDER BY m.log, m.kind, CASE m.kind WHEN 'command' THEN m.command_id ELSE m.message_id END, m.position
    )
    SELECT n.* FROM newest AS n ORDER BY n.recorded_at DESC, n.log, n.partition, n.position DESC LIMIT at_most;
$$;
COMMENT ON FUNCTION session_client.newest_messages(bigint) IS
    'The newest messages of all logs, newest first, at most at_most. A command that is in its log twice is shown once, where it came first, if both rows are among the newest at_most of their partition.';

CREATE FUNCTION session_client.messages_since(since timestamptz, at_most bigint) RETURNS SETOF session_client.messages
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
    SELECT n.*
      FROM (SELECT m.*
              FROM session_client.heads AS h
             CROSS JOIN LATERAL (SELECT m.* FROM session_client.messages AS m
                                  WHERE m.log = h.log AND m.partition = h.partition AND m.position > h.head - at_most
                                    AND m.position <= h.head AND m.recorded_at > since
                                  ORDER BY m.position DESC LIMIT at_most) AS m
             WHERE h.recorded_at > since
             ORDER BY m.recorded_at DESC LIMIT at_most) AS n
     ORDER BY n.recorded_at, n.log, n.partition, n.position;
$$;
COMMENT ON FUNCTION session_client.messages_since(timestamptz, bigint) IS
    'The messages of all logs that were recorded after a time, oldest first; of more than at_most, the newest. Transactions may commit in another order than they recorded, so ask for the last second or two again.';

CREATE FUNCTION session_client.messages_of(of_id uuid, since timestamptz, at_most bigint)
    RETURNS TABLE (in_log text, in_partition int, at_position bigint, of_request uuid, appended_at timestamptz)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    place record;
BEGIN
    FOR place IN
        SELECT h.log, h.partition,
               CASE WHEN since IS NULL THEN greatest(h.head - at_most, h.base)
                    ELSE session_client.position_before(h.log, h.partition, since) END AS after
          FROM session_client.heads AS h
    LOOP
        RETURN QUERY
        SELECT m.log, m.partition, m.position, m.correlation_id, m.recorded_at
          FROM session_client.messages AS m
         WHERE m.log = place.log AND m.partition = place.partition
           AND m.position > place.after AND m.position <= place.after + at_most
           AND of_id IN (m.message_id, m.command_id, m.correlation_id);
    END LOOP;
END
$$;
COMMENT ON FUNCTION session_client.messages_of(uuid, timestamptz, bigint) IS
    'Finds the messages with this message_id, command_id or correlation_id among the first at_most rows of each partition of each log since a time, or among the newest if the time is null. For ids that no index knows.';

CREATE FUNCTION session_client.request_of(of_id uuid) RETURNS uuid
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
BEGIN
    RETURN coalesce(
        (SELECT m.correlation_id FROM session_client.messages AS m WHERE m.correlation_id = of_id LIMIT 1),
        (SELECT s.correlation_id FROM session_client.saga AS s WHERE s.id = of_id),
        (SELECT m.correlation_id
           FROM session_client.all_outcomes AS o
           JOIN session_client.messages AS m ON m.log = o.consumer || '.log' AND m.partition = o.partition
                                            AND m.position = o.position
          WHERE o.command_id = of_id
          LIMIT 1),
        (SELECT d.correlation_id FROM session_client.all_dead_letters AS d WHERE d.message_id = of_id LIMIT 1));
END
$$;
COMMENT ON FUNCTION session_client.request_of(uuid) IS
    'The request (correlation_id) that this is the id of, or that an operation, a command with an outcome or a dead letter belongs to. Null for other ids.';

CREATE FUNCTION session_client.story(of_id uuid, at_most bigint DEFAULT 50000)
    RETURNS TABLE (at timestamptz, since_start interval, tree text, log text, partition int, "position" bigint, kind text,
                   outcome text, took interval, body text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    at_first   CONSTANT bigint := least(at_most, 2000);
    slack      CONSTANT interval := interval '5 seconds'; -- ids may come from another clock than the database's
    since      timestamptz := session_client.time_of(of_id) - slack;
    request    uuid := session_client.request_of(of_id);
    logs       text[];
    partitions int[];
    positions  bigint[];
BEGIN
    IF request IS NULL THEN
        -- Indexes find the outcome of a command that nobody asked for, and a dead letter. The command's events follow its
        -- outcome, and the command has the same key, so the same partition of its log.
        SELECT array_agg(k.log), array_agg(k.partition), array_agg(k.position)
          INTO logs, partitions, positions
          FROM (SELECT m.log, m.partition, m.position
                  FROM session_client.all_outcomes AS o
                 CROSS JOIN LATERAL (SELECT m.log, m.partition, m.position FROM session_client.messages AS m
                                      WHERE m.log = o.consumer || '.log' AND m.partition = o.partition
                                        AND m.position >= o.position AND m.position < o.position + at_first
                                        AND m.command_id = of_id) AS m
                 WHERE o.command_id = of_id
                 UNION
                SELECT m.log, m.partition, m.position
                  FROM session_client.all_outcomes AS o
                  JOIN session_client.logs AS l ON l.consumer = o.consumer
                 CROSS JOIN LATERAL (SELECT session_client.position_before(l.log, o.partition, since) AS before) AS b
                 CROSS JOIN LATERAL (SELECT m.log, m.partition, m.position FROM session_client.messages AS m
                                      WHERE m.log = l.log AND m.partition = o.partition
                                        AND m.position > b.before AND m.position <= b.before + at_first
                                        AND m.command_id = of_id) AS m
                 WHERE o.command_id = of_id
                 UNION
                SELECT d.source, d.partition, d.position
                  FROM session_client.all_dead_letters AS d
                 WHERE d.message_id = of_id) AS k;
        -- Most messages are appended soon after their id was made. Commands of an app that was offline are not.
        FOR attempt IN 1..3 LOOP
            EXIT WHEN logs IS NOT NULL;
            CONTINUE WHEN since IS NULL AND attempt < 3 OR attempt = 2 AND at_most = at_first;
            SELECT min(m.of_request::text)::uuid, array_agg(m.in_log), array_agg(m.in_partition), array_agg(m.at_position)
              INTO request, logs, partitions, positions
              FROM session_client.messages_of(of_id, CASE WHEN attempt < 3 THEN since END,
                                              CASE attempt WHEN 1 THEN at_first ELSE at_most END) AS m;
        END LOOP;
        IF logs IS NULL THEN
            RAISE NOTICE 'no message, command, request or operation with the id % in the rows that were searched', of_id
                USING HINT = 'The comment on session_client.story says which rows are searched.';
            RETURN;
        END IF;
    END IF;

    RETURN QUERY
    WITH RECURSIVE found AS (
        (SELECT m.log, m.partition, m.position, m.recorded_at, m.kind, m.type, m.outcome, m.message_id, m.command_id,
                m.causation_id, left(m.body::text, 80) AS body
           FROM session_client.messages AS m
          WHERE m.correlation_id = request
          ORDER BY m.recorded_at
          LIMIT at_most)
         UNION ALL
        -- What nobody asked for belongs to no request.
        SELECT m.log, m.partition, m.position, m.recorded_at, m.kind, m.type, m.outcome, m.message_id, m.command_id,
               m.causation_id, left(m.body::text, 80)
          FROM unnest(logs, partitions, positions) AS p (in_log, in_partition, at_position)
          JOIN session_client.messages AS m ON m.log = p.in_log AND m.partition = p.in_partition
                                           AND m.position = p.at_position
         WHERE request IS NULL
    ), once AS (
        -- A command that was appended again was handled where it came first.
        SELECT DISTINCT ON (f.log, f.kind, CASE f.kind WHEN 'command' THEN f.command_id ELSE f.message_id END) f.*
          FROM found AS f
         ORDER BY f.log, f.kind, CASE f.kind WHEN 'command' THEN f.command_id ELSE f.message_id END, f.position
    ), said AS MATERIALIZED (
        SELECT o.*, row_number() OVER (ORDER BY o.recorded_at, o.log, o.partition, o.position) AS number
          FROM once AS o
    ), cause AS (
        SELECT DISTINCT ON (s.message_id) s.message_id, s.number, s.recorded_at
          FROM said AS s
         ORDER BY s.message_id, s.number
    ), caused AS MATERIALIZED (
        SELECT s.*, c.number AS cause, s.recorded_at - c.recorded_at AS took
          FROM said AS s
          LEFT JOIN cause AS c ON c.message_id = s.causation_id AND c.number <> s.number
    ), branch AS (
        SELECT c.number, ARRAY[c.number] AS path FROM caused AS c WHERE c.cause IS NULL
         UNION ALL
        SELECT c.number, b.path || c.number FROM branch AS b JOIN caused AS c ON c.cause = b.number
    )
    SELECT c.recorded_at, c.recorded_at - min(c.recorded_at) OVER (),
           repeat('  ', cardinality(b.path) - 1) || CASE WHEN cardinality(b.path) > 1 THEN '└ ' ELSE '' END || c.type,
           c.log, c.partition, c.position, c.kind, c.outcome, c.took, c.body
      FROM branch AS b
      JOIN caused AS c ON c.number = b.number
     ORDER BY b.path;
END
$$;
COMMENT ON FUNCTION session_client.story(uuid, bigint) IS
    'Everything that one request led to, as a tree of causes; of more than at_most messages, the first. Takes the id of the request (correlation_id), of any message or command in it, or of an operation. Columns: when; how long after the first message; the type, under its cause; log, partition and position; kind; how the command ended; how long after its cause; the first 80 characters of the body. The id of a message that isn''t a dead letter, or of a command without an outcome, is searched for among at_most rows of each partition from the time in the id on, then among the newest; 50,000 may take seconds.';

CREATE FUNCTION session_client.last_story(at_most bigint DEFAULT 50000)
    RETURNS TABLE (at timestamptz, since_start interval, tree text, log text, partition int, "position" bigint, kind text,
                   outcome text, took interval, body text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    request uuid;
BEGIN
    SELECT m.correlation_id INTO request
      FROM session_client.heads AS h
     CROSS JOIN LATERAL (SELECT m.correlation_id, m.recorded_at FROM session_client.messages AS m
                          WHERE m.log = h.log AND m.partition = h.partition AND m.position > h.head - 1000
                            AND m.position <= h.head AND m.causation_id IS NULL AND m.correlation_id IS NOT NULL
                          ORDER BY m.position DESC LIMIT 1) AS m
     ORDER BY m.recorded_at DESC
     LIMIT 1;
    IF request IS NOT NULL THEN
        RETURN QUERY SELECT s.* FROM session_client.story(request, at_most) AS s;
    END IF;
END
$$;
COMMENT ON FUNCTION session_client.last_story(bigint) IS
    'session_client.story of the newest request: the one of the newest message without a cause, among the newest 1,000 of each partition.';

GRANT EXECUTE ON FUNCTION session_client.newest_messages(bigint), session_client.messages_since(timestamptz, bigint),
   session_client.messages_of(uuid, timestamptz, bigint), session_client.request_of(uuid),
   session_client.story(uuid, bigint), session_client.last_story(bigint)
   TO quartet_reader;
