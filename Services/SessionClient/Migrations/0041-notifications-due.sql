-- notifications has timers now, and a log of its own that it handles: the views of all logs and timers show them, too. Their
-- columns, comments and grants stay as they are.

CREATE OR REPLACE VIEW session_client.messages (log, partition, position, recorded_at, kind, type, key, account, outcome,
                                                message_id, command_id, correlation_id, causation_id, body)
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
SELECT 'notifications.due', m.partition, m.position::bigint, m.recorded_at, m.kind::text, m.type::text,
       m.key::text, m.account, m.outcome::text, m.message_id, m.command_id, m.correlation_id, m.causation_id,
       m.body::json
  FROM notifications.due AS m
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

CREATE OR REPLACE VIEW session_client.heads (log, partition, base, head, recorded_at) WITH (security_invoker = true) AS
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
SELECT 'notifications.due', p.partition, p.base_position, coalesce(m.position, p.base_position),
       m.recorded_at
  FROM notifications.due_partition AS p
  LEFT JOIN LATERAL (SELECT m.position, m.recorded_at FROM notifications.due AS m
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

CREATE OR REPLACE VIEW session_client.lag WITH (security_invoker = true) AS
WITH consumer (consumer, source) AS (
    VALUES ('session', 'session_client.session_commands'), ('session', 'session.due'),
           ('contacts', 'session_client.contacts_commands'), ('notifications', 'session_client.notifications_commands'),
           ('notifications', 'notifications.due'), ('session_client', 'session.log'), ('session_client', 'contacts.log')
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
       clock_timestamp() - p.given_time AS since_last_batch, l.owner, clock_timestamp() - l.resting_since AS resting_for,
       l.trouble
  FROM place AS p
  LEFT JOIN LATERAL (SELECT m.recorded_at FROM session_client.messages AS m
                      WHERE m.log = p.source AND m.partition = p.partition
                        AND m.position = greatest(p.handled, p.base) + 1 LIMIT 1) AS m ON true
  LEFT JOIN parked AS w ON w.consumer = p.consumer AND w.source = p.source AND w.partition = p.partition
  LEFT JOIN session_client.leases AS l ON l.consumer = p.consumer AND l.source = p.source AND l.partition = p.partition;
COMMENT ON COLUMN session_client.lag.resting_for IS 'How long the partition has been resting because whatever was tried failed; null while it doesn''t.';
COMMENT ON COLUMN session_client.lag.trouble IS 'Why it rests.';

CREATE OR REPLACE VIEW session_client.timers WITH (security_invoker = true) AS
SELECT 'session' AS service, t.due_at - clock_timestamp() AS due_in, t.due_at, t.key, t.name, t.type,
       left(t.body::text, 80) AS body
  FROM session.timer AS t
 UNION ALL
SELECT 'notifications', t.due_at - clock_timestamp(), t.due_at, t.key, t.name, t.type, left(t.body::text, 80)
  FROM notifications.timer AS t;

CREATE OR REPLACE VIEW session_client.retention_state WITH (security_invoker = true) AS
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
                WHEN 'notifications.due' THEN notifications.due_handled(h.partition)
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
                                WHEN 'notifications.due' THEN 'notifications'
                                ELSE 'session_client' END END) AS held_back_by
  FROM place AS p
  JOIN rule AS r ON r.log = p.log
 GROUP BY p.log, r.keep, r.truncate_after;
