--! include bus/domains.sql schema=notifications
--! include bus/log-domains.sql schema=notifications log=log
ALTER TABLE notifications.outcome
    DROP CONSTRAINT outcome_is_known,
    ALTER COLUMN outcome TYPE notifications.message_outcome,
    ALTER COLUMN type TYPE notifications.message_type;
