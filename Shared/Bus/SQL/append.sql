-- How rows get into a log. Placeholders: schema, log.
--
-- One VOLATILE function: each statement inside has its own snapshot under READ COMMITTED, so the position is read
-- after the lock was had (one statement for both would read it before). And a half-sent pipeline holds no lock.

CREATE FUNCTION {{schema}}.{{log}}_append(
    partitions int[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[],
    message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[],
    causation_ids uuid[], trace_parents text[], times_to_live bigint[]
) RETURNS TABLE (in_partition int, after_position bigint)
    LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    PERFORM FROM {{schema}}.{{log}}_partition AS p
      WHERE p.partition = ANY (partitions)
      ORDER BY p.partition
        FOR NO KEY UPDATE;

    RETURN QUERY
    WITH head AS MATERIALIZED (
        SELECT p.partition,
               p.base_position + greatest(coalesce((SELECT l.position
                                                      FROM {{schema}}.{{log}} AS l
                                                     WHERE l.partition = p.partition
                                                     ORDER BY l.position DESC
                                                     LIMIT 1), 0) - p.base_position, 0) AS last
          FROM {{schema}}.{{log}}_partition AS p
         WHERE p.partition = ANY (partitions)
    ), appended AS (
        INSERT INTO {{schema}}.{{log}} AS l
               (partition, position, kind, type, version, key, account, body, message_id, command_id, outcome,
                command_hash, correlation_id, causation_id, trace_parent, expires_at)
        -- LEFT JOIN: a partition without its row gives NULL, which the position's NOT NULL refuses.
        SELECT u.partition, h.last + row_number() OVER (PARTITION BY u.partition ORDER BY u.ordinal),
               u.kind, u.type, u.version, u.key, u.account, u.body, u.message_id, u.command_id, u.outcome,
               u.command_hash, u.correlation_id, u.causation_id, u.trace_parent,
               clock_timestamp() + u.time_to_live * interval '1 microsecond'
          FROM unnest(partitions, kinds, types, versions, keys, accounts, bodies, message_ids, command_ids, outcomes,
                      command_hashes, correlation_ids, causation_ids, trace_parents, times_to_live)
               WITH ORDINALITY
               AS u(partition, kind, type, version, key, account, body, message_id, command_id, outcome, command_hash,
                    correlation_id, causation_id, trace_parent, time_to_live, ordinal)
          LEFT JOIN head AS h ON h.partition = u.partition
    )
    SELECT h.partition, h.last FROM head AS h ORDER BY h.partition;
END
$$;
COMMENT ON FUNCTION {{schema}}.{{log}}_append IS
    'Appends rows in the order given and returns, per partition, the position after which they begin. The last thing in a transaction: it locks the partitions until the end.';
GRANT EXECUTE ON FUNCTION {{schema}}.{{log}}_append TO {{schema}};
