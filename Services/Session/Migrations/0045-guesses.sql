ALTER TABLE session.device
    ADD COLUMN failures      int NOT NULL DEFAULT 0 CONSTRAINT failures_are_not_negative CHECK (failures >= 0),
    ADD COLUMN blocked_until timestamptz;
COMMENT ON COLUMN session.device.failures IS 'Wrong passwords in a row that were given on it; those of strangers are counted in session.credential.';
COMMENT ON COLUMN session.device.blocked_until IS 'Until when no password is looked at on it.';

ALTER TABLE session.phone_code
    ADD COLUMN failures int NOT NULL DEFAULT 0 CONSTRAINT failures_are_not_negative CHECK (failures >= 0);
COMMENT ON COLUMN session.phone_code.failures IS 'Wrong digits in a row, of this code and those before it: the pause until the next one grows with them.';
