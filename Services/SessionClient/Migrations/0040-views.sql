-- What people look at who run Quartet. session-client has these views because it alone knows the others; its migrations
-- run last. They depend on the others' columns: who changes the type of one or drops it has to replace the views first.
--
-- They ask with the rights of who reads them, and cost the same however long the logs are: newest rows are found by
-- primary keys, times by halving, and what is counted is counted among so many rows; each such view says among how many.
-- Columns are cast to what their domains are of: PostgreSQL looks into a UNION ALL only if all its types are the same.

-- The four services' tables as one ------------------------------------------------------------------------------------

CREATE VIEW session_client.messages (log, partition, position, recorded_at, kind, type, key, account, outcome, message_id,
                                     command_id, correlation_id, causation_id, body)
    WITH (security_invoker = true) AS
SELECT 'session.log', m.partition, m.position::bigint, m.recorded_at, m.kind::text, m.type::text,
       m.key::text, m.account, m.outcome::text, m.message_id, m.command_id, m.correlation_id, m.causation_id,
       m.body::json
  FROM session.log AS m
 UNION ALL
SELECT 'session.due', m.partition, m.position::bigint, m.recorded_at, m.kind::text, m.type::text,
       m.key::text, m.account, m.outcome::text, m.message_id, m.command_id, m.correlation_id, m.causation_id,
       m.body::json
  FROM session.due AS m
 UNION ALL
SELECT 'contacts.log', m.partition, m.position::bigint, m.recorded_at, m.kind::text, m.type::text,
       m.key::text, m.account, m.outcome::text, m.message_id, m.command_id, m.correlation_id, m.causation_id,
       m.body::json
  FROM contacts.log AS m
 UNION ALL
SELECT 'notifications.log', m.partition, m.position::bigint, m.recorded_at, m.kind::text, m.type::text,
       m.key::text, m.account, m.outcome::text, m.message_id, m.command_id, m.correlation_id, m.causation_id,
       m.body::json
  FROM notifications.log AS m
 UNION ALL
SELECT 'session_client.session_commands', m.partition, m.position::bigint, m.recorded_at, m.kind::text, m.type::text,
       m.key::text, m.account, m.outcome::text, m.message_id, m.command_id, m.correlation_id, m.causation_id,
       m.body::json
  FROM session_client.session_commands AS m
 UNION ALL
SELECT 'session_client.contacts_commands', m.partition, m.position::bigint, m.recorded_at, m.kind::text, m.type::text,
       m.key::text, m.account, m.outcome::text, m.message_id, m.command_id, m.correlation_id, m.causation_id,
       m.body::json
  FROM session_client.contacts_commands AS m
 UNION ALL
SELECT 'session_client.notifications_commands', m.partition, m.position::bigint, m.recorded_at, m.kind::text, m.type::text,
       m.key::text, m.account, m.outcome::text, m.message_id, m.command_id, m.correlation_id, m.causation_id,
       m.body::json
  FROM session_client.notifications_commands AS m
 UNION ALL
SELECT 'session_client.operations', m.partition, m.position::bigint, m.recorded_at, m.kind::text, m.type::text,
       m.key::text, m.account, m.outcome::text, m.message_id, m.command_id, m.correlation_id, m.causation_id,
       m.body::json
  FROM session_client.operations AS m;
COMMENT ON VIEW session_client.messages IS
    'The rows of all logs. Ask for a log, a partition and a few positions up to heads.head; anything else reads all of it.';
COMMENT ON COLUMN session_client.messages.log IS 'The log, as schema.table.';
COMMENT ON COLUMN session_client.messages.partition IS 'Its partition.';
COMMENT ON COLUMN session_client.messages.position IS 'Gap-free number in the partition.';
COMMENT ON COLUMN session_client.messages.recorded_at IS 'When the row was appended.';
COMMENT ON COLUMN session_client.messages.kind IS 'command, event, or outcome (of a command that caused no event).';
COMMENT ON COLUMN session_client.messages.type IS 'Name of the body''s type.';
COMMENT ON COLUMN session_client.messages.key IS 'What keeps order.';
COMMENT ON COLUMN session_client.messages.account IS 'The account that asked.';
COMMENT ON COLUMN session_client.messages.outcome IS 'How the command ended, on the row that carries its outcome.';
COMMENT ON COLUMN session_client.messages.message_id IS 'The row''s own id.';
COMMENT ON COLUMN session_client.messages.command_id IS 'The command that is asked, or that led to this.';
COMMENT ON COLUMN session_client.messages.correlation_id IS 'Shared by everything that one request led to.';
COMMENT ON COLUMN session_client.messages.causation_id IS 'message_id of the row that caused this one.';
COMMENT ON COLUMN session_client.messages.body IS 'The message itself.';

CREATE VIEW session_client.heads (log, partition, base, head, recorded_at) WITH (security_invoker = true) AS
SELECT 'session.log', p.partition, p.base_position, coalesce(m.position, p.base_position),
       m.recorded_at
  FROM session.log_partition AS p
  LEFT JOIN LATERAL (SELECT m.position, m.recorded_at FROM session.log AS m
                      WHERE m.partition = p.partition ORDER BY m.position DESC LIMIT 1) AS m ON true
 UNION ALL
SELECT 'session.due', p.partition, p.base_position, coalesce(m.position, p.base_position),
       m.recorded_at
  FROM session.due_partition AS p
  LEFT JOIN LATERAL (SELECT m.position, m.recorded_at FROM session.due AS m
                      WHERE m.partition = p.partition ORDER BY m.position DESC LIMIT 1) AS m ON true
 UNION ALL
SELECT 'contacts.log', p.partition, p.base_position, coalesce(m.position, p.base_position),
       m.recorded_at
  FROM contacts.log_partition AS p
  LEFT JOIN LATERAL (SELECT m.position, m.recorded_at FROM contacts.log AS m
                      WHERE m.partition = p.partition ORDER BY m.position DESC LIMIT 1) AS m ON true
 UNION ALL
SELECT 'notifications.log', p.partition, p.base_position, coalesce(m.position, p.base_position),
       m.recorded_at
  FROM notifications.log_partition AS p
  LEFT JOIN LATERAL (SELECT m.position, m.recorded_at FROM notifications.log AS m
                      WHERE m.partition = p.partition ORDER BY m.position DESC LIMIT 1) AS m ON true
 UNION ALL
SELECT 'session_client.session_commands', p.partition, p.base_position, coalesce(m.position, p.base_position),
       m.recorded_at
  FROM session_client.session_commands_partition AS p
  LEFT JOIN LATERAL (SELECT m.position, m.recorded_at FROM session_client.session_commands AS m
                      WHERE m.partition = p.partition ORDER BY m.position DESC LIMIT 1) AS m ON true
 UNION ALL
SELECT 'session_client.contacts_commands', p.partition, p.base_position, coalesce(m.position, p.base_position),
       m.recorded_at
  FROM session_client.contacts_commands_partition AS p
  LEFT JOIN LATERAL (SELECT m.position, m.recorded_at FROM session_client.contacts_commands AS m
                      WHERE m.partition = p.partition ORDER BY m.position DESC LIMIT 1) AS m ON true
 UNION ALL
SELECT 'session_client.notifications_commands', p.partition, p.base_position, coalesce(m.position, p.base_position),
       m.recorded_at
  FROM session_client.notifications_commands_partition AS p
  LEFT JOIN LATERAL (SELECT m.position, m.recorded_at FROM session_client.notifications_commands AS m
                      WHERE m.partition = p.partition ORDER BY m.position DESC LIMIT 1) AS m ON true
 UNION ALL
SELECT 'session_client.operations', p.partition, p.base_position, coalesce(m.position, p.base_position),
       m.recorded_at
  FROM session_client.operations_partition AS p
  LEFT JOIN LATERAL (SELECT m.position, m.recorded_at FROM session_client.operations AS m
                      WHERE m.partition = p.partition ORDER BY m.position DESC LIMIT 1) AS m ON true;
COMMENT ON VIEW session_client.heads IS
    'Where each partition of each log begins and ends.';
COMMENT ON COLUMN session_client.heads.log IS 'The log, as schema.table.';
COMMENT ON COLUMN session_client.heads.partition IS 'Its partition.';
COMMENT ON COLUMN session_client.heads.base IS 'Positions up to this one were deleted by retention.';
COMMENT ON COLUMN session_client.heads.head IS 'The newest position; 0 while there is none.';
COMMENT ON COLUMN session_client.heads.recorded_at IS 'When the newest row was appended.';

CREATE VIEW session_client.batches (consumer, source, partition, number, position, owner, epoch, given_time, messages)
    WITH (security_invoker = true) AS
SELECT 'session', b.source, b.partition, b.number::bigint, b.position::bigint, b.owner, b.epoch, b.given_time,
       b.messages::int
  FROM session.batch AS b
 UNION ALL
SELECT 'contacts', b.source, b.partition, b.number::bigint, b.position::bigint, b.owner, b.epoch, b.given_time,
       b.messages::int
  FROM contacts.batch AS b
 UNION ALL
SELECT 'notifications', b.source, b.partition, b.number::bigint, b.position::bigint, b.owner, b.epoch, b.given_time,
       b.messages::int
  FROM notifications.batch AS b
 UNION ALL
SELECT 'session_client', b.source, b.partition, b.number::bigint, b.position::bigint, b.owner, b.epoch, b.given_time,
       b.messages::int
  FROM session_client.batch AS b;
COMMENT ON VIEW session_client.batches IS
    'The batches of all consumers: each is one transaction. Ask for a consumer, a source and a partition.';
COMMENT ON COLUMN session_client.batches.consumer IS 'Who handled it: the service''s schema.';
COMMENT ON COLUMN session_client.batches.source IS 'The log that was read, as schema.table.';
COMMENT ON COLUMN session_client.batches.partition IS 'The log''s partition.';
COMMENT ON COLUMN session_client.batches.number IS 'The batch before it plus one.';
COMMENT ON COLUMN session_client.batches.position IS 'Everything up to this position of the source is handled.';
COMMENT ON COLUMN session_client.batches.owner IS 'The worker that committed it.';
COMMENT ON COLUMN session_client.batches.epoch IS 'The epoch of its lease.';
COMMENT ON COLUMN session_client.batches.given_time IS 'The time that the rules were given.';
COMMENT ON COLUMN session_client.batches.messages IS 'How many messages it handled.';

-- Times ---------------------------------------------------------------------------------------------------------------

CREATE FUNCTION session_client.time_of(id uuid) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN substr(id::text, 15, 1) IN ('7', '8')
                THEN to_timestamp(('x' || substr(id::text, 1, 8) || substr(id::text, 10, 4))::bit(48)::bigint / 1000.0)
           END;
COMMENT ON FUNCTION session_client.time_of(uuid) IS
    'The time that an id carries, to the millisecond. Null if it carries none (only versions 7 and 8 do).';

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
    'The last position of a log''s partition that was recorded before a time. Positions are in the order of time, so it is found by halving: some twenty rows are looked at.';

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
    'The number of a partition''s last batch that was given a time before this one, or of the one before the oldest that is kept; null if there is none. Found by halving.';

-- How far everybody is ------------------------------------------------------------------------------------------------

CREATE VIEW session_client.leases WITH (security_invoker = true) AS
WITH lease (consumer, source, partition, owner, epoch, lease_until, released, needs, trouble, resting_since) AS (
    SELECT 'session', l.source, l.partition, l.owner, l.epoch, l.lease_until, l.released, l.needs, l.trouble,
           l.resting_since
      FROM session.lease AS l
     UNION ALL
    SELECT 'contacts', l.source, l.partition, l.owner, l.epoch, l.lease_until, l.released, l.needs, l.trouble,
           l.resting_since
      FROM contacts.lease AS l
     UNION ALL
    SELECT 'notifications', l.source, l.partition, l.owner, l.epoch, l.lease_until, l.released, l.needs, l.trouble,
           l.resting_since
      FROM notifications.lease AS l
     UNION ALL
    SELECT 'session_client', l.source, l.partition, l.owner, l.epoch, l.lease_until, l.released, l.needs, l.trouble,
           l.resting_since
      FROM session_client.lease AS l
), process AS (
    SELECT a.application_name AS application, min(a.pid) AS pid
      FROM pg_stat_activity AS a
     WHERE a.datname = current_database()
     GROUP BY a.application_name
)
SELECT l.consumer, l.source, l.partition,
       CASE WHEN l.owner IS NULL THEN 'free' WHEN l.lease_until < clock_timestamp() THEN 'run out' ELSE 'held'
       END AS state,
       l.owner, l.epoch, l.lease_until - clock_timestamp() AS ends_in, l.released, p.application, p.pid,
       l.needs, l.trouble, l.resting_since
  FROM lease AS l
  LEFT JOIN process AS p ON p.application = l.consumer || '/' || l.owner;
COMMENT ON VIEW session_client.leases IS
    'Which worker handles which partition, and in which session. A partition is here once its consumer has run.';
COMMENT ON COLUMN session_client.leases.consumer IS 'Who handles it: the service''s schema.';
COMMENT ON COLUMN session_client.leases.source IS 'The log that is handled, as schema.table.';
COMMENT ON COLUMN session_client.leases.partition IS 'The log''s partition.';
COMMENT ON COLUMN session_client.leases.state IS 'held; free (nobody has it); or run out (its owner is silent, and who wants it may take it).';
COMMENT ON COLUMN session_client.leases.owner IS 'The worker that has it, or had it until it ran out.';
COMMENT ON COLUMN session_client.leases.epoch IS 'How often it was taken.';
COMMENT ON COLUMN session_client.leases.ends_in IS 'How long it lasts unless renewed; negative when it ran out.';
COMMENT ON COLUMN session_client.leases.released IS 'Whether the last owner gave it back: false after a crash, and while it is held.';
COMMENT ON COLUMN session_client.leases.application IS 'The worker''s session, as pg_stat_activity.application_name; null if it is not connected.';
COMMENT ON COLUMN session_client.leases.pid IS 'That session''s process on the server.';
COMMENT ON COLUMN session_client.leases.needs IS 'What a message needed that a replica didn''t know: a type with its version, or a word of one. Replicas that may know it get the partition.';
COMMENT ON COLUMN session_client.leases.trouble IS 'Why the partition rests: whatever is tried fails, and is tried again every few seconds. Null while it doesn''t rest.';
COMMENT ON COLUMN session_client.leases.resting_since IS 'Since when it rests.';

CREATE VIEW session_client.workers WITH (security_invoker = true) AS
WITH member (consumer, source, owner, slot, started_at, alive_until) AS (
    SELECT 'session', m.source, m.owner, m.slot, m.started_at, m.alive_until FROM session.member AS m
     UNION ALL
    SELECT 'contacts', m.source, m.owner, m.slot, m.started_at, m.alive_until FROM contacts.member AS m
     UNION ALL
    SELECT 'notifications', m.source, m.owner, m.slot, m.started_at, m.alive_until FROM notifications.member AS m
     UNION ALL
    SELECT 'session_client', m.source, m.owner, m.slot, m.started_at, m.alive_until FROM session_client.member AS m
), place AS (
    SELECT m.*, m.alive_until > clock_timestamp() AS is_alive FROM member AS m
), placed AS (
    SELECT p.*, row_number() OVER sharing - 1 AS place, count(*) OVER (PARTITION BY p.consumer, p.source, p.is_alive) AS workers
      FROM place AS p
    WINDOW sharing AS (PARTITION BY p.consumer, p.source, p.is_alive ORDER BY p.slot, p.owner)
), leased AS (
    SELECT l.consumer, l.source, count(*) AS partitions FROM session_client.leases AS l GROUP BY l.consumer, l.source
), held AS (
    SELECT l.consumer, l.source, l.owner, count(*) AS holds FROM session_client.leases AS l
     WHERE l.state = 'held' GROUP BY l.consumer, l.source, l.owner
), process AS (
    SELECT a.application_name AS application, min(a.pid) AS pid
      FROM pg_stat_activity AS a
     WHERE a.datname = current_database()
     GROUP BY a.application_name
)
SELECT m.consumer, m.source, m.owner, m.slot, clock_timestamp() - m.started_at AS running_for,
       m.alive_until - clock_timestamp() AS alive_for,
       CASE WHEN m.is_alive THEN (l.partitions - m.place + m.workers - 1) / m.workers ELSE 0 END AS share,
       coalesce(h.holds, 0) AS holds, p.application, p.pid
  FROM placed AS m
  LEFT JOIN leased AS l ON l.consumer = m.consumer AND l.source = m.source
  LEFT JOIN held AS h ON h.consumer = m.consumer AND h.source = m.source AND h.owner = m.owner
  LEFT JOIN process AS p ON p.application = m.consumer || '/' || m.owner;
COMMENT ON VIEW session_client.workers IS
    'The running workers of all consumers. Of each source, the live ones share the partitions evenly.';
COMMENT ON COLUMN session_client.workers.consumer IS 'Whose worker: the service''s schema.';
COMMENT ON COLUMN session_client.workers.source IS 'The log that it handles, as schema.table.';
COMMENT ON COLUMN session_client.workers.owner IS 'The worker, fresh at each start.';
COMMENT ON COLUMN session_client.workers.slot IS 'Its number among the workers of its process.';
COMMENT ON COLUMN session_client.workers.running_for IS 'How long ago it started.';
COMMENT ON COLUMN session_client.workers.alive_for IS 'How long it counts as alive unless it is heard of again; negative when it doesn''t any more.';
COMMENT ON COLUMN session_client.workers.share IS 'How many partitions are its own.';
COMMENT ON COLUMN session_client.workers.holds IS 'How many it has a lease of; differs from its share while partitions change hands.';
COMMENT ON COLUMN session_client.workers.application IS 'Its session, as pg_stat_activity.application_name; null if it is not connected.';
COMMENT ON COLUMN session_client.workers.pid IS 'That session''s process on the server.';

CREATE VIEW session_client.lag WITH (security_invoker = true) AS
WITH consumer (consumer, source) AS (
    VALUES ('session', 'session_client.session_commands'), ('session', 'session.due'),
           ('contacts', 'session_client.contacts_commands'), ('notifications', 'session_client.notifications_commands'),
           ('session_client', 'session.log'), ('session_client', 'contacts.log')
     UNION
    SELECT l.consumer, l.source FROM session_client.leases AS l
), parked (consumer, source, partition, messages, first) AS (
    SELECT 'session', p.source, p.partition, count(*), min(p.position) FROM session.parked AS p GROUP BY p.source, p.partition
     UNION ALL
    SELECT 'contacts', p.source, p.partition, count(*), min(p.position) FROM contacts.parked AS p GROUP BY p.source, p.partition
     UNION ALL
    SELECT 'notifications', p.source, p.partition, count(*), min(p.position) FROM notifications.parked AS p GROUP BY p.source, p.partition
     UNION ALL
    SELECT 'session_client', p.source, p.partition, count(*), min(p.position) FROM session_client.parked AS p GROUP BY p.source, p.partition
), place AS (
    SELECT c.consumer, c.source, h.partition, h.base, h.head, b.number, coalesce(b.position, 0) AS handled, b.given_time
      FROM consumer AS c
      JOIN session_client.heads AS h ON h.log = c.source
      LEFT JOIN LATERAL (SELECT b.number, b.position, b.given_time FROM session_client.batches AS b
                          WHERE b.consumer = c.consumer AND b.source = c.source AND b.partition = h.partition
                          ORDER BY b.number DESC LIMIT 1) AS b ON true
)
SELECT p.consumer, p.source, p.partition, p.head, p.handled, greatest(p.head - greatest(p.handled, p.base), 0) AS behind,
       clock_timestamp() - m.recorded_at AS behind_for, coalesce(w.messages, 0) AS parked, w.first AS first_parked,
       CASE WHEN p.number IS NULL THEN 0 ELSE greatest(p.base - p.handled, 0) END AS lost,
       clock_timestamp() - p.given_time AS since_last_batch, l.owner
  FROM place AS p
  LEFT JOIN LATERAL (SELECT m.recorded_at FROM session_client.messages AS m
                      WHERE m.log = p.source AND m.partition = p.partition
                        AND m.position = greatest(p.handled, p.base) + 1 LIMIT 1) AS m ON true
  LEFT JOIN parked AS w ON w.consumer = p.consumer AND w.source = p.source AND w.partition = p.partition
  LEFT JOIN session_client.leases AS l ON l.consumer = p.consumer AND l.source = p.source AND l.partition = p.partition;
COMMENT ON VIEW session_client.lag IS
    'How far each consumer is behind in each partition of each log that it handles, also before it ever ran.';
COMMENT ON COLUMN session_client.lag.consumer IS 'Who handles the log: the service''s schema.';
COMMENT ON COLUMN session_client.lag.source IS 'The log, as schema.table.';
COMMENT ON COLUMN session_client.lag.partition IS 'Its partition.';
COMMENT ON COLUMN session_client.lag.head IS 'The newest position.';
COMMENT ON COLUMN session_client.lag.handled IS 'Everything up to this position is handled or parked; 0 while nothing is.';
COMMENT ON COLUMN session_client.lag.behind IS 'How many rows come after that; a command that was appended again has two, of which the second does nothing.';
COMMENT ON COLUMN session_client.lag.behind_for IS 'How long ago the first of these was appended; null when there is none.';
COMMENT ON COLUMN session_client.lag.parked IS 'How many messages failed or wait behind one that did; these are not counted as behind.';
COMMENT ON COLUMN session_client.lag.first_parked IS 'The position of the first of these.';
COMMENT ON COLUMN session_client.lag.lost IS 'How many messages retention deleted before they were handled: the consumer waits until somebody calls its accept_truncation.';
COMMENT ON COLUMN session_client.lag.since_last_batch IS 'How long ago the consumer last handled something here; null if that is forgotten or never was.';
COMMENT ON COLUMN session_client.lag.owner IS 'The worker that has the partition, or had it until its lease ran out; null if nobody has.';

CREATE VIEW session_client.throughput WITH (security_invoker = true) AS
SELECT l.consumer, l.source, count(b.messages) AS batches, coalesce(sum(b.messages), 0) AS messages,
       round(avg(b.messages), 1) AS per_batch, round(coalesce(sum(b.messages), 0) / 60.0, 1) AS per_second
  FROM session_client.leases AS l
 CROSS JOIN LATERAL (SELECT session_client.batch_before(l.consumer, l.source, l.partition,
                                                        statement_timestamp() - interval '1 minute') AS number
                     OFFSET 0) AS o -- once a partition
  LEFT JOIN LATERAL (SELECT b.messages FROM session_client.batches AS b
                      WHERE b.consumer = l.consumer AND b.source = l.source AND b.partition = l.partition
                        AND b.number > o.number
                      ORDER BY b.number OFFSET 0) AS b ON true -- by the index, whatever the planner believes
 GROUP BY l.consumer, l.source;
COMMENT ON VIEW session_client.throughput IS
    'What was handled in the last minute. Only batches of that minute are read; where it begins is found by halving.';
COMMENT ON COLUMN session_client.throughput.consumer IS 'Who handled it: the service''s schema.';
COMMENT ON COLUMN session_client.throughput.source IS 'The log, as schema.table.';
COMMENT ON COLUMN session_client.throughput.batches IS 'How many transactions.';
COMMENT ON COLUMN session_client.throughput.messages IS 'How many messages in them.';
COMMENT ON COLUMN session_client.throughput.per_batch IS 'Messages in a transaction, on average.';
COMMENT ON COLUMN session_client.throughput.per_second IS 'Messages in a second, on average over the minute.';

CREATE VIEW session_client.biggest_keys WITH (security_invoker = true) AS
SELECT h.log, h.partition, m.key, count(DISTINCT m.id) AS messages,
       round(100.0 * count(DISTINCT m.id) / least(h.head - h.base, 10000), 1) AS percent, max(m.recorded_at) AS newest
  FROM session_client.heads AS h
 CROSS JOIN LATERAL (SELECT m.key, m.recorded_at, CASE m.kind WHEN 'command' THEN m.command_id ELSE m.message_id END AS id
                       FROM session_client.messages AS m
                      WHERE m.log = h.log AND m.partition = h.partition
                        AND m.position > h.head - 10000 AND m.position <= h.head
                      ORDER BY m.position DESC LIMIT 10000) AS m -- by the index, whatever the planner believes
 GROUP BY h.log, h.partition, h.head, h.base, m.key;
COMMENT ON VIEW session_client.biggest_keys IS
    'Which keys had how many of the newest 10,000 messages of each partition of each log. Messages of a key are handled one after the other, so a big one holds up its partition.';
COMMENT ON COLUMN session_client.biggest_keys.log IS 'The log, as schema.table.';
COMMENT ON COLUMN session_client.biggest_keys.partition IS 'Its partition; a key has one.';
COMMENT ON COLUMN session_client.biggest_keys.key IS 'The key.';
COMMENT ON COLUMN session_client.biggest_keys.messages IS 'How many of the partition''s newest 10,000 messages are its own; a command that was appended again counts once.';
COMMENT ON COLUMN session_client.biggest_keys.percent IS 'The same in percent of those messages.';
COMMENT ON COLUMN session_client.biggest_keys.newest IS 'When its newest one was appended.';

-- What went wrong, and what will be done ------------------------------------------------------------------------------

CREATE VIEW session_client.parked_messages WITH (security_invoker = true) AS
WITH parked (consumer, source, partition, position, key, type, cause, attempts, retry_at, error, needs, is_discarded,
             parked_at, message_id, command_id, correlation_id, body) AS (
    SELECT 'session', p.source, p.partition, p.position, p.key, p.type, p.cause, p.attempts, p.retry_at, p.error, p.needs,
           p.is_discarded, p.parked_at, p.message_id, p.command_id, p.correlation_id, p.body
      FROM session.parked AS p
     UNION ALL
    SELECT 'contacts', p.source, p.partition, p.position, p.key, p.type, p.cause, p.attempts, p.retry_at, p.error, p.needs,
           p.is_discarded, p.parked_at, p.message_id, p.command_id, p.correlation_id, p.body
      FROM contacts.parked AS p
     UNION ALL
    SELECT 'notifications', p.source, p.partition, p.position, p.key, p.type, p.cause, p.attempts, p.retry_at, p.error, p.needs,
           p.is_discarded, p.parked_at, p.message_id, p.command_id, p.correlation_id, p.body
      FROM notifications.parked AS p
     UNION ALL
    SELECT 'session_client', p.source, p.partition, p.position, p.key, p.type, p.cause, p.attempts, p.retry_at, p.error, p.needs,
           p.is_discarded, p.parked_at, p.message_id, p.command_id, p.correlation_id, p.body
      FROM session_client.parked AS p
)
SELECT p.consumer, p.source, p.partition, p.position, p.key, p.type,
       CASE WHEN p.is_discarded THEN 'discarded' WHEN p.cause IS NULL THEN 'waiting' ELSE 'retrying' END AS state,
       p.cause, p.attempts, p.retry_at - clock_timestamp() AS retry_in, clock_timestamp() - p.parked_at AS parked_for,
       p.error, p.needs AS waits_for, p.message_id, p.command_id, p.correlation_id, p.body
  FROM parked AS p;
COMMENT ON VIEW session_client.parked_messages IS
    'Messages that failed and will be tried again, and the later ones of their keys, which wait behind them.';
COMMENT ON COLUMN session_client.parked_messages.consumer IS 'Who can''t handle it yet: the service''s schema.';
COMMENT ON COLUMN session_client.parked_messages.source IS 'The log that it is in, as schema.table.';
COMMENT ON COLUMN session_client.parked_messages.partition IS 'Its partition.';
COMMENT ON COLUMN session_client.parked_messages.position IS 'Its place there.';
COMMENT ON COLUMN session_client.parked_messages.key IS 'Its key; retry_parked and discard_parked of the consumer''s schema want source and key.';
COMMENT ON COLUMN session_client.parked_messages.type IS 'Name of its body''s type.';
COMMENT ON COLUMN session_client.parked_messages.state IS 'retrying; waiting (behind another of its key); or discarded (somebody gave it up: it becomes a dead letter).';
COMMENT ON COLUMN session_client.parked_messages.cause IS 'error (its own fault), trouble (of the database or its environment), unknown (no replica knows what it needs) or crashed (it ended its owners).';
COMMENT ON COLUMN session_client.parked_messages.attempts IS 'How often in a row it failed for this cause.';
COMMENT ON COLUMN session_client.parked_messages.retry_in IS 'How long until it is tried again; negative when it is due.';
COMMENT ON COLUMN session_client.parked_messages.parked_for IS 'How long it has been waiting.';
COMMENT ON COLUMN session_client.parked_messages.error IS 'How it failed last.';
COMMENT ON COLUMN session_client.parked_messages.waits_for IS 'The release that it waits for: one that knows this type and version, or this word.';
COMMENT ON COLUMN session_client.parked_messages.message_id IS 'The message.';
COMMENT ON COLUMN session_client.parked_messages.command_id IS 'The command that it is, or that led to it.';
COMMENT ON COLUMN session_client.parked_messages.correlation_id IS 'The request that it belongs to: see the function story.';
COMMENT ON COLUMN session_client.parked_messages.body IS 'The message itself.';

CREATE VIEW session_client.dead_letters WITH (security_invoker = true) AS
WITH dead (consumer, died_at, source, partition, position, kind, type, key, account, code, error, attempts, message_id,
           command_id, correlation_id, body) AS (
    SELECT 'session', d.died_at, d.source, d.partition, d.position, d.kind, d.type, d.key, d.account, d.code, d.error,
           d.attempts, d.message_id, d.command_id, d.correlation_id, d.body
      FROM session.dead_letter AS d
     UNION ALL
    SELECT 'contacts', d.died_at, d.source, d.partition, d.position, d.kind, d.type, d.key, d.account, d.code, d.error,
           d.attempts, d.message_id, d.command_id, d.correlation_id, d.body
      FROM contacts.dead_letter AS d
     UNION ALL
    SELECT 'notifications', d.died_at, d.source, d.partition, d.position, d.kind, d.type, d.key, d.account, d.code, d.error,
           d.attempts, d.message_id, d.command_id, d.correlation_id, d.body
      FROM notifications.dead_letter AS d
     UNION ALL
    SELECT 'session_client', d.died_at, d.source, d.partition, d.position, d.kind, d.type, d.key, d.account, d.code, d.error,
           d.attempts, d.message_id, d.command_id, d.correlation_id, d.body
      FROM session_client.dead_letter AS d
), answer (command_id, outcome) AS (
    SELECT o.command_id, o.outcome::text FROM session.outcome AS o
     UNION ALL
    SELECT o.command_id, o.outcome::text FROM contacts.outcome AS o
     UNION ALL
    SELECT o.command_id, o.outcome::text FROM notifications.outcome AS o
)
SELECT d.consumer, coalesce(c.decision, 'open') AS state, d.died_at, d.type, d.key, d.code, d.error, d.attempts,
       c.decided_by, c.decided_at, c.reason, c.command_id AS retried_as,
       (SELECT a.outcome FROM answer AS a WHERE a.command_id = c.command_id LIMIT 1) AS retry_outcome,
       d.message_id, d.command_id, d.correlation_id, d.kind, d.source, d.partition, d.position, d.account, d.body
  FROM dead AS d
  LEFT JOIN session_client.dead_letter_decision AS c ON c.message_id = d.message_id;
COMMENT ON VIEW session_client.dead_letters IS
    'Messages that kept failing, and what somebody did about them: session_client.retry_dead_letter and discard_dead_letter.';
COMMENT ON COLUMN session_client.dead_letters.consumer IS 'Who could not handle it: the service''s schema.';
COMMENT ON COLUMN session_client.dead_letters.state IS 'open, retried or discarded.';
COMMENT ON COLUMN session_client.dead_letters.died_at IS 'When it was given up.';
COMMENT ON COLUMN session_client.dead_letters.type IS 'Name of its body''s type.';
COMMENT ON COLUMN session_client.dead_letters.key IS 'Whose order it kept.';
COMMENT ON COLUMN session_client.dead_letters.code IS 'error (it kept failing by its own fault), crashed (it ended its owners) or discarded (while it was parked).';
COMMENT ON COLUMN session_client.dead_letters.error IS 'What it failed with last.';
COMMENT ON COLUMN session_client.dead_letters.attempts IS 'How often it was tried.';
COMMENT ON COLUMN session_client.dead_letters.decided_by IS 'Who decided, by the name of the role.';
COMMENT ON COLUMN session_client.dead_letters.decided_at IS 'When.';
COMMENT ON COLUMN session_client.dead_letters.reason IS 'Why it was discarded.';
COMMENT ON COLUMN session_client.dead_letters.retried_as IS 'The command that was sent instead.';
COMMENT ON COLUMN session_client.dead_letters.retry_outcome IS 'How that one ended; null while it hasn''t.';
COMMENT ON COLUMN session_client.dead_letters.message_id IS 'The message: what retry_dead_letter and discard_dead_letter want.';
COMMENT ON COLUMN session_client.dead_letters.command_id IS 'The command, whose outcome is failed.';
COMMENT ON COLUMN session_client.dead_letters.correlation_id IS 'The request that it belonged to: see the function story.';
COMMENT ON COLUMN session_client.dead_letters.kind IS 'command, or event of a policy.';
COMMENT ON COLUMN session_client.dead_letters.source IS 'The log that it came from, as schema.table.';
COMMENT ON COLUMN session_client.dead_letters.partition IS 'Its partition.';
COMMENT ON COLUMN session_client.dead_letters.position IS 'Its place there.';
COMMENT ON COLUMN session_client.dead_letters.account IS 'The account that asked.';
COMMENT ON COLUMN session_client.dead_letters.body IS 'The message as it was.';

CREATE VIEW session_client.timers WITH (security_invoker = true) AS
SELECT 'session' AS service, t.due_at - clock_timestamp() AS due_in, t.due_at, t.key, t.name, t.type,
       left(t.body::text, 80) AS body
  FROM session.timer AS t;
COMMENT ON VIEW session_client.timers IS
    'What services will be told later, and when. Ask ORDER BY due_at LIMIT so many: there is one per deadline of each account.';
COMMENT ON COLUMN session_client.timers.service IS 'Who wants to be told.';
COMMENT ON COLUMN session_client.timers.due_in IS 'How long until then; negative when it is late.';
COMMENT ON COLUMN session_client.timers.due_at IS 'When the command is sent.';
COMMENT ON COLUMN session_client.timers.key IS 'Whose order the command keeps.';
COMMENT ON COLUMN session_client.timers.name IS 'What it is for.';
COMMENT ON COLUMN session_client.timers.type IS 'Name of the command''s type.';
COMMENT ON COLUMN session_client.timers.body IS 'The first 80 characters of the command.';

-- What is kept, and what it takes -------------------------------------------------------------------------------------

CREATE VIEW session_client.retention_state WITH (security_invoker = true) AS
WITH rule (log, keep, truncate_after) AS (
    SELECT 'session.' || r.subject, r.keep, r.truncate_after FROM session.retention AS r
     UNION ALL
    SELECT 'contacts.' || r.subject, r.keep, r.truncate_after FROM contacts.retention AS r
     UNION ALL
    SELECT 'notifications.' || r.subject, r.keep, r.truncate_after FROM notifications.retention AS r
     UNION ALL
    SELECT 'session_client.' || r.subject, r.keep, r.truncate_after FROM session_client.retention AS r
), place AS (
    SELECT h.log, h.partition, h.base, h.head, m.recorded_at AS oldest,
           CASE h.log
                WHEN 'session.log' THEN session.log_handled(h.partition)
                WHEN 'session.due' THEN session.due_handled(h.partition)
                WHEN 'contacts.log' THEN contacts.log_handled(h.partition)
                WHEN 'notifications.log' THEN notifications.log_handled(h.partition)
                WHEN 'session_client.session_commands' THEN session_client.session_commands_handled(h.partition)
                WHEN 'session_client.contacts_commands' THEN session_client.contacts_commands_handled(h.partition)
                WHEN 'session_client.notifications_commands' THEN session_client.notifications_commands_handled(h.partition)
                WHEN 'session_client.operations' THEN session_client.operations_handled(h.partition)
           END AS handled
      FROM session_client.heads AS h
      LEFT JOIN LATERAL (SELECT m.recorded_at FROM session_client.messages AS m
                          WHERE m.log = h.log AND m.partition = h.partition AND m.position = h.base + 1
                          LIMIT 1) AS m ON true
)
SELECT p.log, r.keep, r.truncate_after, sum(p.head - p.base)::bigint AS rows, sum(p.base)::bigint AS deleted,
       min(p.oldest) AS oldest, clock_timestamp() - min(p.oldest) AS oldest_for,
       max(CASE WHEN p.oldest < clock_timestamp() - r.keep AND p.handled <= p.base
                THEN CASE p.log WHEN 'session_client.session_commands' THEN 'session' WHEN 'session.due' THEN 'session'
                                WHEN 'session_client.contacts_commands' THEN 'contacts'
                                WHEN 'session_client.notifications_commands' THEN 'notifications'
                                ELSE 'session_client' END END) AS held_back_by
  FROM place AS p
  JOIN rule AS r ON r.log = p.log
 GROUP BY p.log, r.keep, r.truncate_after;
COMMENT ON VIEW session_client.retention_state IS
    'How long each log is kept, how much of it there is, and who keeps it from being forgotten. Change it with set_retention of the log''s schema.';
COMMENT ON COLUMN session_client.retention_state.log IS 'The log, as schema.table.';
COMMENT ON COLUMN session_client.retention_state.keep IS 'Rows are kept at least this long, and until they are handled.';
COMMENT ON COLUMN session_client.retention_state.truncate_after IS 'Older rows go although they are not handled; null if never.';
COMMENT ON COLUMN session_client.retention_state.rows IS 'How many there are.';
COMMENT ON COLUMN session_client.retention_state.deleted IS 'How many there once were.';
COMMENT ON COLUMN session_client.retention_state.oldest IS 'When the oldest one was appended. The newest row of a partition is never deleted.';
COMMENT ON COLUMN session_client.retention_state.oldest_for IS 'How long ago that was.';
COMMENT ON COLUMN session_client.retention_state.held_back_by IS 'The consumer that has not handled rows which could go otherwise.';

CREATE VIEW session_client.bloat WITH (security_invoker = true) AS
SELECT s.schemaname::text AS schema, s.relname::text AS "table", s.n_live_tup AS live, s.n_dead_tup AS dead,
       pg_table_size(s.relid) AS table_bytes, pg_indexes_size(s.relid) AS index_bytes,
       round(100.0 * s.n_tup_hot_upd / nullif(s.n_tup_upd, 0), 1) AS hot_percent, s.autovacuum_count AS autovacuums,
       s.last_autovacuum, greatest(s.last_vacuum, s.last_autovacuum) AS last_vacuum
  FROM pg_stat_user_tables AS s
 WHERE s.schemaname IN ('session', 'contacts', 'notifications', 'session_client')
   AND (s.relname IN ('lease', 'member', 'batch', 'parked', 'attempt', 'outcome', 'timer', 'saga', 'saga_step')
        OR s.relname LIKE '%\_partition');
COMMENT ON VIEW session_client.bloat IS
    'The bus''s tables that change all the time: a few live rows each, and dead ones that somebody''s old snapshot keeps from being cleaned up (see holders). Numbers are the statistics'', some seconds old.';
COMMENT ON COLUMN session_client.bloat.schema IS 'Whose.';
COMMENT ON COLUMN session_client.bloat."table" IS 'Which one.';
COMMENT ON COLUMN session_client.bloat.live IS 'Rows.';
COMMENT ON COLUMN session_client.bloat.dead IS 'Row versions that nobody needs any more, or only who holds an old snapshot.';
COMMENT ON COLUMN session_client.bloat.table_bytes IS 'Size without indexes.';
COMMENT ON COLUMN session_client.bloat.index_bytes IS 'Size of its indexes.';
COMMENT ON COLUMN session_client.bloat.hot_percent IS 'How many of the updates needed no new index entry, in percent.';
COMMENT ON COLUMN session_client.bloat.autovacuums IS 'How often it was cleaned by itself.';
COMMENT ON COLUMN session_client.bloat.last_autovacuum IS 'When that was last.';
COMMENT ON COLUMN session_client.bloat.last_vacuum IS 'When it was last cleaned, by whomever.';

-- Who is connected ----------------------------------------------------------------------------------------------------

CREATE VIEW session_client.listeners WITH (security_invoker = true) AS
SELECT a.pid, a.usename::text AS role, a.application_name AS application, a.state,
       clock_timestamp() - a.backend_start AS connected_for, clock_timestamp() - a.state_change AS since_heard,
       a.query AS statement, pg_notification_queue_usage() AS queue_used
  FROM pg_stat_activity AS a
 WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.query ~* '^\s*(listen\M|select\s*;?\s*$)';
COMMENT ON VIEW session_client.listeners IS
    'Who hears doorbells: sessions whose last statement is LISTEN or, from then on every ten seconds, the services'' probe (an empty SELECT). PostgreSQL doesn''t say who listens otherwise.';
COMMENT ON COLUMN session_client.listeners.pid IS 'The session''s process on the server.';
COMMENT ON COLUMN session_client.listeners.role IS 'Who logged in.';
COMMENT ON COLUMN session_client.listeners.application IS 'What the session calls itself.';
COMMENT ON COLUMN session_client.listeners.state IS 'What it does; a listener is idle.';
COMMENT ON COLUMN session_client.listeners.connected_for IS 'How long it has been connected.';
COMMENT ON COLUMN session_client.listeners.since_heard IS 'How long ago it last asked something: more than ten seconds and a bit, and it is paused or cut off.';
COMMENT ON COLUMN session_client.listeners.statement IS 'Its last statement.';
COMMENT ON COLUMN session_client.listeners.queue_used IS 'How full the server''s queue of notifications is, from 0 to 1; it fills when a listener doesn''t read in a transaction that stays open.';

CREATE VIEW session_client.holders WITH (security_invoker = true) AS
SELECT 'session' AS what, a.pid, a.usename::text AS role, a.application_name AS name, a.state,
       greatest(age(a.backend_xmin), age(a.backend_xid)) AS holds_back,
       clock_timestamp() - a.xact_start AS in_transaction, a.query AS statement
  FROM pg_stat_activity AS a
 WHERE coalesce(a.backend_xmin, a.backend_xid) IS NOT NULL AND a.pid <> pg_backend_pid()
 UNION ALL
SELECT 'prepared transaction', NULL, p.owner::text, p.gid, 'prepared', age(p.transaction),
       clock_timestamp() - p.prepared, NULL
  FROM pg_prepared_xacts AS p
 UNION ALL
SELECT 'replication slot', s.active_pid, NULL, s.slot_name::text, CASE WHEN s.active THEN 'active' ELSE 'inactive' END,
       greatest(age(s.xmin), age(s.catalog_xmin)), NULL, NULL
  FROM pg_replication_slots AS s
 WHERE coalesce(s.xmin, s.catalog_xmin) IS NOT NULL;
COMMENT ON VIEW session_client.holders IS
    'Who keeps PostgreSQL from cleaning up dead rows, by an old snapshot or an open transaction.';
COMMENT ON COLUMN session_client.holders.what IS 'session, prepared transaction or replication slot.';
COMMENT ON COLUMN session_client.holders.pid IS 'The session''s process on the server: pg_terminate_backend ends it.';
COMMENT ON COLUMN session_client.holders.role IS 'Who logged in.';
COMMENT ON COLUMN session_client.holders.name IS 'What the session calls itself (application_name), or the name of the transaction or the slot.';
COMMENT ON COLUMN session_client.holders.state IS 'What it does.';
COMMENT ON COLUMN session_client.holders.holds_back IS 'How many transactions began since: the higher, the more dead rows it keeps.';
COMMENT ON COLUMN session_client.holders.in_transaction IS 'How long its transaction has been open.';
COMMENT ON COLUMN session_client.holders.statement IS 'Its last statement.';

-- What was said last -------------------------------------------------------------------------------------------------

CREATE FUNCTION session_client.newest_messages(at_most bigint) RETURNS SETOF session_client.messages
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
    WITH newest AS (
        -- Appended again, after a lost connection or because its sender asked again, a command is done once, where it came
        -- first.
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
    'The newest so many messages of all logs, newest first. A command that lies in its log twice is shown once, where it came first, if both are among the newest so many of their partition.';

-- What one request led to ---------------------------------------------------------------------------------------------

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
    'Where the messages with this message_id, command_id or correlation_id are: among the first so many rows of each partition of each log since a time, or the newest ones when it is null. These ids have no index.';

CREATE FUNCTION session_client.story(of_id uuid)
    RETURNS TABLE (at timestamptz, since_start interval, tree text, log text, partition int, "position" bigint, kind text,
                   outcome text, took interval, body text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    at_most    CONSTANT bigint := 50000;
    slack      CONSTANT interval := interval '5 seconds'; -- who makes ids may have another clock than the database
    since      timestamptz := session_client.time_of(of_id) - slack;
    request    uuid;
    earliest   timestamptz;
    logs       text[];
    partitions int[];
    positions  bigint[];
BEGIN
    SELECT s.correlation_id, s.started_at INTO request, earliest FROM session_client.saga AS s WHERE s.id = of_id;
    IF request IS NULL THEN
        -- Most are appended soon after they were made. Some are not, such as commands of an app that was offline.
        FOR attempt IN 1..3 LOOP
            CONTINUE WHEN since IS NULL AND attempt < 3;
            SELECT min(m.of_request::text)::uuid, min(m.appended_at),
                   array_agg(m.in_log), array_agg(m.in_partition), array_agg(m.at_position)
              INTO request, earliest, logs, partitions, positions
              FROM session_client.messages_of(of_id, CASE WHEN attempt < 3 THEN since END,
                                              CASE attempt WHEN 1 THEN at_most / 25 ELSE at_most END) AS m;
            EXIT WHEN logs IS NOT NULL;
        END LOOP;
        IF logs IS NULL THEN
            RAISE NOTICE 'no message, command, request or operation has the id % in the rows that were searched', of_id
                USING HINT = 'Which these are, the comment of session_client.story says.';
            RETURN;
        END IF;
    END IF;

    RETURN QUERY
    WITH RECURSIVE place AS MATERIALIZED (
        SELECT p.in_log, p.in_partition, p.at_position
          FROM unnest(logs, partitions, positions) AS p (in_log, in_partition, at_position)
         UNION
        SELECT m.in_log, m.in_partition, m.at_position
          FROM session_client.messages_of(
                   request, least(session_client.time_of(request), earliest) - slack, at_most) AS m
         WHERE request IS NOT NULL
    ), once AS (
        -- A command that was appended again did what it did the first time.
        SELECT DISTINCT ON (m.log, m.kind, CASE m.kind WHEN 'command' THEN m.command_id ELSE m.message_id END) m.*
          FROM place AS p
         CROSS JOIN LATERAL (SELECT m.log, m.partition, m.position, m.recorded_at, m.kind, m.type, m.outcome,
                                    m.message_id, m.command_id, m.causation_id, left(m.body::text, 80) AS body
                               FROM session_client.messages AS m
                              WHERE m.log = p.in_log AND m.partition = p.in_partition AND m.position = p.at_position
                              LIMIT 1) AS m
         ORDER BY m.log, m.kind, CASE m.kind WHEN 'command' THEN m.command_id ELSE m.message_id END, m.position
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
COMMENT ON FUNCTION session_client.story(uuid) IS
    'Everything that one request led to, as a tree by causes, by the id of the request (correlation_id), of any message or command in it, or of an operation. Columns: when; how long after the first; the type, under what caused it; where it is; kind; how the command ended; how long after its cause; the body''s first 80 characters. It looks at the first 50,000 rows of each partition of each log since the id was made, for the id, and since the request began, for the rest; and at the newest 50,000.';

CREATE FUNCTION session_client.last_story()
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
        RETURN QUERY SELECT s.* FROM session_client.story(request) AS s;
    END IF;
END
$$;
COMMENT ON FUNCTION session_client.last_story() IS
    'What session_client.story shows, for the newest request in the logs: that of the newest message without a cause among the newest 1,000 of each partition.';

GRANT SELECT ON session_client.messages, session_client.heads, session_client.batches, session_client.leases,
   session_client.workers, session_client.lag, session_client.throughput, session_client.biggest_keys,
   session_client.parked_messages, session_client.dead_letters, session_client.timers, session_client.retention_state,
   session_client.bloat, session_client.listeners, session_client.holders
   TO quartet_reader;
REVOKE EXECUTE ON FUNCTION session_client.time_of(uuid), session_client.position_before(text, int, timestamptz),
   session_client.batch_before(text, text, int, timestamptz), session_client.messages_of(uuid, timestamptz, bigint),
   session_client.newest_messages(bigint), session_client.story(uuid), session_client.last_story()
  FROM PUBLIC;
GRANT EXECUTE ON FUNCTION session_client.time_of(uuid), session_client.position_before(text, int, timestamptz),
   session_client.batch_before(text, text, int, timestamptz), session_client.messages_of(uuid, timestamptz, bigint),
   session_client.newest_messages(bigint), session_client.story(uuid), session_client.last_story()
   TO quartet_reader;
