CREATE VIEW session.handle AS
SELECT a.handle, a.account
  FROM session.account AS a
 WHERE a.closed_at IS NULL;
COMMENT ON VIEW session.handle IS 'Whose handle it is; found by the handle as Handle of the contract writes it.';
COMMENT ON COLUMN session.handle.handle IS 'The handle.';
COMMENT ON COLUMN session.handle.account IS 'Whose it is.';

GRANT SELECT ON session.handle TO session_client;
