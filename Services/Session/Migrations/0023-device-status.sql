CREATE VIEW session.device_status AS
SELECT d.account, d.device, d.signed_out_at IS NULL AS active
  FROM session.device AS d;
COMMENT ON VIEW session.device_status IS 'Whether a device is signed in; one that isn''t here isn''t.';
COMMENT ON COLUMN session.device_status.account IS 'Whose.';
COMMENT ON COLUMN session.device_status.device IS 'Which one.';
COMMENT ON COLUMN session.device_status.active IS 'Whether it is signed in.';

GRANT SELECT ON session.device_status TO session_client;
