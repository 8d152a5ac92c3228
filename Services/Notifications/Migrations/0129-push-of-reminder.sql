-- compatible with 0.1.0
-- The push of a reminder waits for all others and gives way first, and is as loud as its kind says.

-- Not generated anew: that would write the whole table and its indexes while alarms wait for it. A body never changes, so what the
-- trigger gives is as right, whichever release adds the push.
ALTER TABLE notifications.push ALTER COLUMN priority DROP EXPRESSION;
ALTER TABLE notifications.push DROP CONSTRAINT push_priority_is_known;
UPDATE notifications.push AS p SET priority = 4 WHERE p.priority = 3;
ALTER TABLE notifications.push ADD CONSTRAINT push_priority_is_known CHECK (priority BETWEEN 0 AND 4);
COMMENT ON COLUMN notifications.push.priority IS 'The notification''s priority: 0 is critical, 1 normal, 2 low, 3 that of a reminder that somebody gave themselves, 4 that of a synthetic account. Sent in this order; when too many wait for a device, the highest number gives way first.';

CREATE OR REPLACE FUNCTION notifications.take_platform_of_device() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    -- Without a device there is none, and the constraint refuses the push.
    NEW.platform := (SELECT d.platform FROM notifications.push_device AS d WHERE d.account = NEW.account AND d.device = NEW.device);
    NEW.priority :=
        CASE WHEN notifications.is_canary(NEW.account) THEN 4
             WHEN NEW.body -> 'notification' -> 'details' ->> 'reminder' IS NOT NULL THEN 3
             ELSE CASE NEW.body -> 'notification' ->> 'priority' WHEN 'critical' THEN 0 WHEN 'normal' THEN 1 ELSE 2 END END;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION notifications.take_platform_of_device() IS 'Gives a new push the platform of its device, and its priority.';
