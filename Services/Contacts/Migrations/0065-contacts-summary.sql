-- What a page of contacts says besides the contacts: however many these are, it reads none of them.
CREATE VIEW contacts.contacts_summary AS
SELECT a.account,
       json_strip_nulls(json_build_object(
           'account', a.account,
           'code', a.code,
           'isApprovalRequired', a.is_approval_required,
           'isClosed', a.closed_at IS NOT NULL,
           'contacts', '[]'::json,
           'requests', coalesce((
               SELECT json_agg(json_build_object(
                          'account', w.contact, 'direction', w.direction, 'isMyResponder', w.is_my_responder,
                          'iAmResponder', w.i_am_responder, 'requested', contacts.microseconds(w.requested_at)) ORDER BY w.contact)
                 FROM (SELECT r.asked AS contact, 'outgoing' AS direction, r.is_my_responder, r.i_am_responder, r.requested_at
                         FROM contacts.request AS r
                        WHERE r.asker = a.account
                        UNION ALL
                       SELECT r.asker, 'incoming' AS direction, r.i_am_responder, r.is_my_responder, r.requested_at
                         FROM contacts.request AS r
                        WHERE r.asked = a.account) AS w), '[]'),
           'blocked', coalesce((
               SELECT json_agg(b.blocked ORDER BY b.blocked)
                 FROM contacts.block AS b
                WHERE b.blocker = a.account), '[]'))) AS state
  FROM contacts.account AS a;
COMMENT ON VIEW contacts.contacts_summary IS 'What contacts.contacts_state has besides the contacts, as JSON.';
COMMENT ON COLUMN contacts.contacts_summary.account IS 'The account.';
COMMENT ON COLUMN contacts.contacts_summary.state IS 'ContactsState of the contract without contacts, with times in microseconds.';

GRANT SELECT ON contacts.contacts_summary TO session_client;
