-- What a consumer keeps about the logs it reads. Placeholder: schema.

CREATE TABLE {{schema}}.batch (
    source     text        NOT NULL,
    partition  int         NOT NULL,
    number     bigint      NOT NULL CONSTRAINT batch_number_begins_at_one CHECK (number > 0),
    position   bigint      NOT NULL CONSTRAINT batch_position_is_not_negative CHECK (position >= 0),
    owner      uuid        NOT NULL,
    epoch      bigint      NOT NULL,
    given_time timestamptz NOT NULL,
    messages   int         NOT NULL CONSTRAINT batch_messages_is_not_negative CHECK (messages >= 0),
    -- The fence: two replicas that build on one batch both insert its successor, and one of them fails.
    CONSTRAINT batch_has_one_successor PRIMARY KEY (source, partition, number)
) WITH (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000);

COMMENT ON TABLE {{schema}}.batch IS
    'One row per handled transaction of a partition; the newest one is how far {{schema}} has come. The others are its throughput history.';
COMMENT ON COLUMN {{schema}}.batch.source IS 'The log that was read, as schema.table.';
COMMENT ON COLUMN {{schema}}.batch.partition IS 'The log''s partition.';
COMMENT ON COLUMN {{schema}}.batch.number IS 'The batch before it plus one.';
COMMENT ON COLUMN {{schema}}.batch.position IS 'Everything up to this position of the source is handled.';
COMMENT ON COLUMN {{schema}}.batch.owner IS 'The worker that committed it.';
COMMENT ON COLUMN {{schema}}.batch.epoch IS 'The epoch of its lease.';
COMMENT ON COLUMN {{schema}}.batch.given_time IS 'The time that the rules were given; never less than the batch before.';
COMMENT ON COLUMN {{schema}}.batch.messages IS 'How many messages it handled.';

CREATE TABLE {{schema}}.lease (
    source      text    NOT NULL,
    partition   int     NOT NULL,
    owner       uuid,
    epoch       bigint  NOT NULL DEFAULT 0,
    lease_until timestamptz,
    released    boolean NOT NULL DEFAULT true,
    needs       text[]  NOT NULL DEFAULT '{}',
    trouble     text,
    resting_since timestamptz,
    CONSTRAINT lease_is_one_per_partition PRIMARY KEY (source, partition),
    CONSTRAINT lease_of_an_owner_ends CHECK (owner IS NULL OR lease_until IS NOT NULL),
    CONSTRAINT lease_of_a_resting_partition_says_why CHECK ((trouble IS NULL) = (resting_since IS NULL))
) WITH (fillfactor = 50);

COMMENT ON TABLE {{schema}}.lease IS
    'Which worker handles which partition. It makes work efficient; what makes it safe is batch_has_one_successor.';
COMMENT ON COLUMN {{schema}}.lease.source IS 'The log, as schema.table.';
COMMENT ON COLUMN {{schema}}.lease.partition IS 'The log''s partition.';
COMMENT ON COLUMN {{schema}}.lease.owner IS 'The worker that has it, fresh at each start; null when nobody has.';
COMMENT ON COLUMN {{schema}}.lease.epoch IS 'How often it was taken.';
COMMENT ON COLUMN {{schema}}.lease.lease_until IS 'Until when, unless renewed, by the database''s clock.';
COMMENT ON COLUMN {{schema}}.lease.released IS 'Whether the last owner gave it back: false after a crash.';
COMMENT ON COLUMN {{schema}}.lease.needs IS 'What a message of the partition needed that a replica didn''t know: a type with its version, or a word of one. Only replicas that may know it get the partition, if there are any.';
COMMENT ON COLUMN {{schema}}.lease.trouble IS 'Why the partition rests: everything that was tried failed, and is tried again every few seconds. Null while it doesn''t rest.';
COMMENT ON COLUMN {{schema}}.lease.resting_since IS 'Since when it rests.';

CREATE TABLE {{schema}}.member (
    source      text        NOT NULL,
    owner       uuid        NOT NULL,
    slot        int         NOT NULL CONSTRAINT member_slot_is_not_negative CHECK (slot >= 0),
    started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    alive_until timestamptz NOT NULL,
    cannot      text[]      NOT NULL DEFAULT '{}',
    CONSTRAINT member_is_one_per_worker PRIMARY KEY (source, owner)
) WITH (fillfactor = 50);

COMMENT ON TABLE {{schema}}.member IS
    'The running workers of {{schema}}: the live ones of a source, sorted by slot and owner, share its partitions.';
COMMENT ON COLUMN {{schema}}.member.source IS 'The log that it reads, as schema.table.';
COMMENT ON COLUMN {{schema}}.member.owner IS 'The worker, fresh at each start; as in lease.owner and in pg_stat_activity.application_name.';
COMMENT ON COLUMN {{schema}}.member.slot IS 'Its number among the workers of its process, so that processes get equal shares.';
COMMENT ON COLUMN {{schema}}.member.started_at IS 'When it started.';
COMMENT ON COLUMN {{schema}}.member.alive_until IS 'Until when it counts as alive unless it is heard of again.';
COMMENT ON COLUMN {{schema}}.member.cannot IS 'What it has met and couldn''t read: types with their versions, or words of one. Compared with lease.needs.';

CREATE FUNCTION {{schema}}.delete_old_batches(keep interval, at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    deleted bigint;
BEGIN
    WITH newest AS MATERIALIZED (
        SELECT l.source, l.partition,
               (SELECT b.number FROM {{schema}}.batch AS b
                 WHERE b.source = l.source AND b.partition = l.partition ORDER BY b.number DESC LIMIT 1) AS number
          FROM {{schema}}.lease AS l
    ), old AS (
        SELECT b.source, b.partition, b.number
          FROM newest AS n
         CROSS JOIN LATERAL (SELECT o.source, o.partition, o.number
                               FROM {{schema}}.batch AS o
                              WHERE o.source = n.source AND o.partition = n.partition AND o.number < n.number
                                AND o.given_time < clock_timestamp() - keep
                              ORDER BY o.number
                              LIMIT at_most) AS b
    )
    DELETE FROM {{schema}}.batch AS b USING old AS o
     WHERE b.source = o.source AND b.partition = o.partition AND b.number = o.number;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;
COMMENT ON FUNCTION {{schema}}.delete_old_batches(interval, int) IS
    'Deletes batches older than the interval, at most so many per partition, never the newest one. Returns how many.';
REVOKE EXECUTE ON FUNCTION {{schema}}.delete_old_batches(interval, int) FROM PUBLIC;

GRANT SELECT, INSERT ON {{schema}}.batch TO {{schema}};
GRANT SELECT, INSERT, UPDATE ON {{schema}}.lease TO {{schema}};
GRANT SELECT, INSERT, UPDATE, DELETE ON {{schema}}.member TO {{schema}};
GRANT EXECUTE ON FUNCTION {{schema}}.delete_old_batches(interval, int) TO {{schema}};
