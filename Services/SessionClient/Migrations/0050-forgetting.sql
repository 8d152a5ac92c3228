-- What retention does must cost the same however many rows there are, and never be asked for what can't be.
--! include bus/batch-retention.sql schema=session_client
--! include bus/retention-limits.sql schema=session_client
-- The doctor looks for the oldest command that should have been emptied.
GRANT EXECUTE ON FUNCTION session_client.carries_secrets(text) TO quartet_reader;
