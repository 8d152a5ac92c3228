-- compatible with 0.1.0
-- A push that is only logged reaches nobody, so it isn't done. 0097-push-logged.sql validates the constraint.
ALTER TABLE notifications.push_attempt
    DROP CONSTRAINT result_is_known,
    ADD CONSTRAINT result_is_known
        CHECK (result IN ('done', 'logged', 'retried', 'gone', 'refused', 'expired', 'displaced')) NOT VALID;
COMMENT ON COLUMN notifications.push_attempt.result IS 'How the attempt ended: done (a push service took it), logged (nothing is set by which it could be sent), retried (another follows), gone (the device no longer exists), refused, expired (given up unsent), or displaced (never made, because too many pushes waited for the device).';
