-- compatible with 0.1.0
-- A notification of an alarm that failed and is delivered after the alarm's end finds that end.
CREATE INDEX notification_of_alarm_end ON notifications.notification (account, alarm)
    WHERE kind IN ('alertCleared', 'dependentAlertCleared', 'dependentCheckedInLate', 'dependentAlarmEnded');
COMMENT ON INDEX notifications.notification_of_alarm_end IS 'Finds the end of an alarm that an account was notified of.';
