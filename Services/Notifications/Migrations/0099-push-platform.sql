-- compatible with 0.1.0
-- The pushes of one push service are found without passing over those of another, however many of these wait.
ALTER TABLE notifications.push ADD COLUMN platform text;
COMMENT ON COLUMN notifications.push.platform IS 'The platform of the push''s device, by which its push service is known. Kept by triggers, so that it is right whichever release adds the push or registers the device again.';
UPDATE notifications.push AS p SET platform = d.platform
  FROM notifications.push_device AS d
 WHERE d.account = p.account AND d.device = p.device;
ALTER TABLE notifications.push ALTER COLUMN platform SET NOT NULL;
GRANT UPDATE (platform) ON notifications.push TO notifications;

CREATE FUNCTION notifications.take_platform_of_device() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    -- Without a device there is none, and the constraint refuses the push.
    NEW.platform := (SELECT d.platform FROM notifications.push_device AS d WHERE d.account = NEW.account AND d.device = NEW.device);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION notifications.take_platform_of_device() IS 'Gives a new push the platform of its device.';
REVOKE EXECUTE ON FUNCTION notifications.take_platform_of_device() FROM PUBLIC;
CREATE TRIGGER take_platform_of_device
    BEFORE INSERT ON notifications.push
    FOR EACH ROW EXECUTE FUNCTION notifications.take_platform_of_device();

CREATE FUNCTION notifications.pass_on_platform() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE notifications.push AS p SET platform = NEW.platform WHERE p.account = NEW.account AND p.device = NEW.device;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION notifications.pass_on_platform() IS 'Gives waiting pushes the platform under which their device was registered again.';
REVOKE EXECUTE ON FUNCTION notifications.pass_on_platform() FROM PUBLIC;
CREATE TRIGGER pass_on_platform
    AFTER UPDATE OF platform ON notifications.push_device
    FOR EACH ROW WHEN (OLD.platform IS DISTINCT FROM NEW.platform) EXECUTE FUNCTION notifications.pass_on_platform();

DROP INDEX notifications.push_by_priority;
CREATE INDEX push_by_platform ON notifications.push (platform, priority, (attempts > 0), next_attempt_at);
COMMENT ON INDEX notifications.push_by_platform IS 'Finds the pushes of a platform and priority that are due, those that were never tried apart from the others, the earliest first.';
DROP INDEX notifications.push_failed;
CREATE INDEX push_failed ON notifications.push (platform, priority, next_attempt_at) WHERE last_error IS NOT NULL AND attempts <= 60;
COMMENT ON INDEX notifications.push_failed IS 'Finds the pushes that are sent at once when their push service is back.';
