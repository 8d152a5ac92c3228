-- What operators decided about dead letters. Belongs to the service that sends the commands, because it can send them
-- again. Placeholder: schema.

CREATE TABLE {{schema}}.dead_letter_decision (
    message_id uuid        CONSTRAINT dead_letter_is_decided_once PRIMARY KEY,
    decision   text        NOT NULL CONSTRAINT decision_is_known CHECK (decision IN ('retried', 'discarded')),
    command_id uuid,
    reason     text        CONSTRAINT decision_reason_is_short CHECK (length(reason) <= 1000),
    decided_by text        NOT NULL DEFAULT session_user,
    decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT decision_to_retry_names_its_command CHECK ((decision = 'retried') = (command_id IS NOT NULL))
);
COMMENT ON TABLE {{schema}}.dead_letter_decision IS 'What an operator decided about a dead letter of any service. Each is decided once.';
COMMENT ON COLUMN {{schema}}.dead_letter_decision.message_id IS 'The dead letter''s message_id.';
COMMENT ON COLUMN {{schema}}.dead_letter_decision.decision IS 'retried or discarded.';
COMMENT ON COLUMN {{schema}}.dead_letter_decision.command_id IS 'The command that was sent instead. Its causation_id is the dead letter''s message_id.';
COMMENT ON COLUMN {{schema}}.dead_letter_decision.reason IS 'Why.';
COMMENT ON COLUMN {{schema}}.dead_letter_decision.decided_by IS 'The role that decided.';
COMMENT ON COLUMN {{schema}}.dead_letter_decision.decided_at IS 'When it was decided.';

CREATE FUNCTION {{schema}}.new_id() RETURNS uuid
    LANGUAGE sql VOLATILE
    RETURN encode(set_bit(set_bit(overlay(
               uuid_send(gen_random_uuid())
               PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
               FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid;
COMMENT ON FUNCTION {{schema}}.new_id() IS 'A new id that begins with the time (UUIDv7, RFC 9562).';
