--! include bus/canary.sql schema=notifications reader=session_client

-- Pushes that mean danger are sent first and give way last.

-- Generated, so that it is right whichever release adds the push.
ALTER TABLE notifications.push
    ADD COLUMN priority int NOT NULL GENERATED ALWAYS AS (
        CASE WHEN notifications.is_canary(account) THEN 3
             ELSE CASE body -> 'notification' ->> 'priority' WHEN 'critical' THEN 0 WHEN 'normal' THEN 1 ELSE 2 END END) STORED
        CONSTRAINT push_priority_is_known CHECK (priority BETWEEN 0 AND 3);
COMMENT ON COLUMN notifications.push.priority IS 'The notification''s priority: 0 is critical, 1 normal, 2 low, 3 that of a synthetic account. Sent in this order; when too many wait for a device, the highest number gives way first.';
COMMENT ON COLUMN notifications.push.last_error IS 'Why the last attempt failed; null during an attempt.';

DROP INDEX notifications.push_by_next_attempt;
CREATE INDEX push_by_priority ON notifications.push (priority, (attempts > 0), next_attempt_at);
COMMENT ON INDEX notifications.push_by_priority IS 'Finds the pushes of a priority that are due, those that were never tried apart from the others, the earliest first.';
CREATE INDEX push_critical ON notifications.push (created_at) WHERE priority = 0;
COMMENT ON INDEX notifications.push_critical IS 'Finds the critical push that has waited longest.';
CREATE INDEX push_failed ON notifications.push (priority, next_attempt_at) WHERE last_error IS NOT NULL AND attempts <= 60;
COMMENT ON INDEX notifications.push_failed IS 'Finds the pushes that are sent at once when the receiver is back.';

-- 0062-push-results.sql validates the constraint, which then keeps nobody waiting.
ALTER TABLE notifications.push_attempt
    DROP CONSTRAINT result_is_known,
    ADD CONSTRAINT result_is_known
        CHECK (result IN ('done', 'retried', 'gone', 'refused', 'expired', 'displaced')) NOT VALID;
COMMENT ON COLUMN notifications.push_attempt.result IS 'How the attempt ended: done, retried (another follows), gone (the device no longer exists), refused, expired (given up unsent), or displaced (never made, because too many pushes waited for the device).';
