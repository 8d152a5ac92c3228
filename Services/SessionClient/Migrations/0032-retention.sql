--! include bus/retention.sql schema=session_client
--! include bus/log-retention.sql schema=session_client log=session_commands consumer=session
--! include bus/log-retention.sql schema=session_client log=contacts_commands consumer=contacts
--! include bus/log-retention.sql schema=session_client log=notifications_commands consumer=notifications
--! include bus/log-retention.sql schema=session_client log=operations consumer=session_client
--! include bus/truncation.sql schema=session_client
-- Each owner must know how far its events are handled before it forgets them.
GRANT SELECT ON session_client.batch, session_client.lease
   TO session_owner, contacts_owner, notifications_owner;
GRANT SELECT ON session_client.session_commands_partition TO session_owner;
GRANT SELECT ON session_client.contacts_commands_partition TO contacts_owner;
GRANT SELECT ON session_client.notifications_commands_partition TO notifications_owner;
