-- What is due, what is kept, and what keeps PostgreSQL from cleaning up.

CREATE VIEW session_client.timers WITH (security_invoker = true) AS
SELECT t.service, t.due_at - statement_timestamp() AS due_in, t.due_at, t.key, t.name, t.type, left(t.body::text, 80) AS body
  FROM session_client.all_timers AS t;
COMMENT ON VIEW session_client.timers IS
    'Commands that services will send themselves. Ask ORDER BY due_at LIMIT n: there is one timer for each deadline of each account.';
COMMENT ON COLUMN session_client.timers.service IS 'The service, by its schema.';
COMMENT ON COLUMN session_client.timers.due_in IS 'Time until the command is due; negative when it is late.';
COMMENT ON COLUMN session_client.timers.due_at IS 'When the command is sent.';
COMMENT ON COLUMN session_client.timers.key IS 'The command''s key.';
COMMENT ON COLUMN session_client.timers.name IS 'The timer''s name, unique for its key.';
COMMENT ON COLUMN session_client.timers.type IS 'Name of the command''s type.';
COMMENT ON COLUMN session_client.timers.body IS 'The first 80 characters of the command.';

CREATE VIEW session_client.retention_state WITH (security_invoker = true) AS
WITH place AS (
    SELECT h.log, h.partition, h.base, h.head, m.recorded_at AS oldest, l.consumer, coalesce(b.position, 0) AS handled
      FROM session_client.heads AS h
      JOIN session_client.logs AS s ON s.log = h.log
      LEFT JOIN LATERAL (SELECT m.recorded_at FROM session_client.messages AS m
                          WHERE m.log = h.log AND m.partition = h.partition AND m.position = h.base + 1
                          LIMIT 1) AS m ON true
      -- A consumer that has never run has no leases, and retention doesn't wait for it.
      LEFT JOIN session_client.all_leases AS l ON l.consumer = s.consumer AND l.source = h.log AND l.partition = h.partition
      LEFT JOIN LATERAL (SELECT b.position FROM session_client.batches AS b
                          WHERE b.consumer = l.consumer AND b.source = l.source AND b.partition = l.partition
                          ORDER BY b.number DESC LIMIT 1) AS b ON true
)
SELECT p.log, r.keep, r.truncate_after, sum(p.head - p.base)::bigint AS rows, sum(p.base)::bigint AS deleted,
       min(p.oldest) AS oldest, clock_timestamp() - min(p.oldest) AS oldest_for,
       max(CASE WHEN p.oldest < clock_timestamp() - r.keep AND p.handled <= p.base THEN p.consumer END) AS held_back_by
  FROM place AS p
  JOIN session_client.all_retention AS r ON r.service || '.' || r.subject = p.log
 GROUP BY p.log, r.keep, r.truncate_after;
COMMENT ON VIEW session_client.retention_state IS
    'How long each log is kept, how much there is, and which consumer keeps it from being deleted. Change it with set_retention of the log''s schema.';
COMMENT ON COLUMN session_client.retention_state.log IS 'The log, as schema.table.';
COMMENT ON COLUMN session_client.retention_state.keep IS 'Rows are kept at least this long, and until they are handled.';
COMMENT ON COLUMN session_client.retention_state.truncate_after IS 'Older rows are deleted even if they aren''t handled; null if never.';
COMMENT ON COLUMN session_client.retention_state.rows IS 'How many rows there are.';
COMMENT ON COLUMN session_client.retention_state.deleted IS 'How many rows retention has deleted.';
COMMENT ON COLUMN session_client.retention_state.oldest IS 'When the oldest row was appended. The newest row of a partition is never deleted.';
COMMENT ON COLUMN session_client.retention_state.oldest_for IS 'How long ago that was.';
COMMENT ON COLUMN session_client.retention_state.held_back_by IS 'A consumer that hasn''t handled rows which could otherwise be deleted, by its schema.';

CREATE VIEW session_client.bloat WITH (security_invoker = true) AS
SELECT s.schemaname::text AS schema, s.relname::text AS "table", s.n_live_tup AS live, s.n_dead_tup AS dead,
       pg_table_size(s.relid) AS table_bytes, pg_indexes_size(s.relid) AS index_bytes,
       round(100.0 * s.n_tup_hot_upd / nullif(s.n_tup_upd, 0), 1) AS hot_percent, s.autovacuum_count AS autovacuums,
       s.last_autovacuum, greatest(s.last_vacuum, s.last_autovacuum) AS last_vacuum
  FROM pg_stat_user_tables AS s
 WHERE s.schemaname IN (SELECT split_part(l.log, '.', 1) FROM session_client.logs AS l)
   AND (s.relname IN ('lease', 'member', 'batch', 'parked', 'attempt', 'outcome', 'timer', 'saga', 'saga_step')
        OR s.relname LIKE '%\_partition');
COMMENT ON VIEW session_client.bloat IS
    'The bus''s tables that change all the time. Each should have few live rows; an old snapshot keeps dead ones from being cleaned up (see holders). The numbers come from the statistics, some seconds old.';
COMMENT ON COLUMN session_client.bloat.schema IS 'The table''s schema.';
COMMENT ON COLUMN session_client.bloat."table" IS 'The table.';
COMMENT ON COLUMN session_client.bloat.live IS 'Live rows.';
COMMENT ON COLUMN session_client.bloat.dead IS 'Row versions that no transaction needs, or only one with an old snapshot.';
COMMENT ON COLUMN session_client.bloat.table_bytes IS 'Size without indexes.';
COMMENT ON COLUMN session_client.bloat.index_bytes IS 'Size of the indexes.';
COMMENT ON COLUMN session_client.bloat.hot_percent IS 'Percentage of updates that needed no new index entry.';
COMMENT ON COLUMN session_client.bloat.autovacuums IS 'How often autovacuum cleaned the table.';
COMMENT ON COLUMN session_client.bloat.last_autovacuum IS 'When autovacuum last cleaned it.';
COMMENT ON COLUMN session_client.bloat.last_vacuum IS 'When it was last cleaned, by autovacuum or by hand.';

CREATE VIEW session_client.listeners WITH (security_invoker = true) AS
SELECT a.pid, a.usename::text AS role, a.application_name AS application, a.state,
       clock_timestamp() - a.backend_start AS connected_for, clock_timestamp() - a.state_change AS since_heard,
       a.query AS statement, pg_notification_queue_usage() AS queue_used
  FROM pg_stat_activity AS a
 WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.query ~* '^\s*(listen\M|select\s*;?\s*$)';
COMMENT ON VIEW session_client.listeners IS
    'Sessions that hear doorbells. PostgreSQL doesn''t list listeners, so these are the sessions whose last statement is LISTEN or, ten seconds later and from then on, the services'' probe (an empty SELECT).';
COMMENT ON COLUMN session_client.listeners.pid IS 'The session''s server process.';
COMMENT ON COLUMN session_client.listeners.role IS 'The role that logged in.';
COMMENT ON COLUMN session_client.listeners.application IS 'The session''s application_name.';
COMMENT ON COLUMN session_client.listeners.state IS 'What the session does; a listener is idle.';
COMMENT ON COLUMN session_client.listeners.connected_for IS 'How long it has been connected.';
COMMENT ON COLUMN session_client.listeners.since_heard IS 'How long ago its last statement ended. Much more than ten seconds means that it is paused or cut off.';
COMMENT ON COLUMN session_client.listeners.statement IS 'Its last statement.';
COMMENT ON COLUMN session_client.listeners.queue_used IS 'How full the server''s notification queue is, from 0 to 1. It fills up while a listener keeps a transaction open.';

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
    'What keeps PostgreSQL from cleaning up dead rows: old snapshots and open transactions.';
COMMENT ON COLUMN session_client.holders.what IS 'session, prepared transaction or replication slot.';
COMMENT ON COLUMN session_client.holders.pid IS 'The session''s server process; pg_terminate_backend ends it.';
COMMENT ON COLUMN session_client.holders.role IS 'The role that logged in, or prepared the transaction.';
COMMENT ON COLUMN session_client.holders.name IS 'The session''s application_name, or the name of the transaction or slot.';
COMMENT ON COLUMN session_client.holders.state IS 'What the session does, or the state of the transaction or slot.';
COMMENT ON COLUMN session_client.holders.holds_back IS 'How many transactions have begun since: the more, the more dead rows it keeps.';
COMMENT ON COLUMN session_client.holders.in_transaction IS 'How long its transaction has been open.';
COMMENT ON COLUMN session_client.holders.statement IS 'Its last statement.';
