-- The types of message and batch columns, with their constraints. Placeholder: schema.
--
-- Why domains: PostgreSQL prepares a table's CHECK for each INSERT statement, which was half the cost of appending a
-- row. It prepares a domain's CHECK once per session.

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

COMMENT ON DOMAIN {{schema}}.message_position IS 'A position in a log''s partition, from 1.';
COMMENT ON DOMAIN {{schema}}.message_kind IS 'The kind of a message: command, event, or outcome (of a command that caused no event).';
COMMENT ON DOMAIN {{schema}}.message_type IS 'The name of a body''s type.';
COMMENT ON DOMAIN {{schema}}.message_version IS 'The version of a body''s type, from 1.';
COMMENT ON DOMAIN {{schema}}.message_key IS 'The key of a message, 1 to 128 bytes. Messages with one key are handled in order.';
COMMENT ON DOMAIN {{schema}}.message_body IS 'A JSON object of at most 64 kB.';
COMMENT ON DOMAIN {{schema}}.message_outcome IS 'How a command ended: accepted, rejected or failed.';
COMMENT ON DOMAIN {{schema}}.trace_parent IS 'W3C trace context (traceparent), at most 55 characters.';
COMMENT ON DOMAIN {{schema}}.batch_number IS 'The number of a batch, from 1.';
COMMENT ON DOMAIN {{schema}}.batch_position IS 'The last position that a batch handled; 0 before the first message.';
COMMENT ON DOMAIN {{schema}}.batch_messages IS 'How many messages a batch handled.';
