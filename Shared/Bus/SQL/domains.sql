-- The invariants of single columns, as types. Placeholder: schema.
--
-- A CHECK of a table is parsed anew at each INSERT statement, which made up half of what appending one row cost; a
-- domain's is compiled once a session.

CREATE DOMAIN {{schema}}.message_position AS bigint CONSTRAINT position_begins_at_one CHECK (VALUE > 0);
CREATE DOMAIN {{schema}}.message_kind AS text CONSTRAINT kind_is_known CHECK (VALUE IN ('command', 'event', 'outcome'));
CREATE DOMAIN {{schema}}.message_type AS text CONSTRAINT type_is_a_name CHECK (length(VALUE) BETWEEN 1 AND 100);
CREATE DOMAIN {{schema}}.message_version AS smallint CONSTRAINT version_begins_at_one CHECK (VALUE > 0);
CREATE DOMAIN {{schema}}.message_key AS text CONSTRAINT key_is_short CHECK (octet_length(VALUE) BETWEEN 1 AND 128);
CREATE DOMAIN {{schema}}.message_body AS json CONSTRAINT body_is_at_most_64_kb CHECK (octet_length(VALUE::text) <= 65536);
CREATE DOMAIN {{schema}}.message_outcome AS text
    CONSTRAINT outcome_is_known CHECK (VALUE IN ('accepted', 'rejected', 'failed'));
CREATE DOMAIN {{schema}}.trace_parent AS text CONSTRAINT trace_parent_is_short CHECK (length(VALUE) <= 55);
CREATE DOMAIN {{schema}}.batch_number AS bigint CONSTRAINT batch_number_begins_at_one CHECK (VALUE > 0);
CREATE DOMAIN {{schema}}.batch_position AS bigint CONSTRAINT batch_position_is_not_negative CHECK (VALUE >= 0);
CREATE DOMAIN {{schema}}.batch_messages AS int CONSTRAINT batch_messages_is_not_negative CHECK (VALUE >= 0);

COMMENT ON DOMAIN {{schema}}.message_position IS 'A place in a partition, from 1.';
COMMENT ON DOMAIN {{schema}}.message_kind IS 'What a message is: command, event, or outcome (of a command that caused no event).';
COMMENT ON DOMAIN {{schema}}.message_type IS 'Name of a body''s type.';
COMMENT ON DOMAIN {{schema}}.message_version IS 'Version of a body''s type, from 1.';
COMMENT ON DOMAIN {{schema}}.message_key IS 'What keeps order: 1 to 128 bytes.';
COMMENT ON DOMAIN {{schema}}.message_body IS 'A JSON object of at most 64 kB.';
COMMENT ON DOMAIN {{schema}}.message_outcome IS 'How a command ended: accepted, rejected or failed.';
COMMENT ON DOMAIN {{schema}}.trace_parent IS 'W3C trace context (traceparent): at most 55 characters.';
COMMENT ON DOMAIN {{schema}}.batch_number IS 'Number of a batch, from 1.';
COMMENT ON DOMAIN {{schema}}.batch_position IS 'How far a batch came; 0 is before the first message.';
COMMENT ON DOMAIN {{schema}}.batch_messages IS 'How many messages a batch handled.';

ALTER TABLE {{schema}}.batch
    DROP CONSTRAINT batch_number_begins_at_one,
    DROP CONSTRAINT batch_position_is_not_negative,
    DROP CONSTRAINT batch_messages_is_not_negative,
    ALTER COLUMN number TYPE {{schema}}.batch_number,
    ALTER COLUMN position TYPE {{schema}}.batch_position,
    ALTER COLUMN messages TYPE {{schema}}.batch_messages;
