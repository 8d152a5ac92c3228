-- The columns that families.sql added to each service's table.
SELECT session_client.create_union_views();
COMMENT ON COLUMN session_client.all_parked.key IS 'The message''s key.';

CREATE OR REPLACE VIEW session_client.parked_messages WITH (security_invoker = true) AS
SELECT p.consumer, p.source, p.partition, p.position, p.key, p.type,
       CASE WHEN p.is_discarded THEN 'discarded' WHEN p.cause IS NULL THEN 'waiting' ELSE 'retrying' END AS state,
       p.cause, p.attempts, p.retry_at - clock_timestamp() AS retry_in, clock_timestamp() - p.parked_at AS parked_for,
       p.error, p.needs AS waits_for, p.message_id, p.command_id, p.correlation_id, p.body, p.family, p.ends_connections
  FROM session_client.all_parked AS p;
COMMENT ON VIEW session_client.parked_messages IS
    'Messages that failed and will be retried, and the later messages of their keys and families, which wait behind them.';
COMMENT ON COLUMN session_client.parked_messages.state IS 'retrying; waiting (behind another message of its key and family); or discarded (an operator gave it up: it becomes a dead letter).';
COMMENT ON COLUMN session_client.parked_messages.family IS
    'regular, urgent with what it is about (lives may depend on it), unknown with what the message needs, or alone with its id (it failed for long, and nobody would send it again). A message holds back only later ones of its key and family.';
COMMENT ON COLUMN session_client.parked_messages.ends_connections IS
    'Whether the connection was lost each time the message was tried alone, so that it may be what ends the server''s process.';
