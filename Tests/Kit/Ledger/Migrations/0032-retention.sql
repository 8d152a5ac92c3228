--! include bus/retention.sql schema=ledger
--! include bus/outcome-retention.sql schema=ledger
--! include bus/log-retention.sql schema=ledger log=log consumer=ledger_client
--! include bus/truncation.sql schema=ledger
GRANT SELECT ON ledger.batch, ledger.lease TO ledger_client_owner;
