COMMENT ON COLUMN session_client.alarm_receipts.due_at IS 'The deadline that was missed, or the end of the trip that made the alert; null for an alert that the person raised.';
-- compatible with 0.1.0
