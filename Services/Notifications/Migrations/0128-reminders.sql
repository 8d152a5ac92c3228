-- compatible with 0.1.0
-- What people wrote for themselves is for nobody else to read: not for the people at psql, and not in logs for longer than it takes to
-- hand it on. The tables have it as long as it is of use: until it is delivered, and then in the history, which both end with the account.
CREATE VIEW notifications.reminder AS
SELECT s.account, s.id, s.kind, s.subject, s.details, s.due_at
  FROM notifications.scheduled AS s
 WHERE s.details ->> 'reminder' IS NOT NULL;
COMMENT ON VIEW notifications.reminder IS 'The open reminders that people gave themselves. Ask for those of one account.';
COMMENT ON COLUMN notifications.reminder.account IS 'The account that will be reminded.';
COMMENT ON COLUMN notifications.reminder.id IS 'The notification''s id.';
COMMENT ON COLUMN notifications.reminder.kind IS 'What the notification will say.';
COMMENT ON COLUMN notifications.reminder.subject IS 'The other account that the notification is about.';
COMMENT ON COLUMN notifications.reminder.details IS 'NotificationDetails of the contract, with the reminder''s text.';
COMMENT ON COLUMN notifications.reminder.due_at IS 'When it is delivered.';
GRANT SELECT ON notifications.reminder TO session_client;

CREATE VIEW notifications.shown_notification AS
SELECT n.account, n.id, n.kind, n.category, n.pace, n.subject,
       CASE WHEN n.details ->> 'reminder' IS NULL THEN n.details ELSE '{"reminder":"(secret)"}' END AS details,
       n.created_at, n.read_at, n.cleared_at, n.alarm, n.answered_at
  FROM notifications.notification AS n;
COMMENT ON VIEW notifications.shown_notification IS 'notifications.notification for people at psql, who may not read its details: without the texts of reminders.';
DO $$
DECLARE
    col record;
BEGIN
    FOR col IN
        SELECT a.attname AS name, col_description(a.attrelid, a.attnum) AS comment FROM pg_attribute AS a
         WHERE a.attrelid = 'notifications.notification'::regclass AND a.attnum > 0 AND NOT a.attisdropped
    LOOP
        EXECUTE format('COMMENT ON COLUMN notifications.shown_notification.%I IS %L', col.name, col.comment);
    END LOOP;
END
$$;
REVOKE SELECT ON notifications.reminder, notifications.scheduled, notifications.notification, notifications.notifications_state
  FROM quartet_reader;
GRANT SELECT (account, id, kind, subject, due_at) ON notifications.reminder TO quartet_reader;
GRANT SELECT (account, id, kind, subject, due_at) ON notifications.scheduled TO quartet_reader;
GRANT SELECT (account, id, kind, category, pace, subject, created_at, read_at, cleared_at, alarm, answered_at)
   ON notifications.notification TO quartet_reader;
GRANT SELECT (account) ON notifications.notifications_state TO quartet_reader;

CREATE OR REPLACE FUNCTION notifications.secret_members(of_type text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
               WHEN of_type IN ('RegisterPush', 'ForgetPush') THEN ARRAY['token']
               WHEN of_type = 'ScheduleReminder' THEN ARRAY['text']
               WHEN of_type = 'NotificationScheduled' THEN ARRAY['scheduled']
           END;

-- Of all events only those that say what was scheduled have texts. A table says where they are. An index on the log would keep every append
-- waiting while it is built, and a trigger of its own until no vacuum works on the log.
CREATE TABLE notifications.reminder_text (
    partition   int         NOT NULL,
    position    bigint      NOT NULL,
    recorded_at timestamptz NOT NULL,
    CONSTRAINT reminder_text_is_known_once PRIMARY KEY (partition, position)
);
COMMENT ON TABLE notifications.reminder_text IS 'Where notifications.log has texts of reminders. A row is deleted when its event is emptied.';
COMMENT ON COLUMN notifications.reminder_text.partition IS 'The log''s partition.';
COMMENT ON COLUMN notifications.reminder_text.position IS 'The event''s position in it.';
COMMENT ON COLUMN notifications.reminder_text.recorded_at IS 'When the event was appended.';
CREATE INDEX reminder_text_by_age ON notifications.reminder_text (recorded_at);
COMMENT ON INDEX notifications.reminder_text_by_age IS 'Finds the text that should have gone first, for doctor.';
CREATE INDEX reminder_text_of_partition ON notifications.reminder_text (partition, recorded_at);
COMMENT ON INDEX notifications.reminder_text_of_partition IS 'Finds those that are emptied next, and reads none that is new.';

GRANT INSERT ON notifications.reminder_text TO notifications;

-- The log's trigger does both, so that no code can append a text without saying where it is.
CREATE OR REPLACE FUNCTION notifications.record_outcome() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO notifications.outcome (command_id, account, command_hash, outcome, partition, position, type, body)
    SELECT a.command_id, a.account, a.command_hash, a.outcome, a.partition, a.position, a.type, a.body
      FROM appended AS a
     WHERE a.outcome IS NOT NULL;
    INSERT INTO notifications.reminder_text (partition, position, recorded_at)
    SELECT a.partition, a.position, a.recorded_at FROM appended AS a WHERE a.type = 'NotificationScheduled';
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION notifications.record_outcome() IS
    'Records the outcomes that log rows carry in notifications.outcome, at most one per command, and in notifications.reminder_text which rows have a reminder''s text.';

CREATE FUNCTION notifications.empty_reminders(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    too_old timestamptz := clock_timestamp() - (SELECT r.keep FROM notifications.retention AS r WHERE r.subject = 'secrets');
    emptied bigint;
BEGIN
    -- Of each partition the oldest: one that stands still keeps no other from being emptied. Positions are in order of time.
    WITH handled AS MATERIALIZED (
        SELECT p.partition, notifications.log_handled(p.partition) AS position FROM notifications.log_partition AS p
    ), text AS (
        DELETE FROM notifications.reminder_text AS t
         USING (SELECT o.partition, o.position
                  FROM handled AS h
                 CROSS JOIN LATERAL (SELECT c.partition, c.position FROM notifications.reminder_text AS c
                                      WHERE c.partition = h.partition AND c.recorded_at < too_old
                                      ORDER BY c.recorded_at LIMIT at_most) AS o
                 WHERE o.position <= h.position
                 LIMIT at_most) AS o
         WHERE t.partition = o.partition AND t.position = o.position
        RETURNING t.partition, t.position
    ), event AS (
        -- An app that comes back to a place before them gets the state instead.
        UPDATE notifications.log AS l SET body = '{}', type = 'Redacted', version = 1
          FROM text AS t
         WHERE l.partition = t.partition AND l.position = t.position
        RETURNING l.command_id, l.outcome
    ), result AS (
        -- A command that is sent again is still answered: as one that changed nothing.
        UPDATE notifications.outcome AS o SET body = '{}', type = 'Accepted'
          FROM event AS e
         WHERE e.outcome IS NOT NULL AND o.command_id = e.command_id
    )
    SELECT count(*) INTO emptied FROM text;
    RETURN emptied;
END
$$;
COMMENT ON FUNCTION notifications.empty_reminders(int) IS
    'Empties events with texts of reminders, and the results of their commands, that are handled and older than notifications.retention says of secrets, at most at_most. Returns how many events.';
REVOKE EXECUTE ON FUNCTION notifications.empty_reminders(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION notifications.empty_reminders(int) TO notifications;
