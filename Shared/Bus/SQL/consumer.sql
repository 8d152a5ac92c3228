-- How far a consumer has come in the logs it reads, and which worker reads which partition. Placeholders: schema,
-- sender (the service whose logs it reads).

CREATE TABLE {{schema}}.batch (
    source     text                      NOT NULL,
    partition  int                       NOT NULL,
    number     {{schema}}.batch_number   NOT NULL,
    position   {{schema}}.batch_position NOT NULL,
    owner      uuid                      NOT NULL,
    epoch      bigint                    NOT NULL,
    given_time timestamptz               NOT NULL,
    messages   {{schema}}.batch_messages NOT NULL,
    -- The fence: two replicas that build on the same batch both insert its successor, and one of them fails.
    CONSTRAINT batch_has_one_successor PRIMARY KEY (source, partition, number)
) WITH (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
        -- No plan depends on the statistics: rows are found by key. Analyzing takes half a second of a core.
        autovacuum_analyze_scale_factor = 1, autovacuum_analyze_threshold = 1000000);

COMMENT ON TABLE {{schema}}.batch IS
    'One row per transaction that handled messages of a partition. The newest one says how far {{schema}} has come; the others are its throughput history.';
COMMENT ON COLUMN {{schema}}.batch.source IS 'The log, as schema.table.';
COMMENT ON COLUMN {{schema}}.batch.partition IS 'The log''s partition.';
COMMENT ON COLUMN {{schema}}.batch.number IS 'The previous batch''s number plus one.';
COMMENT ON COLUMN {{schema}}.batch.position IS 'Everything up to this position of the log is handled.';
COMMENT ON COLUMN {{schema}}.batch.owner IS 'The worker that committed the batch.';
COMMENT ON COLUMN {{schema}}.batch.epoch IS 'The epoch of the worker''s lease.';
COMMENT ON COLUMN {{schema}}.batch.given_time IS 'The time that the rules were given; never less than in the previous batch.';
COMMENT ON COLUMN {{schema}}.batch.messages IS 'How many messages the batch handled.';

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
    'Which worker handles which partition. Leases make the work efficient; the constraint batch_has_one_successor makes it safe.';
COMMENT ON COLUMN {{schema}}.lease.source IS 'The log, as schema.table.';
COMMENT ON COLUMN {{schema}}.lease.partition IS 'The log''s partition.';
COMMENT ON COLUMN {{schema}}.lease.owner IS 'The worker that holds the lease, by an id that is new at each start; null if the lease is free.';
COMMENT ON COLUMN {{schema}}.lease.epoch IS 'How often the lease was taken.';
COMMENT ON COLUMN {{schema}}.lease.lease_until IS 'When the lease ends unless it is renewed, by the database''s clock.';
COMMENT ON COLUMN {{schema}}.lease.released IS 'Whether the last owner gave the lease back: false while it is held and after a crash.';
COMMENT ON COLUMN {{schema}}.lease.needs IS 'What a message of the partition needed and a replica didn''t know: a type with its version, or an enum value. The partition goes to replicas that may know it, if there are any.';
COMMENT ON COLUMN {{schema}}.lease.trouble IS 'Why the partition rests: every attempt failed, and is repeated every few seconds. Null while it doesn''t rest.';
COMMENT ON COLUMN {{schema}}.lease.resting_since IS 'When the partition began to rest.';

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
    'The running workers of {{schema}}. The live workers of a source, sorted by slot and owner, share its partitions.';
COMMENT ON COLUMN {{schema}}.member.source IS 'The log that the worker reads, as schema.table.';
COMMENT ON COLUMN {{schema}}.member.owner IS 'The worker''s id, new at each start; the same as in lease.owner and pg_stat_activity.application_name.';
COMMENT ON COLUMN {{schema}}.member.slot IS 'The worker''s number within its process. Sorting by it first gives processes equal shares.';
COMMENT ON COLUMN {{schema}}.member.started_at IS 'When the worker started.';
COMMENT ON COLUMN {{schema}}.member.alive_until IS 'When the worker stops counting as alive, unless it sends another heartbeat.';
COMMENT ON COLUMN {{schema}}.member.cannot IS 'What the worker met and couldn''t read: types with their versions, or enum values. Compared with lease.needs.';

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
    'Deletes batches older than the interval, at most at_most per partition and never the newest. Returns how many.';

CREATE FUNCTION {{schema}}.accept_truncation(of_source text, why text, with_key uuid DEFAULT NULL) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place   record;
    skipped bigint := 0;
    base    bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM {{schema}}.lease AS l WHERE l.source = of_source) THEN
        RAISE EXCEPTION '{{schema}} reads no log named %', of_source
            USING HINT = 'SELECT DISTINCT source FROM {{schema}}.lease lists its logs.', ERRCODE = 'no_data_found';
    END IF;
    FOR place IN
        SELECT l.partition, b.number, b.position, b.given_time
          FROM {{schema}}.lease AS l
         CROSS JOIN LATERAL (SELECT n.number, n.position, n.given_time FROM {{schema}}.batch AS n
                              WHERE n.source = l.source AND n.partition = l.partition ORDER BY n.number DESC LIMIT 1) AS b
         WHERE l.source = of_source
    LOOP
        EXECUTE format('SELECT base_position FROM %I.%I WHERE partition = $1',
                       split_part(of_source, '.', 1), split_part(of_source, '.', 2) || '_partition')
           INTO base USING place.partition;
        CONTINUE WHEN base <= place.position;
        -- A batch without messages, which fences a worker that builds on the batch before it.
        INSERT INTO {{schema}}.batch (source, partition, number, position, owner, epoch, given_time, messages)
        VALUES (of_source, place.partition, place.number + 1, base, '00000000-0000-0000-0000-000000000000', 0,
                greatest(place.given_time, clock_timestamp()), 0);
        skipped := skipped + base - place.position;
    END LOOP;
    PERFORM {{schema}}.record_act(
        'accept_truncation', json_build_object('source', of_source, 'skipped', skipped), why, with_key);
    RETURN skipped;
END
$$;
COMMENT ON FUNCTION {{schema}}.accept_truncation(text, text, uuid) IS
    'For operators, when retention has deleted messages that {{schema}} hadn''t handled: goes on where the log now begins. Returns how many messages {{schema}} will never handle.';

GRANT SELECT, INSERT ON {{schema}}.batch TO {{schema}};
GRANT SELECT, INSERT, UPDATE ON {{schema}}.lease TO {{schema}};
GRANT SELECT, INSERT, UPDATE, DELETE ON {{schema}}.member TO {{schema}};
GRANT EXECUTE ON FUNCTION {{schema}}.delete_old_batches(interval, int) TO {{schema}};
GRANT EXECUTE ON FUNCTION {{schema}}.accept_truncation(text, text, uuid) TO quartet_operator;
-- The sender deletes only what is handled, so it has to know how far that is.
GRANT SELECT ON {{schema}}.batch, {{schema}}.lease TO {{sender}}_owner;

INSERT INTO {{schema}}.retention (subject, keep) VALUES ('batch', interval '1 day');
