-- The end of an alarm may be handled before its beginning, which failed and is tried again. So it is remembered.
ALTER TABLE contacts.alarm ADD COLUMN ended_at timestamptz;
COMMENT ON TABLE contacts.alarm IS
    'Missed check-ins and raised alerts that responders are alarmed about, and alarms whose end was handled before their beginning.';
COMMENT ON COLUMN contacts.alarm.ended_at IS
    'When an alarm ended whose beginning has not been handled yet, so that it alarms nobody any more; null while an alarm is on.';
