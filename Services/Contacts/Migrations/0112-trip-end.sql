-- An alert that a trip made has its end, so that whoever hears of it later hears the same.
ALTER TABLE contacts.alarm DROP CONSTRAINT deadline_is_a_missed_check_ins;
COMMENT ON COLUMN contacts.alarm.deadline IS 'The deadline that was missed, or the end of the trip that made an alert; null for an alert that the person raised, or called for help by hand in.';
-- compatible with 0.1.0
