-- A log: an append-only table for one reader, in numbered partitions, with gap-free positions. Placeholders: schema,
-- log, reader (the service that handles or streams it), partitions (how many).

CREATE TABLE {{schema}}.{{log}}_partition (
    partition     int     CONSTRAINT {{log}}_partition_is_unique PRIMARY KEY,
    base_position bigint  NOT NULL DEFAULT 0
                          CONSTRAINT {{log}}_base_position_is_not_negative CHECK (base_position >= 0),
    lock          boolean CONSTRAINT {{log}}_lock_is_never_written CHECK (lock IS NULL),
    CONSTRAINT {{log}}_partition_is_not_negative CHECK (partition >= 0)
) WITH (fillfactor = 50);

COMMENT ON TABLE {{schema}}.{{log}}_partition IS
    'The partitions of {{schema}}.{{log}}. An append locks the partition''s row until its transaction ends, so positions have no gaps and become visible in order.';
COMMENT ON COLUMN {{schema}}.{{log}}_partition.partition IS 'The partition''s number, from 0. The number of rows is the number of partitions.';
COMMENT ON COLUMN {{schema}}.{{log}}_partition.base_position IS 'Where history begins: retention deleted the positions up to this one.';
COMMENT ON COLUMN {{schema}}.{{log}}_partition.lock IS 'Always null. The right to UPDATE it is the right to lock the row, and no other.';

INSERT INTO {{schema}}.{{log}}_partition (partition)
SELECT n FROM generate_series(0, {{partitions}} - 1) AS n;

CREATE TABLE {{schema}}.{{log}} (
    partition      int                        NOT NULL, -- a foreign key's share lock would make MultiXacts with ours
    position       {{schema}}.message_position NOT NULL,
    kind           {{schema}}.message_kind     NOT NULL,
    type           {{schema}}.message_type     NOT NULL,
    version        {{schema}}.message_version  NOT NULL,
    key            {{schema}}.message_key      NOT NULL,
    account        uuid,
    body           {{schema}}.message_body     NOT NULL,
    message_id     uuid                       NOT NULL,
    command_id     uuid,
    outcome        {{schema}}.message_outcome,
    command_hash   uuid,
    correlation_id uuid,
    causation_id   uuid,
    trace_parent   {{schema}}.trace_parent,
    expires_at     timestamptz,
    recorded_at    timestamptz                NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT {{log}}_position_is_unique PRIMARY KEY (partition, position),
    CONSTRAINT {{log}}_row_is_whole CHECK (
        CASE WHEN outcome IS NULL THEN kind <> 'outcome' AND (kind = 'event' OR command_id IS NOT NULL)
             ELSE command_id IS NOT NULL AND command_hash IS NOT NULL END)
) WITH (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
        -- No plan depends on the statistics: rows are found by key. Analyzing takes half a second of a core.
        autovacuum_analyze_scale_factor = 1, autovacuum_analyze_threshold = 1000000);
CREATE INDEX {{log}}_by_request ON {{schema}}.{{log}} (correlation_id) WHERE correlation_id IS NOT NULL;

COMMENT ON TABLE {{schema}}.{{log}} IS
    'Messages from {{schema}} to {{reader}}, in their final order. Append-only: the writer may INSERT and SELECT, nothing else.';
COMMENT ON INDEX {{schema}}.{{log}}_by_request IS
    'Finds what one request led to, for operators. Ids begin with their time, so new entries go to the end.';
COMMENT ON COLUMN {{schema}}.{{log}}.partition IS 'The partition, which follows from the key ({{log}}_partition_of).';
COMMENT ON COLUMN {{schema}}.{{log}}.position IS 'Gap-free number in the partition, in commit order.';
COMMENT ON COLUMN {{schema}}.{{log}}.kind IS 'command, event, or outcome (of a command that caused no event).';
COMMENT ON COLUMN {{schema}}.{{log}}.type IS 'Name of the body''s type, for example AddContact or ContactAdded.';
COMMENT ON COLUMN {{schema}}.{{log}}.version IS 'Version of the type. The meaning of a version never changes.';
COMMENT ON COLUMN {{schema}}.{{log}}.key IS 'Messages with one key are handled in the order of their positions.';
COMMENT ON COLUMN {{schema}}.{{log}}.account IS 'The account that asked; null if none did.';
COMMENT ON COLUMN {{schema}}.{{log}}.body IS 'The message itself, a JSON object of at most 64 kB.';
COMMENT ON COLUMN {{schema}}.{{log}}.message_id IS 'The row''s own id (UUIDv7).';
COMMENT ON COLUMN {{schema}}.{{log}}.command_id IS 'The command''s id; for an event or outcome, that of the command that led to it.';
COMMENT ON COLUMN {{schema}}.{{log}}.outcome IS 'How the command ended. One row carries it: the command''s first event, or a row of kind outcome.';
COMMENT ON COLUMN {{schema}}.{{log}}.command_hash IS 'Hash of the command whose outcome the row carries, which tells a waiting sender whether that was its body.';
COMMENT ON COLUMN {{schema}}.{{log}}.correlation_id IS 'Shared by everything that one request led to.';
COMMENT ON COLUMN {{schema}}.{{log}}.causation_id IS 'The message_id of the row that caused this one.';
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
    'The partition of a key: the first four bytes of the key''s SHA-256, unsigned, modulo the number of partitions.';

-- One VOLATILE function: under READ COMMITTED each statement in it has a snapshot of its own, so it reads positions
-- after it has the locks. A single statement would read them before. And a pipeline that was sent by half holds no
-- lock.
CREATE FUNCTION {{schema}}.{{log}}_append(
    into_partitions int[], slots int[], ordinals int[], kinds text[], types text[], versions smallint[], keys text[],
    accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[],
    correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]
) RETURNS bigint[]
    LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    heads bigint[];
BEGIN
    PERFORM FROM {{schema}}.{{log}}_partition AS p
      WHERE p.partition = ANY (into_partitions)
      ORDER BY p.partition
        FOR NO KEY UPDATE;

    -- A partition without a row gives NULL, which the position's NOT NULL refuses.
    heads := ARRAY(
        SELECT (SELECT p.base_position + greatest(coalesce((SELECT l.position
                                                              FROM {{schema}}.{{log}} AS l
                                                             WHERE l.partition = p.partition
                                                             ORDER BY l.position DESC
                                                             LIMIT 1), 0) - p.base_position, 0)
                  FROM {{schema}}.{{log}}_partition AS p
                 WHERE p.partition = i.partition)
          FROM unnest(into_partitions) WITH ORDINALITY AS i(partition, slot)
         ORDER BY i.slot);

    INSERT INTO {{schema}}.{{log}}
           (partition, position, kind, type, version, key, account, body, message_id, command_id, outcome,
            command_hash, correlation_id, causation_id, trace_parent, expires_at)
    SELECT into_partitions[u.slot], heads[u.slot] + u.ordinal,
           u.kind, u.type, u.version, u.key, u.account, u.body, u.message_id, u.command_id, u.outcome,
           u.command_hash, u.correlation_id, u.causation_id, u.trace_parent,
           clock_timestamp() + u.time_to_live * interval '1 microsecond'
      FROM unnest(slots, ordinals, kinds, types, versions, keys, accounts, bodies, message_ids, command_ids, outcomes,
                  command_hashes, correlation_ids, causation_ids, trace_parents, times_to_live)
           AS u(slot, ordinal, kind, type, version, key, account, body, message_id, command_id, outcome, command_hash,
                correlation_id, causation_id, trace_parent, time_to_live);
    RETURN heads;
END
$$;
COMMENT ON FUNCTION {{schema}}.{{log}}_append IS
    'Appends rows. into_partitions is distinct and ascending; each row has a slot, the index of its partition there, an ordinal among the partition''s rows, from 1, and a time to live in microseconds from now. Returns, per partition, the position before the first new row. Call it last in a transaction: it locks the partitions until the end.';

GRANT SELECT, INSERT ON {{schema}}.{{log}} TO {{schema}};
GRANT SELECT ON {{schema}}.{{log}} TO {{reader}};
-- The reader's owner asks where history begins (accept_truncation).
GRANT SELECT ON {{schema}}.{{log}}_partition TO {{schema}}, {{reader}}, {{reader}}_owner;
GRANT UPDATE (lock) ON {{schema}}.{{log}}_partition TO {{schema}};
GRANT EXECUTE ON FUNCTION {{schema}}.{{log}}_append TO {{schema}};
GRANT EXECUTE ON FUNCTION {{schema}}.{{log}}_partition_of(text) TO {{schema}}, {{reader}}, quartet_reader;
