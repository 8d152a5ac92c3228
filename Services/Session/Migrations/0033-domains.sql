--! include bus/domains.sql schema=session
--! include bus/log-domains.sql schema=session log=log
--! include bus/log-domains.sql schema=session log=due
ALTER TABLE session.outcome
    DROP CONSTRAINT outcome_is_known,
    ALTER COLUMN outcome TYPE session.message_outcome,
    ALTER COLUMN type TYPE session.message_type;
