--! include bus/failure-retention.sql schema=notifications sender=session_client
--! include bus/log-redaction.sql schema=notifications log=log
--! include bus/log-redaction.sql schema=notifications log=due
GRANT SELECT ON notifications.outcome TO session_client_owner;
