-- A log: an append-only table for one audience, in numbered partitions, with gap-free positions.
-- Placeholders: schema, log, reader (the role that reads it), partitions (how many).

CREATE TABLE {{schema}}.{{log}}_partition (
    partition     int     CONSTRAINT {{log}}_partition_is_unique PRIMARY KEY,
    base_position bigint  NOT NULL DEFAULT 0
                          CONSTRAINT {{log}}_base_position_is_not_negative CHECK (base_position >= 0),
    lock          boolean CONSTRAINT {{log}}_lock_is_never_written CHECK (lock IS NULL),
    CONSTRAINT {{log}}_partition_is_not_negative CHECK (partition >= 0)
) WITH (fillfactor = 50);

COMMENT ON TABLE {{schema}}.{{log}}_partition IS
    'The partitions of {{schema}}.{{log}}. Who appends locks the row until the end of the transaction, so positions have no gaps and become visible in order.';
COMMENT ON COLUMN {{schema}}.{{log}}_partition.partition IS 'Number of the partition, from 0; the rows together say how many there are.';
COMMENT ON COLUMN {{schema}}.{{log}}_partition.base_position IS 'Where history begins: positions up to this one were deleted by retention.';
COMMENT ON COLUMN {{schema}}.{{log}}_partition.lock IS 'Always null: UPDATE on it is the right to lock the row, and nothing else.';

INSERT INTO {{schema}}.{{log}}_partition (partition)
SELECT n FROM generate_series(0, {{partitions}} - 1) AS n;

CREATE TABLE {{schema}}.{{log}} (
    partition      int         NOT NULL, -- no foreign key: its share lock would make MultiXacts with the partition's
    position       bigint      NOT NULL CONSTRAINT {{log}}_position_begins_at_one CHECK (position > 0),
    kind           text        NOT NULL CONSTRAINT {{log}}_kind_is_known CHECK (kind IN ('command', 'event', 'outcome')),
    type           text        NOT NULL CONSTRAINT {{log}}_type_is_a_name CHECK (length(type) BETWEEN 1 AND 100),
    version        smallint    NOT NULL CONSTRAINT {{log}}_version_begins_at_one CHECK (version > 0),
    key            text        NOT NULL CONSTRAINT {{log}}_key_is_short CHECK (octet_length(key) BETWEEN 1 AND 128),
    account        uuid,
    body           json        NOT NULL CONSTRAINT {{log}}_body_is_at_most_64_kb CHECK (octet_length(body::text) <= 65536),
    message_id     uuid        NOT NULL,
    command_id     uuid,
    outcome        text        CONSTRAINT {{log}}_outcome_is_known CHECK (outcome IN ('accepted', 'rejected', 'failed')),
    command_hash   uuid,
    correlation_id uuid,
    causation_id   uuid,
    trace_parent   text        CONSTRAINT {{log}}_trace_parent_is_short CHECK (length(trace_parent) <= 55),
    expires_at     timestamptz,
    recorded_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT {{log}}_position_is_unique PRIMARY KEY (partition, position),
    CONSTRAINT {{log}}_outcome_names_its_command
        CHECK (outcome IS NULL OR (command_id IS NOT NULL AND command_hash IS NOT NULL)),
    CONSTRAINT {{log}}_row_of_kind_outcome_has_one CHECK (kind <> 'outcome' OR outcome IS NOT NULL)
) WITH (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
        -- No plan depends on its statistics: it is found by its keys. An analyze takes half a second of a core.
        autovacuum_analyze_scale_factor = 1, autovacuum_analyze_threshold = 1000000);

COMMENT ON TABLE {{schema}}.{{log}} IS
    'What {{schema}} says to {{reader}}, for ever in this order. Append-only: its writer may INSERT and SELECT, nothing else.';
COMMENT ON COLUMN {{schema}}.{{log}}.partition IS 'Which shard; decided by the key ({{schema}}.{{log}}_partition_of).';
COMMENT ON COLUMN {{schema}}.{{log}}.position IS 'Gap-free number in the partition, in commit order.';
COMMENT ON COLUMN {{schema}}.{{log}}.kind IS 'command, event, or outcome (of a command that caused no event).';
COMMENT ON COLUMN {{schema}}.{{log}}.type IS 'Name of the body''s type, for example AddContact or ContactAdded.';
COMMENT ON COLUMN {{schema}}.{{log}}.version IS 'Version of the type; a version never changes its meaning.';
COMMENT ON COLUMN {{schema}}.{{log}}.key IS 'What keeps order: rows of one key are handled in the order of their positions.';
COMMENT ON COLUMN {{schema}}.{{log}}.account IS 'The account that asked; null where none did.';
COMMENT ON COLUMN {{schema}}.{{log}}.body IS 'The message itself, a JSON object of at most 64 kB.';
COMMENT ON COLUMN {{schema}}.{{log}}.message_id IS 'This row''s own id (UUIDv7).';
COMMENT ON COLUMN {{schema}}.{{log}}.command_id IS 'The command that is asked, or that led to this event or outcome.';
COMMENT ON COLUMN {{schema}}.{{log}}.outcome IS 'How the command ended, on the one row that carries its outcome: its first event, or a row of kind outcome.';
COMMENT ON COLUMN {{schema}}.{{log}}.command_hash IS 'Hash of the command whose outcome this row carries: tells a waiter whether it was its body.';
COMMENT ON COLUMN {{schema}}.{{log}}.correlation_id IS 'Shared by everything that one request led to.';
COMMENT ON COLUMN {{schema}}.{{log}}.causation_id IS 'message_id of the row that caused this one.';
COMMENT ON COLUMN {{schema}}.{{log}}.trace_parent IS 'W3C trace context (traceparent).';
COMMENT ON COLUMN {{schema}}.{{log}}.expires_at IS 'A command handled later than this is rejected as expired.';
COMMENT ON COLUMN {{schema}}.{{log}}.recorded_at IS 'When the row was appended, by the database''s clock.';

CREATE FUNCTION {{schema}}.{{log}}_partition_of(key text) RETURNS int
    LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT (('x' || encode(substr(sha256(convert_to(key, 'UTF8')), 1, 4), 'hex'))::bit(32)::bigint & 4294967295)
           % (SELECT count(*) FROM {{schema}}.{{log}}_partition);
END;
COMMENT ON FUNCTION {{schema}}.{{log}}_partition_of(text) IS
    'Where a key''s messages go: first four bytes of SHA-256 of the key, unsigned, modulo the number of partitions.';

GRANT SELECT, INSERT ON {{schema}}.{{log}} TO {{schema}};
GRANT SELECT ON {{schema}}.{{log}} TO {{reader}};
GRANT SELECT ON {{schema}}.{{log}}_partition TO {{schema}}, {{reader}};
GRANT UPDATE (lock) ON {{schema}}.{{log}}_partition TO {{schema}};
GRANT EXECUTE ON FUNCTION {{schema}}.{{log}}_partition_of(text) TO {{schema}}, {{reader}};
