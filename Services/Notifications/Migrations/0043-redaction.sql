--! include bus/log-redaction.sql schema=notifications log=log
--! include bus/log-redaction.sql schema=notifications log=due
GRANT SELECT ON notifications.outcome TO session_client_owner;
