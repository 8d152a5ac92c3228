CREATE VIEW session.safety AS
SELECT a.account, a.check_in_interval, a.last_check_in_at, a.due_at, a.missed_alarm IS NOT NULL AS is_missed, a.alert_raised_at,
       a.missed_alarm, a.alert_alarm
  FROM session.account AS a
 WHERE a.closed_at IS NULL;
COMMENT ON VIEW session.safety IS 'Check-ins and alerts: for a person''s responders alone.';
COMMENT ON COLUMN session.safety.account IS 'Whose.';
COMMENT ON COLUMN session.safety.check_in_interval IS 'How often to check in.';
COMMENT ON COLUMN session.safety.last_check_in_at IS 'The last check-in.';
COMMENT ON COLUMN session.safety.due_at IS 'By when the next one is due, or was, if it was missed.';
COMMENT ON COLUMN session.safety.is_missed IS 'Whether it was missed and nothing came since.';
COMMENT ON COLUMN session.safety.alert_raised_at IS 'Since when an alert is on.';
COMMENT ON COLUMN session.safety.missed_alarm IS 'The alarm that is on since a deadline was missed.';
COMMENT ON COLUMN session.safety.alert_alarm IS 'The alarm that the alert is.';

GRANT SELECT ON session.safety TO session_client;
