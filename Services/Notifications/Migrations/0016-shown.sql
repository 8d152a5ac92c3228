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
COMMENT ON TABLE notifications.shown IS 'Which notifications apps reported as shown, and on which device. Kept as long as the notification.';
COMMENT ON COLUMN notifications.shown.account IS 'The account.';
COMMENT ON COLUMN notifications.shown.notification IS 'The notification.';
COMMENT ON COLUMN notifications.shown.device IS 'The device.';
COMMENT ON COLUMN notifications.shown.shown_at IS 'When it was shown, by the device''s clock, but not later than recorded_at.';
COMMENT ON COLUMN notifications.shown.recorded_at IS 'When the app''s report was recorded.';
GRANT SELECT, INSERT ON notifications.shown TO notifications;
