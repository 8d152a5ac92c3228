--! include bus/retention.sql schema=contacts
--! include bus/outcome-retention.sql schema=contacts
--! include bus/log-retention.sql schema=contacts log=log consumer=session_client
--! include bus/truncation.sql schema=contacts
-- Who sends the commands must know how far they are handled before it forgets them; and the source's beginning is public.
GRANT SELECT ON contacts.batch, contacts.lease TO session_client_owner;
GRANT SELECT ON contacts.log_partition TO session_client_owner;
