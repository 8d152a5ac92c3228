--! include bus/consumer.sql schema=ledger_client
--! include bus/failure.sql schema=ledger_client sender=ledger_client
--! include bus/retention.sql schema=ledger_client
--! include bus/log-retention.sql schema=ledger_client log=ledger_commands consumer=ledger
GRANT SELECT ON ledger_client.batch, ledger_client.lease TO ledger_owner;
GRANT SELECT ON ledger_client.ledger_commands_partition TO ledger_owner;
