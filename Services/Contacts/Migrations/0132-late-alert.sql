ALTER TABLE contacts.alarm ADD COLUMN pressed_at timestamptz;
COMMENT ON COLUMN contacts.alarm.pressed_at IS 'When the dependent called for help, if session had the call a minute or more later.';
-- compatible with 0.1.0
