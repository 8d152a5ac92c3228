ALTER TABLE contacts.alarm ADD COLUMN late_call json;
COMMENT ON COLUMN contacts.alarm.late_call IS 'The newest call for help. If it came late (call): when it was made (pressed), and when the server had it (received). If it was made in time after others: when (inTime). It says nothing if it is about another alarm (alarm): a process of an earlier release lets the row be about the next one without changing it.';
-- compatible with 0.1.0
