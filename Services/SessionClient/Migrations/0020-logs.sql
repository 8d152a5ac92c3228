-- Views for operators over the logs and tables of all services. session-client has them because it alone knows the
-- other services, and its migrations run last.
--
-- The views run with their reader's rights. Their cost doesn't grow with the logs: newest rows are found by primary
-- key, times by binary search, and each view that counts rows says in its comment among how many. They depend on the
-- other services' columns: a migration that drops such a column or changes its type has to drop the view first.

-- Every log, and the service that handles it. To add a log, add its line; once this file is released, replace the view
-- and call create_union_views().
CREATE VIEW session_client.logs AS
SELECT l.log, l.consumer
  FROM (VALUES ('session.log', 'session_client'),
               ('session.due', 'session'),
               ('contacts.log', 'session_client'),
               ('notifications.log', NULL),
               ('notifications.due', 'notifications'),
               ('session_client.session_commands', 'session'),
               ('session_client.contacts_commands', 'contacts'),
               ('session_client.notifications_commands', 'notifications'),
               ('session_client.operations', NULL)) AS l (log, consumer);
COMMENT ON VIEW session_client.logs IS 'Every log and the service that handles it.';
COMMENT ON COLUMN session_client.logs.log IS 'The log, as schema.table.';
COMMENT ON COLUMN session_client.logs.consumer IS 'The service that handles the log, by its schema; null if the log is only streamed.';

CREATE FUNCTION session_client.create_union_view(view_name text, names text[], like_table text, branch text) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    col record;
BEGIN
    EXECUTE format('CREATE OR REPLACE VIEW session_client.%I WITH (security_invoker = true) AS %s', view_name,
                   (SELECT string_agg(format(branch, n.name), ' UNION ALL ' ORDER BY n.number)
                      FROM unnest(names) WITH ORDINALITY AS n (name, number)));
    FOR col IN
        SELECT v.attname AS name, coalesce(col_description(t.attrelid, t.attnum), CASE v.attname
                   WHEN 'log' THEN 'The log, as schema.table.'
                   WHEN 'service' THEN 'The service, by its schema.'
                   WHEN 'consumer' THEN 'The service that handles the messages, by its schema.' END) AS comment
          FROM pg_attribute AS v
          LEFT JOIN pg_attribute AS t ON t.attrelid = like_table::regclass AND t.attname = v.attname AND t.attnum > 0
         WHERE v.attrelid = format('session_client.%I', view_name)::regclass AND v.attnum > 0
           AND col_description(v.attrelid, v.attnum) IS NULL
    LOOP
        EXECUTE format('COMMENT ON COLUMN session_client.%I.%I IS %L', view_name, col.name, col.comment);
    END LOOP;
END
$$;
COMMENT ON FUNCTION session_client.create_union_view(text, text[], text, text) IS
    'Creates a view that joins one SELECT per name by UNION ALL; %1$s in the SELECT stands for the name. Columns without a comment get the one of like_table''s column of that name.';

-- PostgreSQL plans each branch of a UNION ALL by its own indexes only if the branches are plain SELECTs whose types
-- agree. So columns whose type is a domain of their schema are cast to the domain's base type.
CREATE FUNCTION session_client.create_union_views() RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    logs      text[] := ARRAY(SELECT l.log FROM session_client.logs AS l ORDER BY l.log);
    services  text[] := ARRAY(SELECT DISTINCT split_part(l.log, '.', 1) FROM session_client.logs AS l ORDER BY 1);
    with_outcomes text[] := ARRAY(SELECT s FROM unnest(services) AS s WHERE to_regclass(s || '.outcome') IS NOT NULL);
    with_timers   text[] := ARRAY(SELECT s FROM unnest(services) AS s WHERE to_regclass(s || '.timer') IS NOT NULL);
BEGIN
    PERFORM session_client.create_union_view('messages', logs, 'session.log', $branch$
        SELECT '%1$s' AS log, m.partition, m.position::bigint AS position, m.recorded_at, m.kind::text AS kind,
               m.type::text AS type, m.key::text AS key, m.account, m.outcome::text AS outcome, m.message_id, m.command_id,
               m.correlation_id, m.causation_id, m.body::json AS body
          FROM %1$s AS m $branch$);
    PERFORM session_client.create_union_view('heads', logs, 'session.log', $branch$
        SELECT '%1$s' AS log, p.partition, p.base_position AS base, coalesce(m.position, p.base_position) AS head,
               m.recorded_at
          FROM %1$s_partition AS p
          LEFT JOIN LATERAL (SELECT m.position, m.recorded_at FROM %1$s AS m
                              WHERE m.partition = p.partition ORDER BY m.position DESC LIMIT 1) AS m ON true $branch$);
    PERFORM session_client.create_union_view('batches', services, 'session.batch', $branch$
        SELECT '%1$s' AS consumer, b.source, b.partition, b.number::bigint AS number, b.position::bigint AS position,
               b.owner, b.epoch, b.given_time, b.messages::int AS messages
          FROM %1$s.batch AS b $branch$);
    PERFORM session_client.create_union_view('all_outcomes', with_outcomes, 'session.outcome', $branch$
        SELECT '%1$s' AS consumer, o.command_id, o.account, o.outcome::text AS outcome, o.type::text AS type, o.body,
               o.recorded_at, o.partition, o.position
          FROM %1$s.outcome AS o $branch$);
    PERFORM session_client.create_union_view('all_leases', services, 'session.lease', $branch$
        SELECT '%1$s' AS consumer, l.* FROM %1$s.lease AS l $branch$);
    PERFORM session_client.create_union_view('all_members', services, 'session.member', $branch$
        SELECT '%1$s' AS consumer, m.* FROM %1$s.member AS m $branch$);
    PERFORM session_client.create_union_view('all_parked', services, 'session.parked', $branch$
        SELECT '%1$s' AS consumer, p.* FROM %1$s.parked AS p $branch$);
    PERFORM session_client.create_union_view('all_dead_letters', services, 'session.dead_letter', $branch$
        SELECT '%1$s' AS consumer, d.* FROM %1$s.dead_letter AS d $branch$);
    PERFORM session_client.create_union_view('all_retention', services, 'session.retention', $branch$
        SELECT '%1$s' AS service, r.* FROM %1$s.retention AS r $branch$);
    PERFORM session_client.create_union_view('all_operator_acts', services, 'session.operator_act', $branch$
        SELECT '%1$s' AS service, a.* FROM %1$s.operator_act AS a $branch$);
    PERFORM session_client.create_union_view('all_timers', with_timers, 'session.timer', $branch$
        SELECT '%1$s' AS service, t.* FROM %1$s.timer AS t $branch$);
END
$$;
COMMENT ON FUNCTION session_client.create_union_views() IS
    'Creates the views that show the same table of several logs or services as one. For migrations: after a change of session_client.logs.';
SELECT session_client.create_union_views();

COMMENT ON VIEW session_client.messages IS
    'The rows of all logs. Ask for a correlation_id, or for a log, a partition and a few positions up to heads.head; anything else reads all rows.';
COMMENT ON VIEW session_client.heads IS 'Where each partition of each log begins and ends.';
COMMENT ON COLUMN session_client.heads.base IS 'Retention deleted the positions up to this one.';
COMMENT ON COLUMN session_client.heads.head IS 'The newest position; 0 if there is none.';
COMMENT ON COLUMN session_client.heads.recorded_at IS 'When the newest row was appended.';
COMMENT ON VIEW session_client.batches IS
    'The batches of all consumers: each is one transaction. Ask for a consumer, a source and a partition.';
COMMENT ON VIEW session_client.all_outcomes IS 'The outcomes of all services'' commands.';
COMMENT ON VIEW session_client.all_leases IS 'The leases of all consumers, as they are stored; see session_client.leases.';
COMMENT ON VIEW session_client.all_members IS 'The workers of all consumers, as they are stored; see session_client.workers.';
COMMENT ON VIEW session_client.all_parked IS 'The parked messages of all consumers, as they are stored; see session_client.parked_messages.';
COMMENT ON VIEW session_client.all_dead_letters IS 'The dead letters of all consumers, as they are stored; see session_client.dead_letters.';
COMMENT ON VIEW session_client.all_retention IS 'How long each service keeps what; see session_client.retention_state.';
COMMENT ON VIEW session_client.all_operator_acts IS 'The audits of all services, as they are stored; see session_client.operator_acts.';
COMMENT ON VIEW session_client.all_timers IS 'The timers of all services, as they are stored; see session_client.timers.';

CREATE FUNCTION session_client.time_of(id uuid) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN substr(id::text, 15, 1) IN ('7', '8')
                THEN to_timestamp(('x' || substr(id::text, 1, 8) || substr(id::text, 10, 4))::bit(48)::bigint / 1000.0)
           END;
COMMENT ON FUNCTION session_client.time_of(uuid) IS
    'The time in an id, to the millisecond. Null if it has none: only versions 7 and 8 do.';

CREATE FUNCTION session_client.position_before(of_log text, of_partition int, before timestamptz)
    RETURNS bigint LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    low      bigint;
    high     bigint;
    middle   bigint;
    recorded timestamptz;
BEGIN
    SELECT h.base, h.head INTO low, high FROM session_client.heads AS h
     WHERE h.log = of_log AND h.partition = of_partition;
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        SELECT m.recorded_at INTO recorded FROM session_client.messages AS m
         WHERE m.log = of_log AND m.partition = of_partition AND m.position = middle;
        IF recorded < before THEN low := middle; ELSE high := middle - 1; END IF;
    END LOOP;
    RETURN low;
END
$$;
COMMENT ON FUNCTION session_client.position_before(text, int, timestamptz) IS
    'The last position of a log''s partition that was recorded before a time. Positions are in order of time, so a binary search finds it in some twenty reads.';

CREATE FUNCTION session_client.batch_before(of_consumer text, of_source text, of_partition int, before timestamptz)
    RETURNS bigint LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    low    bigint;
    high   bigint;
    middle bigint;
    given  timestamptz;
BEGIN
    SELECT b.number - 1 INTO low FROM session_client.batches AS b
     WHERE b.consumer = of_consumer AND b.source = of_source AND b.partition = of_partition ORDER BY b.number LIMIT 1;
    SELECT b.number INTO high FROM session_client.batches AS b
     WHERE b.consumer = of_consumer AND b.source = of_source AND b.partition = of_partition ORDER BY b.number DESC LIMIT 1;
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        SELECT b.given_time INTO given FROM session_client.batches AS b
         WHERE b.consumer = of_consumer AND b.source = of_source AND b.partition = of_partition AND b.number = middle;
        IF given < before THEN low := middle; ELSE high := middle - 1; END IF;
    END LOOP;
    RETURN low;
END
$$;
COMMENT ON FUNCTION session_client.batch_before(text, text, int, timestamptz) IS
    'The number of a partition''s last batch whose given time is before this one. If all kept batches are later, the number before the oldest; null if there are none. A binary search finds it.';

GRANT EXECUTE ON FUNCTION session_client.time_of(uuid), session_client.position_before(text, int, timestamptz),
   session_client.batch_before(text, text, int, timestamptz)
   TO quartet_reader;
