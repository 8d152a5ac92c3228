-- Reliable messages of group sessions. A session keeps its newest ones until it is over.

CREATE TABLE session.message_history (
    group_id   uuid    NOT NULL CONSTRAINT message_history_is_one_row PRIMARY KEY
        CONSTRAINT messages_are_of_a_session REFERENCES session.group_session ON DELETE CASCADE,
    sent       bigint  NOT NULL CONSTRAINT history_begins_with_a_message CHECK (sent > 0),
    bytes      bigint  NOT NULL CONSTRAINT each_message_has_bytes CHECK (bytes >= sent),
    first_kept bigint  NOT NULL CONSTRAINT kept_messages_are_the_newest CHECK (first_kept BETWEEN 1 AND sent + 1),
    is_over    boolean NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX message_history_over ON session.message_history (group_id) WHERE is_over;
COMMENT ON TABLE session.message_history IS 'What was sent in each group session so far, and what is kept of it.';
COMMENT ON INDEX session.message_history_over IS 'For deleting the messages of sessions that are over.';
COMMENT ON COLUMN session.message_history.group_id IS 'The session.';
COMMENT ON COLUMN session.message_history.sent IS 'The number of messages; also the number of the last one.';
COMMENT ON COLUMN session.message_history.bytes IS 'The bytes of all of them, types and data.';
COMMENT ON COLUMN session.message_history.first_kept IS 'The number of the oldest message that is kept.';
COMMENT ON COLUMN session.message_history.is_over IS 'Whether the session ended. Nobody sees its messages any more, and they are deleted soon.';
GRANT SELECT, INSERT, UPDATE ON session.message_history TO session;

CREATE TABLE session.group_message (
    group_id    uuid        NOT NULL
        CONSTRAINT message_has_a_history REFERENCES session.message_history ON DELETE CASCADE,
    number      bigint      NOT NULL CONSTRAINT message_number_begins_at_one CHECK (number > 0),
    sender      uuid        NOT NULL,
    recipients  json        CONSTRAINT recipients_are_an_array CHECK (json_typeof(recipients) = 'array'),
    type        text        CONSTRAINT type_is_a_name CHECK (type ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
    data        json        CONSTRAINT data_is_at_most_forty_five_thousand_bytes CHECK (octet_length(data::text) <= 45000),
    sent_at     timestamptz NOT NULL,
    byte_offset bigint      NOT NULL CONSTRAINT offset_begins_at_zero CHECK (byte_offset >= 0),
    CONSTRAINT message_is_one_row PRIMARY KEY (group_id, number),
    CONSTRAINT message_begins_where_another_ends UNIQUE (group_id, byte_offset),
    CONSTRAINT emptied_message_has_nothing CHECK (type IS NOT NULL OR (data IS NULL AND recipients IS NULL))
);
CREATE INDEX group_message_by_sender ON session.group_message (sender) WHERE type IS NOT NULL;
COMMENT ON TABLE session.group_message IS 'The messages that group sessions keep. Numbers have no gaps between the oldest and the newest one.';
COMMENT ON INDEX session.group_message_by_sender IS 'For emptying the messages of closed accounts.';
COMMENT ON COLUMN session.group_message.group_id IS 'The session.';
COMMENT ON COLUMN session.group_message.number IS 'Counts the messages of the session, from 1.';
COMMENT ON COLUMN session.group_message.sender IS 'The sender.';
COMMENT ON COLUMN session.group_message.recipients IS 'The accounts that may read it besides the sender. NULL if everyone in the session may.';
COMMENT ON COLUMN session.group_message.type IS 'What it is. NULL if it was emptied because its sender''s account was closed.';
COMMENT ON COLUMN session.group_message.data IS 'The content, as the app sent it.';
COMMENT ON COLUMN session.group_message.sent_at IS 'When.';
COMMENT ON COLUMN session.group_message.byte_offset IS 'How many bytes the session''s earlier messages had. Tells which ones are too old to be kept.';
GRANT SELECT, INSERT, DELETE ON session.group_message TO session;

CREATE VIEW session.message_range AS
SELECT h.group_id, h.first_kept, h.sent
  FROM session.message_history AS h
 WHERE NOT h.is_over;
COMMENT ON VIEW session.message_range IS 'Which messages group sessions keep. Has no row for a session that is over or without messages.';
COMMENT ON COLUMN session.message_range.group_id IS 'The session.';
COMMENT ON COLUMN session.message_range.first_kept IS 'The number of the oldest message that is kept.';
COMMENT ON COLUMN session.message_range.sent IS 'The number of the newest message.';

CREATE VIEW session.kept_message AS
SELECT m.group_id, m.number, m.sender, m.recipients, m.type, m.data, m.sent_at
  FROM session.group_message AS m
  JOIN session.message_history AS h ON h.group_id = m.group_id
 WHERE NOT h.is_over AND m.type IS NOT NULL;
COMMENT ON VIEW session.kept_message IS 'The messages that group sessions keep. The reader shows each to its sender and its recipients only.';
COMMENT ON COLUMN session.kept_message.group_id IS 'The session.';
COMMENT ON COLUMN session.kept_message.number IS 'Counts the messages of the session, from 1.';
COMMENT ON COLUMN session.kept_message.sender IS 'The sender.';
COMMENT ON COLUMN session.kept_message.recipients IS 'The accounts that may read it besides the sender. NULL if everyone in the session may.';
COMMENT ON COLUMN session.kept_message.type IS 'What it is.';
COMMENT ON COLUMN session.kept_message.data IS 'The content, as the app sent it.';
COMMENT ON COLUMN session.kept_message.sent_at IS 'When.';
GRANT SELECT ON session.message_range, session.kept_message TO session_client;

CREATE FUNCTION session.delete_old_messages(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
    over    bigint := 0;
    emptied bigint;
BEGIN
    DELETE FROM session.group_message AS m
     USING (SELECT o.group_id, o.number
              FROM session.message_history AS h
              JOIN session.group_message AS o ON o.group_id = h.group_id
             WHERE h.is_over
             LIMIT at_most) AS g
     WHERE m.group_id = g.group_id AND m.number = g.number;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted < at_most THEN
        -- Not those of a session that ended just now: their messages would all go with them.
        DELETE FROM session.message_history AS h
         WHERE h.group_id IN (
            SELECT o.group_id FROM session.message_history AS o
             WHERE o.is_over AND NOT EXISTS (SELECT FROM session.group_message AS m WHERE m.group_id = o.group_id)
             LIMIT at_most);
        GET DIAGNOSTICS over = ROW_COUNT;
    END IF;
    UPDATE session.group_message AS m
       SET type = NULL, data = NULL, recipients = NULL
      FROM (SELECT o.group_id, o.number
              FROM session.open_redaction AS r
              JOIN session.group_message AS o ON o.sender = r.account AND o.type IS NOT NULL
             LIMIT at_most) AS c
     WHERE m.group_id = c.group_id AND m.number = c.number;
    GET DIAGNOSTICS emptied = ROW_COUNT;
    RETURN deleted + over + emptied;
END
$$;
COMMENT ON FUNCTION session.delete_old_messages(int) IS
    'Deletes at most so many messages of group sessions that are over, at most so many histories whose messages are gone, and empties at most so many messages of closed accounts. Returns how many.';
REVOKE EXECUTE ON FUNCTION session.delete_old_messages(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION session.delete_old_messages(int) TO session;
