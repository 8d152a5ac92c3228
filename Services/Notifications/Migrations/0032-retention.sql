--! include bus/retention.sql schema=notifications
--! include bus/outcome-retention.sql schema=notifications
--! include bus/log-retention.sql schema=notifications log=log consumer=session_client
--! include bus/truncation.sql schema=notifications
-- Who sends the commands must know how far they are handled before it forgets them; and the source's beginning is public.
GRANT SELECT ON notifications.batch, notifications.lease TO session_client_owner;
GRANT SELECT ON notifications.log_partition TO session_client_owner;
