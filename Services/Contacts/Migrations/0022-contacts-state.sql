-- The JSON is ContactsState of the contract; a test holds the two together.
CREATE VIEW contacts.contacts_state AS
SELECT a.account,
       json_strip_nulls(json_build_object(
           'account', a.account,
           'code', a.code,
           'isApprovalRequired', a.is_approval_required,
           'isClosed', a.closed_at IS NOT NULL,
           'contacts', coalesce((
               SELECT json_agg(json_build_object(
                          'contact', c.contact, 'nickname', c.nickname, 'notes', c.notes, 'responder', c.responder,
                          'dependent', c.dependent, 'sendPings', c.send_pings, 'receivePings', c.receive_pings,
                          'notifyOnCheckIn', c.notify_on_check_in, 'notifyOnExpiry', c.notify_on_expiry,
                          'outgoingPing', contacts.microseconds(c.outgoing_ping_at),
                          'incomingPing', contacts.microseconds(c.incoming_ping_at),
                          'outgoingRoleRequest', contacts.microseconds(c.outgoing_role_request_at),
                          'incomingRoleRequest', contacts.microseconds(c.incoming_role_request_at),
                          'added', contacts.microseconds(c.added_at), 'updated', contacts.microseconds(c.updated_at),
                          'version', c.version) ORDER BY c.contact)
                 FROM contacts.contact AS c
                WHERE c.account = a.account), '[]'),
           'requests', coalesce((
               SELECT json_agg(json_build_object(
                          'contact', w.contact, 'direction', w.direction, 'responder', w.responder,
                          'dependent', w.dependent, 'requested', contacts.microseconds(w.requested_at)) ORDER BY w.contact)
                 FROM (SELECT r.asked AS contact, 'outgoing' AS direction, r.responder, r.dependent, r.requested_at
                         FROM contacts.request AS r
                        WHERE r.asker = a.account
                        UNION ALL
                       SELECT r.asker, 'incoming', r.dependent, r.responder, r.requested_at
                         FROM contacts.request AS r
                        WHERE r.asked = a.account) AS w), '[]'),
           'blocked', coalesce((
               SELECT json_agg(b.blocked ORDER BY b.blocked)
                 FROM contacts.block AS b
                WHERE b.blocker = a.account), '[]'))) AS state
  FROM contacts.account AS a;
COMMENT ON VIEW contacts.contacts_state IS 'The state of the stream contacts/<account>, as JSON; read it together with the log''s position, in one statement.';
COMMENT ON COLUMN contacts.contacts_state.account IS 'Whose.';
COMMENT ON COLUMN contacts.contacts_state.state IS 'ContactsState of the contract; times in microseconds.';

GRANT SELECT ON contacts.contacts_state TO session_client;
