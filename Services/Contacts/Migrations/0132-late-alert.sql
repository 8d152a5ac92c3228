-- A process of an earlier release lets a row be about the next alarm without changing these: then they say nothing.
ALTER TABLE contacts.alarm
    ADD COLUMN pressed_at    timestamptz,
    ADD COLUMN pressed_alarm uuid;
COMMENT ON COLUMN contacts.alarm.pressed_at IS 'When the dependent called for help, if session had the call a minute or more later, at occurred_at.';
COMMENT ON COLUMN contacts.alarm.pressed_alarm IS 'The alarm that this is about.';
-- compatible with 0.1.0
