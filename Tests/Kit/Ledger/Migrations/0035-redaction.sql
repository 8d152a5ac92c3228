--! include bus/failure-retention.sql schema=ledger sender=ledger_client
--! include bus/log-redaction.sql schema=ledger log=log
GRANT SELECT ON ledger.outcome TO ledger_client_owner;
