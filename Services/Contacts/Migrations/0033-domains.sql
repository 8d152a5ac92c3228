--! include bus/domains.sql schema=contacts
--! include bus/log-domains.sql schema=contacts log=log
ALTER TABLE contacts.outcome
    DROP CONSTRAINT outcome_is_known,
    ALTER COLUMN outcome TYPE contacts.message_outcome,
    ALTER COLUMN type TYPE contacts.message_type;
