-- How far each consumer has come, and which workers it has.

CREATE VIEW session_client.processes WITH (security_invoker = true) AS
SELECT a.application_name AS application, min(a.pid) AS pid
  FROM pg_stat_activity AS a
 WHERE a.datname = current_database()
 GROUP BY a.application_name;
COMMENT ON VIEW session_client.processes IS 'One session for each application_name that is connected to this database.';
COMMENT ON COLUMN session_client.processes.application IS 'The session''s application_name; a worker''s is its service and its id.';
COMMENT ON COLUMN session_client.processes.pid IS 'The session''s server process.';

CREATE VIEW session_client.leases WITH (security_invoker = true) AS
SELECT l.consumer, l.source, l.partition,
       CASE WHEN l.owner IS NULL THEN 'free' WHEN l.lease_until < clock_timestamp() THEN 'run out' ELSE 'held'
       END AS state,
       l.owner, l.epoch, l.lease_until - clock_timestamp() AS ends_in, l.released, p.application, p.pid,
       l.needs, l.trouble, l.resting_since
  FROM session_client.all_leases AS l
  LEFT JOIN session_client.processes AS p ON p.application = l.consumer || '/' || l.owner;
COMMENT ON VIEW session_client.leases IS
    'Which worker handles which partition, and by which session. A partition is listed once its consumer has run.';
COMMENT ON COLUMN session_client.leases.consumer IS 'The service that handles the partition, by its schema.';
COMMENT ON COLUMN session_client.leases.source IS 'The log, as schema.table.';
COMMENT ON COLUMN session_client.leases.partition IS 'The log''s partition.';
COMMENT ON COLUMN session_client.leases.state IS 'held; free (no worker has it); or run out (its owner is silent, and any worker may take it).';
COMMENT ON COLUMN session_client.leases.owner IS 'The worker that holds the lease, or held it until it ran out.';
COMMENT ON COLUMN session_client.leases.epoch IS 'How often the lease was taken.';
COMMENT ON COLUMN session_client.leases.ends_in IS 'Time left unless the lease is renewed; negative once it has run out.';
COMMENT ON COLUMN session_client.leases.released IS 'Whether the last owner gave the lease back: false while it is held and after a crash.';
COMMENT ON COLUMN session_client.leases.application IS 'The worker''s session, as pg_stat_activity.application_name; null if it isn''t connected.';
COMMENT ON COLUMN session_client.leases.pid IS 'The server process of that session.';
COMMENT ON COLUMN session_client.leases.needs IS 'What a message needed and a replica didn''t know: a type with its version, or an enum value. Replicas that may know it get the partition.';
COMMENT ON COLUMN session_client.leases.trouble IS 'Why the partition rests: every attempt fails, and is repeated every few seconds. Null while it doesn''t rest.';
COMMENT ON COLUMN session_client.leases.resting_since IS 'When the partition began to rest.';

CREATE VIEW session_client.workers WITH (security_invoker = true) AS
WITH member AS (
    SELECT m.consumer, m.source, m.owner, m.slot, m.started_at, m.alive_until,
           m.alive_until > clock_timestamp() AS is_alive
      FROM session_client.all_members AS m
), placed AS (
    SELECT m.*, row_number() OVER sharing - 1 AS place, count(*) OVER (PARTITION BY m.consumer, m.source, m.is_alive) AS workers
      FROM member AS m
    WINDOW sharing AS (PARTITION BY m.consumer, m.source, m.is_alive ORDER BY m.slot, m.owner)
), leased AS (
    SELECT l.consumer, l.source, count(*) AS partitions FROM session_client.leases AS l GROUP BY l.consumer, l.source
), held AS (
    SELECT l.consumer, l.source, l.owner, count(*) AS holds FROM session_client.leases AS l
     WHERE l.state = 'held' GROUP BY l.consumer, l.source, l.owner
)
SELECT m.consumer, m.source, m.owner, m.slot, clock_timestamp() - m.started_at AS running_for,
       m.alive_until - clock_timestamp() AS alive_for,
       CASE WHEN m.is_alive THEN (l.partitions - m.place + m.workers - 1) / m.workers ELSE 0 END AS share,
       coalesce(h.holds, 0) AS holds, p.application, p.pid
  FROM placed AS m
  LEFT JOIN leased AS l ON l.consumer = m.consumer AND l.source = m.source
  LEFT JOIN held AS h ON h.consumer = m.consumer AND h.source = m.source AND h.owner = m.owner
  LEFT JOIN session_client.processes AS p ON p.application = m.consumer || '/' || m.owner;
COMMENT ON VIEW session_client.workers IS
    'The workers of all consumers. The live workers of a source share its partitions evenly.';
COMMENT ON COLUMN session_client.workers.consumer IS 'The worker''s service, by its schema.';
COMMENT ON COLUMN session_client.workers.source IS 'The log that it handles, as schema.table.';
COMMENT ON COLUMN session_client.workers.owner IS 'The worker''s id, new at each start.';
COMMENT ON COLUMN session_client.workers.slot IS 'Its number among the workers of its process.';
COMMENT ON COLUMN session_client.workers.running_for IS 'How long ago it started.';
COMMENT ON COLUMN session_client.workers.alive_for IS 'How long it counts as alive without another heartbeat; negative once it no longer does.';
COMMENT ON COLUMN session_client.workers.share IS 'How many partitions it should have.';
COMMENT ON COLUMN session_client.workers.holds IS 'How many leases it holds; differs from its share while partitions change hands.';
COMMENT ON COLUMN session_client.workers.application IS 'Its session, as pg_stat_activity.application_name; null if it isn''t connected.';
COMMENT ON COLUMN session_client.workers.pid IS 'The server process of that session.';

CREATE VIEW session_client.lag WITH (security_invoker = true) AS
WITH consumer (consumer, source) AS (
    SELECT s.consumer, s.log FROM session_client.logs AS s WHERE s.consumer IS NOT NULL
     UNION
    SELECT l.consumer, l.source FROM session_client.all_leases AS l
), parked AS (
    SELECT p.consumer, p.source, p.partition, count(*) AS messages, min(p.position) AS first
      FROM session_client.all_parked AS p
     GROUP BY p.consumer, p.source, p.partition
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
       clock_timestamp() - p.given_time AS since_last_batch, l.owner, clock_timestamp() - l.resting_since AS resting_for,
       l.trouble
  FROM place AS p
  LEFT JOIN LATERAL (SELECT m.recorded_at FROM session_client.messages AS m
                      WHERE m.log = p.source AND m.partition = p.partition
                        AND m.position = greatest(p.handled, p.base) + 1 LIMIT 1) AS m ON true
  LEFT JOIN parked AS w ON w.consumer = p.consumer AND w.source = p.source AND w.partition = p.partition
  LEFT JOIN session_client.all_leases AS l ON l.consumer = p.consumer AND l.source = p.source AND l.partition = p.partition;
COMMENT ON VIEW session_client.lag IS
    'How far each consumer is behind in each partition of each log that it handles, even before its first run.';
COMMENT ON COLUMN session_client.lag.consumer IS 'The service that handles the log, by its schema.';
COMMENT ON COLUMN session_client.lag.source IS 'The log, as schema.table.';
COMMENT ON COLUMN session_client.lag.partition IS 'The log''s partition.';
COMMENT ON COLUMN session_client.lag.head IS 'The newest position.';
COMMENT ON COLUMN session_client.lag.handled IS 'Everything up to this position is handled or parked; 0 before the first batch.';
COMMENT ON COLUMN session_client.lag.behind IS 'How many rows come after that. A command that was appended again has two rows; handling the second does nothing.';
COMMENT ON COLUMN session_client.lag.behind_for IS 'How long ago the first of these rows was appended; null if there are none.';
COMMENT ON COLUMN session_client.lag.parked IS 'How many messages failed, or wait behind one that failed; they don''t count as behind.';
COMMENT ON COLUMN session_client.lag.first_parked IS 'The position of the first parked message.';
COMMENT ON COLUMN session_client.lag.lost IS 'How many messages retention deleted before they were handled: the consumer waits until an operator calls its accept_truncation.';
COMMENT ON COLUMN session_client.lag.since_last_batch IS 'How long ago the consumer last handled something here; null if it never did, or that batch was deleted.';
COMMENT ON COLUMN session_client.lag.owner IS 'The worker that holds the partition''s lease, or held it until it ran out; null if it is free.';
COMMENT ON COLUMN session_client.lag.resting_for IS 'How long the partition has been resting because every attempt fails; null while it doesn''t.';
COMMENT ON COLUMN session_client.lag.trouble IS 'Why it rests.';

CREATE VIEW session_client.throughput WITH (security_invoker = true) AS
SELECT l.consumer, l.source, count(b.messages) AS batches, coalesce(sum(b.messages), 0) AS messages,
       round(avg(b.messages), 1) AS per_batch, round(coalesce(sum(b.messages), 0) / 60.0, 1) AS per_second
  FROM session_client.all_leases AS l
 CROSS JOIN LATERAL (SELECT session_client.batch_before(l.consumer, l.source, l.partition,
                                                        statement_timestamp() - interval '1 minute') AS number
                     OFFSET 0) AS o -- OFFSET 0: evaluated once per partition
  LEFT JOIN LATERAL (SELECT b.messages FROM session_client.batches AS b
                      WHERE b.consumer = l.consumer AND b.source = l.source AND b.partition = l.partition
                        AND b.number > o.number
                      ORDER BY b.number OFFSET 0) AS b ON true -- ORDER BY and OFFSET 0: by the index, whatever the estimates say
 GROUP BY l.consumer, l.source;
COMMENT ON VIEW session_client.throughput IS
    'What was handled in the last minute. Reads the batches of that minute only; a binary search finds the first one.';
COMMENT ON COLUMN session_client.throughput.consumer IS 'The service that handled the messages, by its schema.';
COMMENT ON COLUMN session_client.throughput.source IS 'The log, as schema.table.';
COMMENT ON COLUMN session_client.throughput.batches IS 'How many batches, that is transactions.';
COMMENT ON COLUMN session_client.throughput.messages IS 'How many messages they handled.';
COMMENT ON COLUMN session_client.throughput.per_batch IS 'Messages per batch, on average.';
COMMENT ON COLUMN session_client.throughput.per_second IS 'Messages per second, averaged over the minute.';

CREATE VIEW session_client.biggest_keys WITH (security_invoker = true) AS
SELECT h.log, h.partition, m.key, count(DISTINCT m.id) AS messages,
       round(100.0 * count(DISTINCT m.id) / least(h.head - h.base, 250), 1) AS percent, max(m.recorded_at) AS newest
  FROM session_client.heads AS h
 CROSS JOIN LATERAL (SELECT m.key, m.recorded_at, CASE m.kind WHEN 'command' THEN m.command_id ELSE m.message_id END AS id
                       FROM session_client.messages AS m
                      WHERE m.log = h.log AND m.partition = h.partition
                        AND m.position > h.head - 250 AND m.position <= h.head
                      ORDER BY m.position DESC LIMIT 250) AS m -- ORDER BY and LIMIT: by the index, whatever the estimates say
 GROUP BY h.log, h.partition, h.head, h.base, m.key;
COMMENT ON VIEW session_client.biggest_keys IS
    'How many of the newest 250 messages of each partition of each log belong to which key. A key''s messages are handled one after the other, so a big key holds up its partition.';
COMMENT ON COLUMN session_client.biggest_keys.log IS 'The log, as schema.table.';
COMMENT ON COLUMN session_client.biggest_keys.partition IS 'The key''s partition.';
COMMENT ON COLUMN session_client.biggest_keys.key IS 'The key.';
COMMENT ON COLUMN session_client.biggest_keys.messages IS 'How many of the partition''s newest 250 messages have this key; a command that was appended again counts once.';
COMMENT ON COLUMN session_client.biggest_keys.percent IS 'The same, as a percentage of those messages.';
COMMENT ON COLUMN session_client.biggest_keys.newest IS 'When the key''s newest message was appended.';
