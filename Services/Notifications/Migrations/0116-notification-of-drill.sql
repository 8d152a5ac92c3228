-- compatible with 0.1.0
CREATE INDEX notification_of_drill ON notifications.notification (account) WHERE details ->> 'drill' IS NOT NULL;
COMMENT ON INDEX notifications.notification_of_drill IS 'Finds what an account was told of drills, which an alarm makes void.';
