-- A group session's state at any position of its stream. Its events are in session.log, among those of all other streams of the
-- partition, so session.group_stretch keeps their positions, in stretches of limited length. Each stretch but a session's first
-- begins with a checkpoint, the state at that position; folding the events of one stretch leads to any position in it.

CREATE TABLE session.group_stretch (
    group_id  uuid     NOT NULL CONSTRAINT stretch_is_of_a_session REFERENCES session.group_session ON DELETE CASCADE,
    since     bigint   NOT NULL CONSTRAINT since_is_not_negative CHECK (since >= 0),
    until     bigint,
    partition int      NOT NULL,
    positions bigint[] NOT NULL,
    size      bigint   NOT NULL CONSTRAINT size_is_not_negative CHECK (size >= 0),
    CONSTRAINT stretch_is_one_row PRIMARY KEY (group_id, since),
    CONSTRAINT events_come_after_its_beginning CHECK (positions[1] > since),
    CONSTRAINT stretch_ends_with_its_last_event CHECK (until = positions[cardinality(positions)])
) WITH (fillfactor = 50);
CREATE INDEX group_stretch_by_end ON session.group_stretch (partition, until) WHERE until IS NOT NULL;
COMMENT ON TABLE session.group_stretch IS 'Where the events of group sessions are in session.log. The trigger record_group_events adds them to a session''s last stretch, and begins another one after 64 events or 256 KiB.';
COMMENT ON INDEX session.group_stretch_by_end IS 'For deleting what retention made useless.';
COMMENT ON COLUMN session.group_stretch.group_id IS 'The session.';
COMMENT ON COLUMN session.group_stretch.since IS 'The position that the stretch begins after. The first one of a session begins at 0, before the session did.';
COMMENT ON COLUMN session.group_stretch.until IS 'Its last position, where the next stretch begins. NULL for a session''s last stretch.';
COMMENT ON COLUMN session.group_stretch.partition IS 'The partition of session.log.';
COMMENT ON COLUMN session.group_stretch.positions IS 'The positions of its events there, ascending.';
COMMENT ON COLUMN session.group_stretch.size IS 'Bytes in the bodies of these events.';
GRANT SELECT, INSERT, UPDATE ON session.group_stretch TO session;

CREATE TABLE session.group_checkpoint (
    group_id uuid   NOT NULL,
    position bigint NOT NULL,
    state    json   NOT NULL,
    CONSTRAINT checkpoint_is_one_row PRIMARY KEY (group_id, position),
    CONSTRAINT checkpoint_begins_a_stretch FOREIGN KEY (group_id, position) REFERENCES session.group_stretch ON DELETE CASCADE
);
COMMENT ON TABLE session.group_checkpoint IS 'The states of group sessions at the positions where stretches begin.';
COMMENT ON COLUMN session.group_checkpoint.group_id IS 'The session.';
COMMENT ON COLUMN session.group_checkpoint.position IS 'The position in the partition of session.log.';
COMMENT ON COLUMN session.group_checkpoint.state IS 'What session.group_state published at this position.';
GRANT SELECT, INSERT ON session.group_checkpoint TO session;
GRANT SELECT ON session.group_state TO session;

-- A trigger, because positions are known only once events are appended. The transaction holds the locks of these sessions and has
-- written their rows, so what the view shows is the state after their last events here.
CREATE FUNCTION session.record_group_events() RETURNS trigger
    LANGUAGE plpgsql
AS $$
DECLARE
    news    record;
    is_full boolean;
BEGIN
    FOR news IN
        SELECT substr(a.key, 7)::uuid AS group_id, a.partition, max(a.position)::bigint AS last,
               array_agg(a.position::bigint ORDER BY a.position) AS positions, sum(octet_length(a.body::text)) AS size
          FROM appended AS a
         WHERE a.kind = 'event' AND a.key LIKE 'group/%' AND a.type <> 'GroupMessageSent'
         GROUP BY a.key, a.partition
    LOOP
        UPDATE session.group_stretch AS s SET positions = s.positions || news.positions, size = s.size + news.size
         WHERE s.group_id = news.group_id
           AND s.since = (SELECT n.since FROM session.group_stretch AS n
                           WHERE n.group_id = news.group_id ORDER BY n.since DESC LIMIT 1)
        RETURNING cardinality(s.positions) >= 64 OR s.size >= 262144 INTO is_full;
        IF NOT FOUND THEN
            INSERT INTO session.group_stretch (group_id, since, partition, positions, size)
            VALUES (news.group_id, 0, news.partition, news.positions, news.size);
        ELSIF is_full THEN
            UPDATE session.group_stretch AS s SET until = news.last WHERE s.group_id = news.group_id AND s.until IS NULL;
            INSERT INTO session.group_stretch (group_id, since, partition, positions, size)
            VALUES (news.group_id, news.last, news.partition, '{}', 0);
            INSERT INTO session.group_checkpoint (group_id, position, state)
            SELECT g.group_id, news.last, g.state FROM session.group_state AS g WHERE g.group_id = news.group_id;
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION session.record_group_events() IS
    'Keeps the positions of group sessions'' events in session.group_stretch, and their states now and then in session.group_checkpoint.';
REVOKE EXECUTE ON FUNCTION session.record_group_events() FROM PUBLIC;
CREATE TRIGGER record_group_events
    AFTER INSERT ON session.log
    REFERENCING NEW TABLE AS appended
    FOR EACH STATEMENT EXECUTE FUNCTION session.record_group_events();

CREATE FUNCTION session.group_at(of_group uuid, at_position bigint)
    RETURNS TABLE ("position" bigint, state json, type text, version smallint, body json)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
    WITH stretch AS MATERIALIZED (
        SELECT s.partition, s.since, s.positions, s.last,
               s.last <= at_position
                   AND NOT EXISTS (SELECT FROM session.group_stretch AS n WHERE n.group_id = of_group AND n.since > s.since)
                   AS is_newest
          FROM (SELECT h.*, coalesce(h.positions[cardinality(h.positions)], h.since) AS last
                  FROM session.group_stretch AS h
                 WHERE h.group_id = of_group AND h.since <= at_position
                 ORDER BY h.since DESC
                 LIMIT 1) AS s
    )
    SELECT CASE WHEN s.is_newest THEN s.last ELSE s.since END,
           CASE WHEN s.is_newest THEN (SELECT g.state FROM session.group_state AS g WHERE g.group_id = of_group)
                ELSE (SELECT c.state FROM session.group_checkpoint AS c
                       WHERE c.group_id = of_group AND c.position = s.since) END,
           NULL, NULL, NULL
      FROM stretch AS s
     UNION ALL
    SELECT e.position, NULL, l.type, l.version, l.body
      FROM stretch AS s
     CROSS JOIN LATERAL unnest(s.positions) AS e(position)
      LEFT JOIN session.log AS l ON l.partition = s.partition AND l.position = e.position
     WHERE NOT s.is_newest AND e.position <= at_position
     ORDER BY 1
$$;
COMMENT ON FUNCTION session.group_at(uuid, bigint) IS
    'What gives a group session''s state at a position of its partition: first a row with the state (NULL before its first event) at an earlier position, then the events to fold. An event without a body is one that retention has deleted; without any row, all of it is gone.';
REVOKE EXECUTE ON FUNCTION session.group_at(uuid, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION session.group_at(uuid, bigint) TO session_client, quartet_operator;

CREATE FUNCTION session.delete_old_checkpoints(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
BEGIN
    -- Where the next stretch begins before history does, no position that can still be asked for needs this one.
    DELETE FROM session.group_stretch AS s
     WHERE s.ctid = ANY (ARRAY(
        SELECT old.ctid
          FROM session.log_partition AS p
         CROSS JOIN LATERAL (SELECT o.ctid FROM session.group_stretch AS o
                              WHERE o.partition = p.partition AND o.until <= p.base_position
                              ORDER BY o.until LIMIT at_most) AS old
         LIMIT at_most));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;
COMMENT ON FUNCTION session.delete_old_checkpoints(int) IS
    'Forgets at most so many stretches of group sessions whose events retention has deleted, with their checkpoints. A session''s last stretch stays. Returns how many.';
REVOKE EXECUTE ON FUNCTION session.delete_old_checkpoints(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION session.delete_old_checkpoints(int) TO session;
