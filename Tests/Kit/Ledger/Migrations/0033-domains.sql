--! include bus/domains.sql schema=ledger
--! include bus/log-domains.sql schema=ledger log=log
ALTER TABLE ledger.outcome
    DROP CONSTRAINT outcome_is_known,
    ALTER COLUMN outcome TYPE ledger.message_outcome,
    ALTER COLUMN type TYPE ledger.message_type;
