-- A log's columns by their domains, and an append that does less: who calls it says which partitions there are and how
-- rows are numbered in each. Placeholders: schema, log.

ALTER TABLE {{schema}}.{{log}}
    DROP CONSTRAINT {{log}}_position_begins_at_one,
    DROP CONSTRAINT {{log}}_kind_is_known,
    DROP CONSTRAINT {{log}}_type_is_a_name,
    DROP CONSTRAINT {{log}}_version_begins_at_one,
    DROP CONSTRAINT {{log}}_key_is_short,
    DROP CONSTRAINT {{log}}_body_is_at_most_64_kb,
    DROP CONSTRAINT {{log}}_outcome_is_known,
    DROP CONSTRAINT {{log}}_trace_parent_is_short,
    DROP CONSTRAINT {{log}}_outcome_names_its_command,
    DROP CONSTRAINT {{log}}_row_of_kind_outcome_has_one,
    ALTER COLUMN position TYPE {{schema}}.message_position,
    ALTER COLUMN kind TYPE {{schema}}.message_kind,
    ALTER COLUMN type TYPE {{schema}}.message_type,
    ALTER COLUMN version TYPE {{schema}}.message_version,
    ALTER COLUMN key TYPE {{schema}}.message_key,
    ALTER COLUMN body TYPE {{schema}}.message_body,
    ALTER COLUMN outcome TYPE {{schema}}.message_outcome,
    ALTER COLUMN trace_parent TYPE {{schema}}.trace_parent,
    ADD CONSTRAINT {{log}}_row_is_whole CHECK (
        CASE WHEN outcome IS NULL THEN kind <> 'outcome' AND (kind = 'event' OR command_id IS NOT NULL)
             ELSE command_id IS NOT NULL AND command_hash IS NOT NULL END);

DROP FUNCTION {{schema}}.{{log}}_append;

-- One VOLATILE function: each statement inside has its own snapshot under READ COMMITTED, so positions are read after the
-- locks were had (one statement for both would read them before). And a half-sent pipeline holds no lock.
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

    -- A partition without its row gives NULL, which the position's NOT NULL refuses.
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
    'Appends rows: each names its partition by its place in into_partitions (distinct, ascending) and its number among the rows of that one, from 1; a time to live is in microseconds from now on. Returns, per partition, the position after which they begin. The last thing in a transaction: it locks the partitions until the end.';
GRANT EXECUTE ON FUNCTION {{schema}}.{{log}}_append TO {{schema}};
