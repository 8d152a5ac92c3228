-- What became of a notification on its way to its person. These rows go with it.
CREATE TABLE notifications.shown (
    account      uuid        NOT NULL,
    notification uuid        NOT NULL,
    device       uuid        NOT NULL,
    shown_at     timestamptz NOT NULL,
    recorded_at  timestamptz NOT NULL,
    CONSTRAINT notification_is_shown_once_on_a_device PRIMARY KEY (account, notification, device),
    CONSTRAINT shown_notification_is_in_the_history
        FOREIGN KEY (account, notification) REFERENCES notifications.notification (account, id) ON DELETE CASCADE,
    CONSTRAINT shown_before_it_is_recorded CHECK (shown_at <= recorded_at)
);
COMMENT ON TABLE notifications.shown IS 'Which notifications apps say that they showed, on which device; kept as long as the notification.';
COMMENT ON COLUMN notifications.shown.account IS 'Whose.';
COMMENT ON COLUMN notifications.shown.notification IS 'Which one.';
COMMENT ON COLUMN notifications.shown.device IS 'On which device.';
COMMENT ON COLUMN notifications.shown.shown_at IS 'When, by the device''s clock; not later than recorded_at.';
COMMENT ON COLUMN notifications.shown.recorded_at IS 'When the app said so.';
GRANT SELECT, INSERT ON notifications.shown TO notifications;

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
COMMENT ON TABLE notifications.push_attempt IS 'Each attempt to push a notification to a device; kept as long as the notification. An attempt whose process was killed has none.';
COMMENT ON COLUMN notifications.push_attempt.account IS 'Who was notified.';
COMMENT ON COLUMN notifications.push_attempt.notification IS 'Of what.';
COMMENT ON COLUMN notifications.push_attempt.device IS 'On which device.';
COMMENT ON COLUMN notifications.push_attempt.attempt IS 'Which attempt it was, from 1.';
COMMENT ON COLUMN notifications.push_attempt.began_at IS 'When it began.';
COMMENT ON COLUMN notifications.push_attempt.took IS 'How long the answer took.';
COMMENT ON COLUMN notifications.push_attempt.result IS 'What became of it: done, retried (it will be tried again), gone (the device isn''t there any more), refused, or expired (it was given up unsent).';
COMMENT ON COLUMN notifications.push_attempt.answer IS 'What the receiver answered, or why none was asked.';
GRANT SELECT, INSERT ON notifications.push_attempt TO notifications;

ALTER TABLE notifications.notification
    ADD COLUMN alarm uuid GENERATED ALWAYS AS ((details ->> 'alarm')::uuid) STORED;
CREATE INDEX notification_by_alarm ON notifications.notification (alarm) WHERE alarm IS NOT NULL;
COMMENT ON COLUMN notifications.notification.alarm IS 'The alarm that it belongs to: from its beginning to its all-clear, everything has the same one.';
COMMENT ON INDEX notifications.notification_by_alarm IS 'Who was notified of an alarm.';
