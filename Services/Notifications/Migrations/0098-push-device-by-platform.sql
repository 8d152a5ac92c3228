-- compatible with 0.1.0
CREATE INDEX push_device_by_platform ON notifications.push_device (platform) WHERE NOT notifications.is_canary(account);
COMMENT ON INDEX notifications.push_device_by_platform IS 'Finds out whether any device of a platform is registered, so that an alarm that could go nowhere is known before there is one.';
