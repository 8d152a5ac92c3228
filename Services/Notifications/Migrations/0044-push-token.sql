CREATE INDEX push_device_by_token ON notifications.push_device (md5(token));
COMMENT ON INDEX notifications.push_device_by_token IS 'Who else registered a token: an app on one phone has one, whoever is signed in to it.';
