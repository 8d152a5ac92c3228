-- compatible with 0.1.0
-- Whether anyone would be told of an account's alarms. No row is read or written here, so nobody waits: what is null says that
-- the state is as 0.1.0 left it. 0086-valid-reach.sql validates the constraints.
ALTER TABLE contacts.account
    ADD COLUMN reachable_until timestamptz,
    ADD COLUMN is_reachable    boolean NOT NULL DEFAULT true,
    ADD COLUMN returns_at      timestamptz,
    ADD COLUMN responder_reach text,
    ADD COLUMN settled_reach   text,
    ADD COLUMN unsettled_at    timestamptz,
    ADD CONSTRAINT only_the_unreachable_return CHECK (returns_at IS NULL OR NOT is_reachable) NOT VALID,
    ADD CONSTRAINT responder_reach_is_known CHECK (responder_reach IN ('nobody', 'unreachable', 'reachable')) NOT VALID,
    ADD CONSTRAINT settled_reach_is_known CHECK (settled_reach IN ('nobody', 'unreachable', 'reachable')) NOT VALID,
    ADD CONSTRAINT difference_has_a_beginning
        CHECK ((unsettled_at IS NOT NULL) = (responder_reach IS DISTINCT FROM settled_reach)) NOT VALID;
COMMENT ON COLUMN contacts.account.reachable_until IS
    'Until when the account counts as reachable: at least 31 days after an app of it was last connected, by up to three days more. Null as long as nobody sees it.';
COMMENT ON COLUMN contacts.account.is_reachable IS 'False once reachable_until has passed, until the account is reached again.';
COMMENT ON COLUMN contacts.account.returns_at IS
    'When an account that was reached again counts as reachable: within a day, so that nobody sees when it was. Null otherwise.';
COMMENT ON COLUMN contacts.account.responder_reach IS
    'What the account''s stream says: nobody (it has no responder who hears of missed check-ins), unreachable (none of them can be reached) or reachable. Null if its responders are as 0.1.0 left them; all of those count as reachable.';
COMMENT ON COLUMN contacts.account.settled_reach IS
    'What the account was last notified of, or what it began with. A change that is undone within a minute isn''t notified.';
COMMENT ON COLUMN contacts.account.unsettled_at IS 'Since when responder_reach has differed from settled_reach.';

ALTER TABLE contacts.relation
    ADD COLUMN low_shows_reach  boolean NOT NULL DEFAULT false,
    ADD COLUMN high_shows_reach boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN contacts.relation.low_shows_reach IS
    'Whether the lesser side became the responder by itself, and so read that the other sees whether it can be reached. If not, it counts as reachable.';
COMMENT ON COLUMN contacts.relation.high_shows_reach IS
    'Whether the greater side became the responder by itself, and so read that the other sees whether it can be reached. If not, it counts as reachable.';

CREATE OR REPLACE VIEW contacts.contacts_state AS
SELECT a.account,
       json_strip_nulls(json_build_object(
           'account', a.account,
           'code', a.code,
           'isApprovalRequired', a.is_approval_required,
           'isClosed', a.closed_at IS NOT NULL,
           'responderReach',
               CASE WHEN a.closed_at IS NOT NULL THEN NULL
                    WHEN a.responder_reach IS NOT NULL THEN a.responder_reach
                    WHEN EXISTS (SELECT FROM contacts.relation AS r
                                  WHERE r.low = a.account AND r.high_is_responder AND r.high_notify_on_missed_check_in)
                      OR EXISTS (SELECT FROM contacts.relation AS r
                                  WHERE r.high = a.account AND r.low_is_responder AND r.low_notify_on_missed_check_in)
                    THEN 'reachable'
                    ELSE 'nobody' END,
           'contacts', coalesce((
               SELECT json_agg(json_build_object(
                          'account', c.contact, 'nickname', c.nickname, 'notes', c.notes, 'isMyResponder', c.is_my_responder,
                          'iAmResponder', c.i_am_responder, 'sendPings', c.send_pings, 'receivePings', c.receive_pings,
                          'notifyOnCheckIn', c.notify_on_check_in, 'notifyOnMissedCheckIn', c.notify_on_missed_check_in,
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

CREATE OR REPLACE VIEW contacts.contacts_summary AS
SELECT a.account,
       json_strip_nulls(json_build_object(
           'account', a.account,
           'code', a.code,
           'isApprovalRequired', a.is_approval_required,
           'isClosed', a.closed_at IS NOT NULL,
           'responderReach',
               CASE WHEN a.closed_at IS NOT NULL THEN NULL
                    WHEN a.responder_reach IS NOT NULL THEN a.responder_reach
                    WHEN EXISTS (SELECT FROM contacts.relation AS r
                                  WHERE r.low = a.account AND r.high_is_responder AND r.high_notify_on_missed_check_in)
                      OR EXISTS (SELECT FROM contacts.relation AS r
                                  WHERE r.high = a.account AND r.low_is_responder AND r.low_notify_on_missed_check_in)
                    THEN 'reachable'
                    ELSE 'nobody' END,
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
