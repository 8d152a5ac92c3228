--! include bus/retention.sql schema=session
--! include bus/outcome-retention.sql schema=session
--! include bus/log-retention.sql schema=session log=log consumer=session_client
--! include bus/log-retention.sql schema=session log=due consumer=session
--! include bus/truncation.sql schema=session
-- Who sends the commands must know how far they are handled before it forgets them; and the source's beginning is public.
GRANT SELECT ON session.batch, session.lease TO session_client_owner;
GRANT SELECT ON session.log_partition TO session_client_owner;
