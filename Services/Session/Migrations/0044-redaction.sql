--! include bus/failure-retention.sql schema=session sender=session_client
--! include bus/log-redaction.sql schema=session log=log
--! include bus/log-redaction.sql schema=session log=due
-- Whose a sign-in was stands in its outcome alone.
GRANT SELECT ON session.outcome TO session_client_owner;
