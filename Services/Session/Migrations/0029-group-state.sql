-- What session-client reads of group sessions.

CREATE FUNCTION session.with_member(object json, name text, value json) RETURNS json
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN value IS NULL THEN object
                ELSE (left(object::text, -1) || ',' || to_json(name)::text || ':' || value::text || '}')::json END;
COMMENT ON FUNCTION session.with_member(json, text, json) IS
    'An object that has members, with one more, unless that is NULL. The value stays as it is: json_strip_nulls() would change what apps wrote.';
GRANT EXECUTE ON FUNCTION session.with_member(json, text, json) TO session, session_client, quartet_reader;

-- The JSON is GroupState of the contract; a test holds the two together.
CREATE VIEW session.group_state AS
SELECT g.group_id,
       session.with_member(session.with_member(session.with_member(
           json_strip_nulls(json_build_object(
               'group', g.group_id,
               'creator', g.creator,
               'capacity', g.capacity,
               'seats', g.seats,
               'isOpenToContacts', g.is_open_to_contacts,
               'host', g.host,
               'participants', coalesce((
                   SELECT json_agg(json_build_object(
                              'id', p.account, 'ordinal', p.ordinal, 'joined', session.microseconds(p.since),
                              'awaySince', CASE WHEN p.is_drop_announced THEN session.microseconds(p.dropped_at) END,
                              'seat', p.seat, 'version', p.version, 'isReady', p.is_ready,
                              'suspension', CASE WHEN p.suspended_at IS NOT NULL THEN json_build_object(
                                  'reason', p.suspension_reason, 'since', session.microseconds(p.suspended_at),
                                  'until', session.microseconds(p.suspended_until),
                                  'participantLimit', p.suspension_limit) END) ORDER BY p.account)
                     FROM session.participant AS p
                    WHERE p.group_id = g.group_id AND p.status = 'joined'), '[]'),
               'invited', coalesce((
                   SELECT json_agg(json_build_object('id', p.account, 'at', session.microseconds(p.since)) ORDER BY p.account)
                     FROM session.participant AS p
                    WHERE p.group_id = g.group_id AND p.status = 'waiting'), '[]'),
               'playback', (
                   SELECT json_build_object(
                              'version', b.version, 'author', b.author, 'item', b.item, 'isPlaying', b.is_playing,
                              'isWaiting', b.is_waiting, 'rate', trim_scale(b.rate / 1000.0),
                              'position', (extract(epoch FROM b.position) * 1000000)::bigint,
                              'anchor', session.microseconds(b.anchor))
                     FROM session.playback AS b
                    WHERE b.group_id = g.group_id),
               'queue', coalesce((
                   SELECT json_agg(q.item ORDER BY q.rank)
                     FROM session.queue_item AS q
                    WHERE q.group_id = g.group_id), '[]'),
               'created', session.microseconds(g.created_at),
               'end', CASE WHEN g.ended_at IS NOT NULL THEN
                          json_build_object('reason', g.end_reason, 'by', g.ended_by, 'at', session.microseconds(g.ended_at))
                      END)),
           'activity', a.activity),
           'game', (
               SELECT session.with_member(
                          json_strip_nulls(json_build_object(
                              'number', m.number, 'version', m.version, 'author', m.author,
                              'updated', session.microseconds(m.updated_at), 'starts', session.microseconds(m.starts_at),
                              'turnField', m.turn_field, 'finished', session.microseconds(m.finished_at))),
                          'state', m.state)
                 FROM session.game AS m
                WHERE m.group_id = g.group_id)),
           'attachments', coalesce((
               SELECT json_agg(session.with_member(
                          json_build_object(
                              'id', encode(t.hash, 'hex'), 'account', t.account, 'name', d.name, 'contentType', d.content_type,
                              'size', t.size, 'added', session.microseconds(t.completed_at)),
                          'metadata', d.metadata) ORDER BY t.hash)
                 FROM session.attachment AS t
                 JOIN session.attachment_description AS d
                   ON d.group_id = t.group_id AND d.account = t.account AND d.hash = t.hash
                WHERE t.group_id = g.group_id AND t.completed_at IS NOT NULL), '[]')) AS state
  FROM session.group_session AS g
  JOIN session.group_activity AS a ON a.group_id = g.group_id;
COMMENT ON VIEW session.group_state IS 'The state of the stream group/<group session>, as JSON; read it together with the log''s position, in one statement. It names accounts by their ids alone.';
COMMENT ON COLUMN session.group_state.group_id IS 'The session.';
COMMENT ON COLUMN session.group_state.state IS 'GroupState of the contract; times in microseconds.';

CREATE VIEW session.group_participant AS
SELECT p.group_id, p.account, p.status, p.since, p.reason
  FROM session.participant AS p;
COMMENT ON VIEW session.group_participant IS 'How accounts stand to group sessions: decides who may read one.';
COMMENT ON COLUMN session.group_participant.group_id IS 'The session.';
COMMENT ON COLUMN session.group_participant.account IS 'Who.';
COMMENT ON COLUMN session.group_participant.status IS 'Whether they are invited (waiting), in (joined), or neither any more (invalidated).';
COMMENT ON COLUMN session.group_participant.since IS 'Since when.';
COMMENT ON COLUMN session.group_participant.reason IS 'Why they aren''t in or invited any more.';

CREATE VIEW session.group_attachment AS
SELECT t.group_id, t.hash, t.content, t.size, d.name, d.content_type
  FROM session.attachment AS t
  JOIN session.attachment_description AS d ON d.group_id = t.group_id AND d.account = t.account AND d.hash = t.hash
 WHERE t.completed_at IS NOT NULL;
COMMENT ON VIEW session.group_attachment IS 'Complete attachments of group sessions, to download.';
COMMENT ON COLUMN session.group_attachment.group_id IS 'The session.';
COMMENT ON COLUMN session.group_attachment.hash IS 'Its id: the SHA-256 of the hashes of its chunks.';
COMMENT ON COLUMN session.group_attachment.content IS 'Names its bytes in attachment_chunk.';
COMMENT ON COLUMN session.group_attachment.size IS 'In bytes.';
COMMENT ON COLUMN session.group_attachment.name IS 'The file''s name.';
COMMENT ON COLUMN session.group_attachment.content_type IS 'Its media type, as its uploader says.';

CREATE VIEW session.open_group AS
SELECT g.group_id, g.host, g.is_open_to_contacts, g.capacity, a.activity, g.created_at,
       (SELECT count(*) FROM session.participant AS p WHERE p.group_id = g.group_id AND p.status = 'joined') AS participants
  FROM session.group_session AS g
  JOIN session.group_activity AS a ON a.group_id = g.group_id
 WHERE g.ended_at IS NULL;
COMMENT ON VIEW session.open_group IS 'Group sessions that go on, as those see them who may join.';
COMMENT ON COLUMN session.open_group.group_id IS 'The session.';
COMMENT ON COLUMN session.open_group.host IS 'The host. NULL while nobody is in it.';
COMMENT ON COLUMN session.open_group.is_open_to_contacts IS 'Whether contacts of the host may join without an invitation.';
COMMENT ON COLUMN session.open_group.capacity IS 'How many people may be in it.';
COMMENT ON COLUMN session.open_group.activity IS 'What it is for: Activity of the contract.';
COMMENT ON COLUMN session.open_group.created_at IS 'When it began.';
COMMENT ON COLUMN session.open_group.participants IS 'How many people are in it.';

CREATE INDEX group_session_by_host ON session.group_session (host) WHERE is_open_to_contacts AND ended_at IS NULL;
COMMENT ON INDEX session.group_session_by_host IS 'The sessions that contacts of a host may join.';

GRANT SELECT ON session.group_state, session.group_participant, session.group_attachment, session.open_group TO session_client;
