-- compatible with 0.1.0
CREATE OR REPLACE VIEW session_client.logs AS
SELECT l.log, l.consumer
  FROM (VALUES ('session.log', 'session_client'),
               ('session.due', 'session'),
               ('contacts.log', 'session_client'),
               ('contacts.due', 'contacts'),
               ('notifications.log', NULL),
               ('notifications.due', 'notifications'),
               ('session_client.session_commands', 'session'),
               ('session_client.contacts_commands', 'contacts'),
               ('session_client.notifications_commands', 'notifications'),
               ('session_client.operations', NULL)) AS l (log, consumer);
SELECT session_client.create_union_views();
