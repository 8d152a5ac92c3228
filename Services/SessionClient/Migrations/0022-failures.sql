-- What failed, and what operators did about it.

CREATE VIEW session_client.parked_messages WITH (security_invoker = true) AS
SELECT p.consumer, p.source, p.partition, p.position, p.key, p.type,
       CASE WHEN p.is_discarded THEN 'discarded' WHEN p.cause IS NULL THEN 'waiting' ELSE 'retrying' END AS state,
       p.cause, p.attempts, p.retry_at - clock_timestamp() AS retry_in, clock_timestamp() - p.parked_at AS parked_for,
       p.error, p.needs AS waits_for, p.message_id, p.command_id, p.correlation_id, p.body
  FROM session_client.all_parked AS p;
COMMENT ON VIEW session_client.parked_messages IS
    'Messages that failed and will be retried, and the later messages of their keys, which wait behind them.';
COMMENT ON COLUMN session_client.parked_messages.consumer IS 'The service that can''t handle the message yet, by its schema.';
COMMENT ON COLUMN session_client.parked_messages.source IS 'The message''s log, as schema.table.';
COMMENT ON COLUMN session_client.parked_messages.partition IS 'Its partition.';
COMMENT ON COLUMN session_client.parked_messages.position IS 'Its position there.';
COMMENT ON COLUMN session_client.parked_messages.key IS 'Its key. The functions retry_parked and discard_parked of the consumer''s schema take source and key.';
COMMENT ON COLUMN session_client.parked_messages.type IS 'Name of its body''s type.';
COMMENT ON COLUMN session_client.parked_messages.state IS 'retrying; waiting (behind another message of its key); or discarded (an operator gave it up: it becomes a dead letter).';
COMMENT ON COLUMN session_client.parked_messages.cause IS 'error (its own fault), trouble (of the database or its environment), unknown (no replica knows what it needs) or crashed (it crashed its owners).';
COMMENT ON COLUMN session_client.parked_messages.attempts IS 'How often in a row it failed for this cause.';
COMMENT ON COLUMN session_client.parked_messages.retry_in IS 'Time until the next attempt; negative when that is due.';
COMMENT ON COLUMN session_client.parked_messages.parked_for IS 'How long it has been parked.';
COMMENT ON COLUMN session_client.parked_messages.error IS 'The latest error.';
COMMENT ON COLUMN session_client.parked_messages.waits_for IS 'What a replica has to know before the message can be handled: this type and version, or this enum value.';
COMMENT ON COLUMN session_client.parked_messages.message_id IS 'The message''s id.';
COMMENT ON COLUMN session_client.parked_messages.command_id IS 'The command''s id; for an event, that of the command that led to it.';
COMMENT ON COLUMN session_client.parked_messages.correlation_id IS 'The request that it belongs to: see session_client.story.';
COMMENT ON COLUMN session_client.parked_messages.body IS 'The message itself.';

CREATE VIEW session_client.dead_letters WITH (security_invoker = true) AS
SELECT d.consumer, coalesce(c.decision, 'open') AS state, d.died_at, d.type, d.key, d.code, d.error, d.attempts,
       c.decided_by, c.decided_at, c.reason, c.command_id AS retried_as,
       (SELECT o.outcome FROM session_client.all_outcomes AS o WHERE o.command_id = c.command_id LIMIT 1) AS retry_outcome,
       d.message_id, d.command_id, d.correlation_id, d.kind, d.source, d.partition, d.position, d.account, d.body
  FROM session_client.all_dead_letters AS d
  LEFT JOIN session_client.dead_letter_decision AS c ON c.message_id = d.message_id;
COMMENT ON VIEW session_client.dead_letters IS
    'Messages that kept failing, and what operators did about them by session_client.retry_dead_letter and discard_dead_letter.';
COMMENT ON COLUMN session_client.dead_letters.consumer IS 'The service that could not handle the message, by its schema.';
COMMENT ON COLUMN session_client.dead_letters.state IS 'open, retried or discarded.';
COMMENT ON COLUMN session_client.dead_letters.died_at IS 'When it was given up.';
COMMENT ON COLUMN session_client.dead_letters.type IS 'Name of its body''s type.';
COMMENT ON COLUMN session_client.dead_letters.key IS 'Its key.';
COMMENT ON COLUMN session_client.dead_letters.code IS 'error (it kept failing by its own fault), crashed (it crashed its owners) or discarded (by an operator, while it was parked).';
COMMENT ON COLUMN session_client.dead_letters.error IS 'The last error.';
COMMENT ON COLUMN session_client.dead_letters.attempts IS 'How often it was tried.';
COMMENT ON COLUMN session_client.dead_letters.decided_by IS 'The role that retried or discarded it.';
COMMENT ON COLUMN session_client.dead_letters.decided_at IS 'When it was retried or discarded.';
COMMENT ON COLUMN session_client.dead_letters.reason IS 'Why it was retried or discarded.';
COMMENT ON COLUMN session_client.dead_letters.retried_as IS 'The command that was sent instead.';
COMMENT ON COLUMN session_client.dead_letters.retry_outcome IS 'How that command ended; null while it hasn''t.';
COMMENT ON COLUMN session_client.dead_letters.message_id IS 'The message''s id, which retry_dead_letter and discard_dead_letter take.';
COMMENT ON COLUMN session_client.dead_letters.command_id IS 'The command''s id; its outcome is failed.';
COMMENT ON COLUMN session_client.dead_letters.correlation_id IS 'The request that it belonged to: see session_client.story.';
COMMENT ON COLUMN session_client.dead_letters.kind IS 'command, or event of a policy.';
COMMENT ON COLUMN session_client.dead_letters.source IS 'The message''s log, as schema.table.';
COMMENT ON COLUMN session_client.dead_letters.partition IS 'Its partition.';
COMMENT ON COLUMN session_client.dead_letters.position IS 'Its position there.';
COMMENT ON COLUMN session_client.dead_letters.account IS 'The account that asked.';
COMMENT ON COLUMN session_client.dead_letters.body IS 'The message as it was.';

CREATE VIEW session_client.operator_acts WITH (security_invoker = true) AS
SELECT a.acted_at, a.act, a.service, a.subject, a.reason, a.acted_as, k.name AS key_name, a.with_key, a.number
  FROM session_client.all_operator_acts AS a
  LEFT JOIN session_client.operator_key AS k ON k.id = a.with_key;
COMMENT ON VIEW session_client.operator_acts IS
    'What operators did, at psql and by /v1/operator: who, when and why. Ask for the newest of each service by number.';
COMMENT ON COLUMN session_client.operator_acts.acted_at IS 'When it was done.';
COMMENT ON COLUMN session_client.operator_acts.act IS 'The function that was called.';
COMMENT ON COLUMN session_client.operator_acts.service IS 'The schema that it belongs to.';
COMMENT ON COLUMN session_client.operator_acts.subject IS 'Its arguments, and what it did.';
COMMENT ON COLUMN session_client.operator_acts.reason IS 'Why, in the operator''s words.';
COMMENT ON COLUMN session_client.operator_acts.acted_as IS 'The role that logged in.';
COMMENT ON COLUMN session_client.operator_acts.key_name IS 'The name of the operator''s API key; null at psql.';
COMMENT ON COLUMN session_client.operator_acts.with_key IS 'The id of that key.';
COMMENT ON COLUMN session_client.operator_acts.number IS 'Numbers the acts of the schema.';
