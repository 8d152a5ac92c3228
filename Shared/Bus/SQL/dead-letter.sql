-- What operators decide about dead letters, by the sender of commands, who can send them again. Placeholder: schema.

CREATE TABLE {{schema}}.dead_letter_decision (
    message_id uuid        CONSTRAINT dead_letter_is_decided_once PRIMARY KEY,
    decision   text        NOT NULL CONSTRAINT decision_is_known CHECK (decision IN ('retried', 'discarded')),
    command_id uuid,
    reason     text        CONSTRAINT decision_reason_is_short CHECK (length(reason) <= 1000),
    decided_by text        NOT NULL DEFAULT session_user,
    decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT decision_to_retry_names_its_command CHECK ((decision = 'retried') = (command_id IS NOT NULL))
);
COMMENT ON TABLE {{schema}}.dead_letter_decision IS 'What somebody did about a dead letter of any service: once, and by whom.';
COMMENT ON COLUMN {{schema}}.dead_letter_decision.message_id IS 'The dead letter.';
COMMENT ON COLUMN {{schema}}.dead_letter_decision.decision IS 'retried or discarded.';
COMMENT ON COLUMN {{schema}}.dead_letter_decision.command_id IS 'The command that was sent instead; its causation is the dead letter.';
COMMENT ON COLUMN {{schema}}.dead_letter_decision.reason IS 'Why it was discarded.';
COMMENT ON COLUMN {{schema}}.dead_letter_decision.decided_by IS 'Who logged in as whom.';
COMMENT ON COLUMN {{schema}}.dead_letter_decision.decided_at IS 'When.';

CREATE FUNCTION {{schema}}.new_id() RETURNS uuid
    LANGUAGE sql VOLATILE
    RETURN encode(set_bit(set_bit(overlay(
               uuid_send(gen_random_uuid())
               PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
               FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid;
COMMENT ON FUNCTION {{schema}}.new_id() IS 'A fresh id that carries its time (UUIDv7, RFC 9562).';
