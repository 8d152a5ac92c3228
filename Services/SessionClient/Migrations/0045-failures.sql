-- compatible with 0.1.0
--! include bus/failure-error-redaction.sql schema=session_client sender=session_client
COMMENT ON COLUMN session_client.all_parked.error IS 'The latest error; empty once the body was emptied.';
COMMENT ON COLUMN session_client.all_dead_letters.error IS 'The last error; empty once the body was emptied.';
