-- compatible with 0.1.0
-- session-client has a policy on notifications' log. It begins at the log's head when it first runs.
CREATE OR REPLACE VIEW session_client.logs AS
SELECT l.log, l.consumer
  FROM (VALUES ('session.log', 'session_client'),
               ('session.due', 'session'),
               ('contacts.log', 'session_client'),
               ('contacts.due', 'contacts'),
               ('notifications.log', 'session_client'),
               ('notifications.due', 'notifications'),
               ('session_client.session_commands', 'session'),
               ('session_client.contacts_commands', 'contacts'),
               ('session_client.notifications_commands', 'notifications'),
               ('session_client.operations', NULL)) AS l (log, consumer);
