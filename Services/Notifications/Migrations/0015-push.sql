CREATE TABLE notifications.push_device (
    account       uuid        NOT NULL,
    device        uuid        NOT NULL,
    token         text        NOT NULL
                  CONSTRAINT token_is_printable CHECK (token ~ '^[!-~]+$' AND octet_length(token) <= 4096),
    platform      text        NOT NULL CONSTRAINT platform_is_known CHECK (platform IN ('ios', 'android', 'web', 'other')),
    registered_at timestamptz NOT NULL,
    is_leaving    boolean     NOT NULL DEFAULT false,
    CONSTRAINT device_is_registered_once PRIMARY KEY (account, device)
);
CREATE INDEX push_device_leaving ON notifications.push_device (account, device) WHERE is_leaving;
CREATE INDEX push_device_by_token ON notifications.push_device (md5(token));

COMMENT ON TABLE notifications.push_device IS 'The devices that get an account''s push messages. Only notifications reads the tokens.';
COMMENT ON INDEX notifications.push_device_leaving IS 'Finds the devices that are deleted once no push waits for them.';
COMMENT ON INDEX notifications.push_device_by_token IS 'Finds other registrations of a token. A phone''s app has one token, whichever account is signed in.';
COMMENT ON COLUMN notifications.push_device.account IS 'The account.';
COMMENT ON COLUMN notifications.push_device.device IS 'The device.';
COMMENT ON COLUMN notifications.push_device.token IS 'The push service''s token for the app on the device. Anyone who has it can push to the device.';
COMMENT ON COLUMN notifications.push_device.platform IS 'The kind of push service.';
COMMENT ON COLUMN notifications.push_device.registered_at IS 'When the device was registered with this token.';
COMMENT ON COLUMN notifications.push_device.is_leaving IS 'Whether the device was signed out. It then only gets the pushes that already wait and are about the account, such as why it was signed out, and is deleted after the last of them.';

-- Operators don't need to see the tokens.
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

COMMENT ON TABLE notifications.push IS 'Push messages to be sent. Written in the transaction that delivers the notification; deleted when sent or given up.';
COMMENT ON INDEX notifications.push_by_next_attempt IS 'Finds the pushes that are due, the earliest first.';
COMMENT ON COLUMN notifications.push.account IS 'The account that was notified.';
COMMENT ON COLUMN notifications.push.device IS 'The device that the push goes to.';
COMMENT ON COLUMN notifications.push.notification IS 'The notification.';
COMMENT ON COLUMN notifications.push.body IS 'The message to send, with the id that each attempt uses. The device''s token is added when it is sent.';
COMMENT ON COLUMN notifications.push.created_at IS 'When the push was created. It is given up a day later.';
COMMENT ON COLUMN notifications.push.attempts IS 'How often it was sent, including an attempt in progress.';
COMMENT ON COLUMN notifications.push.next_attempt_at IS 'When it is sent next. During an attempt: when another replica may try.';
COMMENT ON COLUMN notifications.push.last_error IS 'Why the last attempt failed.';

GRANT SELECT, INSERT, DELETE, UPDATE (attempts, next_attempt_at, last_error) ON notifications.push TO notifications;

CREATE TABLE notifications.push_attempt (
    account      uuid        NOT NULL,
    notification uuid        NOT NULL,
    device       uuid        NOT NULL,
    attempt      int         NOT NULL CONSTRAINT attempts_count_from_one CHECK (attempt > 0),
    began_at     timestamptz NOT NULL,
    took         interval    NOT NULL,
    result       text        NOT NULL
                 CONSTRAINT result_is_known CHECK (result IN ('done', 'retried', 'gone', 'refused', 'expired')),
    answer       text        NOT NULL CONSTRAINT push_answer_is_short CHECK (length(answer) <= 500),
    CONSTRAINT attempt_is_made_once PRIMARY KEY (account, notification, device, attempt),
    CONSTRAINT pushed_notification_is_in_the_history
        FOREIGN KEY (account, notification) REFERENCES notifications.notification (account, id) ON DELETE CASCADE
);
COMMENT ON TABLE notifications.push_attempt IS 'Each attempt to push a notification to a device, kept as long as the notification. An attempt whose process was killed isn''t recorded.';
COMMENT ON COLUMN notifications.push_attempt.account IS 'The account that was notified.';
COMMENT ON COLUMN notifications.push_attempt.notification IS 'The notification.';
COMMENT ON COLUMN notifications.push_attempt.device IS 'The device.';
COMMENT ON COLUMN notifications.push_attempt.attempt IS 'The attempt''s number, from 1.';
COMMENT ON COLUMN notifications.push_attempt.began_at IS 'When the attempt began.';
COMMENT ON COLUMN notifications.push_attempt.took IS 'How long the attempt took.';
COMMENT ON COLUMN notifications.push_attempt.result IS 'How the attempt ended: done, retried (another follows), gone (the device no longer exists), refused, or expired (given up unsent).';
COMMENT ON COLUMN notifications.push_attempt.answer IS 'The push service''s answer, or why it wasn''t asked.';
GRANT SELECT, INSERT ON notifications.push_attempt TO notifications;
