CREATE TABLE notifications.push_device (
    account       uuid        NOT NULL,
    device        uuid        NOT NULL,
    token         text        NOT NULL
                  CONSTRAINT token_is_printable CHECK (octet_length(token) BETWEEN 1 AND 4096 AND token !~ '[^!-~]'),
    platform      text        NOT NULL CONSTRAINT platform_is_known CHECK (platform IN ('ios', 'android', 'web', 'other')),
    registered_at timestamptz NOT NULL,
    is_leaving    boolean     NOT NULL DEFAULT false,
    CONSTRAINT device_is_registered_once PRIMARY KEY (account, device)
);
COMMENT ON TABLE notifications.push_device IS 'The devices that accounts are pushed to. Only notifications reads the tokens.';
COMMENT ON COLUMN notifications.push_device.account IS 'Whose.';
COMMENT ON COLUMN notifications.push_device.device IS 'Its id.';
COMMENT ON COLUMN notifications.push_device.token IS 'What the push service knows the app on it by: who has it can push to the device.';
COMMENT ON COLUMN notifications.push_device.platform IS 'By which kind of push service it is reached.';
COMMENT ON COLUMN notifications.push_device.registered_at IS 'Since when it is registered with this token.';
COMMENT ON COLUMN notifications.push_device.is_leaving IS 'Whether it was signed out and only gets what waits for it already and is about the account: why it was. It goes with the last of that.';
CREATE INDEX push_device_leaving ON notifications.push_device (account, device) WHERE is_leaving;
COMMENT ON INDEX notifications.push_device_leaving IS 'What is forgotten once nothing waits for it.';

-- Not even people at psql: nobody needs to see the tokens.
REVOKE ALL ON notifications.push_device FROM quartet_reader;
GRANT SELECT (account, device, platform, registered_at, is_leaving) ON notifications.push_device TO quartet_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON notifications.push_device TO notifications;

CREATE TABLE notifications.push (
    account         uuid        NOT NULL,
    device          uuid        NOT NULL,
    notification    uuid        NOT NULL,
    body            json        NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempts        int         NOT NULL DEFAULT 0 CONSTRAINT push_attempts_are_not_negative CHECK (attempts >= 0),
    next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_error      text        CONSTRAINT push_error_is_short CHECK (length(last_error) <= 500),
    CONSTRAINT push_waits_once PRIMARY KEY (account, device, notification),
    CONSTRAINT push_is_for_a_registered_device
        FOREIGN KEY (account, device) REFERENCES notifications.push_device (account, device),
    CONSTRAINT push_failed_in_an_attempt CHECK (last_error IS NULL OR attempts > 0)
) WITH (fillfactor = 70);
CREATE INDEX push_by_next_attempt ON notifications.push (next_attempt_at);

COMMENT ON TABLE notifications.push IS 'What waits to be sent to devices: written in the transaction that delivers the notification, gone when it was sent or will never be.';
COMMENT ON INDEX notifications.push_by_next_attempt IS 'What is due, the longest first.';
COMMENT ON COLUMN notifications.push.account IS 'Who was told.';
COMMENT ON COLUMN notifications.push.device IS 'To which of their devices it goes.';
COMMENT ON COLUMN notifications.push.notification IS 'What they were told.';
COMMENT ON COLUMN notifications.push.body IS 'What is sent, with the id under which it is sent each time; the device''s token is added then.';
COMMENT ON COLUMN notifications.push.created_at IS 'Since when it waits; it is given up a day later.';
COMMENT ON COLUMN notifications.push.attempts IS 'How often it was sent, or is being sent now.';
COMMENT ON COLUMN notifications.push.next_attempt_at IS 'When it is sent next. While it is being sent: when somebody else may, unless it has ended.';
COMMENT ON COLUMN notifications.push.last_error IS 'Why it could not be sent the last time.';

GRANT SELECT, INSERT, DELETE, UPDATE (attempts, next_attempt_at, last_error) ON notifications.push TO notifications;

-- The JSON is NotificationsState of the contract; a test holds the two together.
CREATE OR REPLACE VIEW notifications.notifications_state AS
SELECT a.account,
       json_strip_nulls(json_build_object(
           'account', a.account,
           'unread', a.unread,
           'isClosed', a.closed_at IS NOT NULL,
           'notifications', coalesce((
               SELECT json_agg(json_build_object(
                          'id', n.id, 'kind', n.kind, 'subject', n.subject, 'details', n.details,
                          'created', notifications.microseconds(n.created_at),
                          'read', notifications.microseconds(n.read_at),
                          'cleared', notifications.microseconds(n.cleared_at)) ORDER BY n.created_at DESC, n.id DESC)
                 FROM (SELECT h.*
                         FROM notifications.notification AS h
                        WHERE h.account = a.account
                        ORDER BY h.created_at DESC, h.id DESC
                        LIMIT 200) AS n), '[]'),
           'scheduled', coalesce((
               SELECT json_agg(json_build_object(
                          'id', s.id, 'kind', s.kind, 'subject', s.subject, 'details', s.details,
                          'due', notifications.microseconds(s.due_at)) ORDER BY s.id)
                 FROM notifications.scheduled AS s
                WHERE s.account = a.account), '[]'),
           'pushDevices', coalesce((
               SELECT json_agg(d.device ORDER BY d.device)
                 FROM notifications.push_device AS d
                WHERE d.account = a.account AND NOT d.is_leaving), '[]'))) AS state
  FROM notifications.account AS a;
