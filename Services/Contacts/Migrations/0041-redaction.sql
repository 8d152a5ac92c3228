--! include bus/failure-retention.sql schema=contacts sender=session_client
--! include bus/log-redaction.sql schema=contacts log=log
GRANT SELECT ON contacts.outcome TO session_client_owner;
