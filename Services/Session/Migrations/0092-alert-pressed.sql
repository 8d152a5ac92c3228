-- No constraint ties these to the alert: a process of an earlier release, which doesn't know them, ends that.
ALTER TABLE session.account
    ADD COLUMN alert_pressed_at       timestamptz,
    ADD COLUMN alert_pressed_again_at timestamptz,
    ADD COLUMN alert_pressed_alarm    uuid;
COMMENT ON COLUMN session.account.alert_pressed_at IS 'When help was asked for, as the app said; null if it didn''t. An all-clear that was asked for before doesn''t end the alert.';
COMMENT ON COLUMN session.account.alert_pressed_alarm IS 'The alarm that these two are about. A process of an earlier release raises the next one without changing them; then they say nothing.';
COMMENT ON COLUMN session.account.alert_pressed_again_at IS 'When help was asked for last while the alert was on already; null if it wasn''t.';
-- compatible with 0.1.0
