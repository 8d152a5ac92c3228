--! include bus/schema.sql schema=ledger_client sender=ledger_client
GRANT SELECT ON ledger_client.batch, ledger_client.lease TO ledger_owner;
