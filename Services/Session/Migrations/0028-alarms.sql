CREATE INDEX account_in_alarm ON session.account (account) WHERE missed_alarm IS NOT NULL OR alert_alarm IS NOT NULL;
COMMENT ON INDEX session.account_in_alarm IS 'Who missed a check-in or raised an alert: for people at psql.';
