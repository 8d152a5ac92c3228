-- compatible with 0.1.0
-- Whether anyone would be told of an account's alarms. Nobody knows yet when today's accounts were last reached, so they
-- have the whole time from now, and none of them is notified of a state that isn't new.
ALTER TABLE contacts.account
    ADD COLUMN reached_at      timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN is_reachable    boolean     NOT NULL DEFAULT true,
    ADD COLUMN responder_reach text        NOT NULL DEFAULT 'nobody',
    ADD COLUMN settled_reach   text        NOT NULL DEFAULT 'nobody',
    ADD COLUMN unsettled_at    timestamptz,
    ADD CONSTRAINT responder_reach_is_known CHECK (responder_reach IN ('nobody', 'unreachable', 'reachable')),
    ADD CONSTRAINT settled_reach_is_known CHECK (settled_reach IN ('nobody', 'unreachable', 'reachable')),
    ADD CONSTRAINT difference_has_a_beginning CHECK ((unsettled_at IS NOT NULL) = (responder_reach <> settled_reach));
COMMENT ON COLUMN contacts.account.reached_at IS
    'When an app of the account was last connected, to the day: the first time on the last day on which one was.';
COMMENT ON COLUMN contacts.account.is_reachable IS 'False once reached_at is 31 days ago, until the account is reached again.';
COMMENT ON COLUMN contacts.account.responder_reach IS
    'What the account''s stream says: nobody (it has no responder), unreachable (none can be reached) or reachable.';
COMMENT ON COLUMN contacts.account.settled_reach IS
    'What the account was last notified of, or what it began with. A change that is undone within a minute isn''t notified.';
COMMENT ON COLUMN contacts.account.unsettled_at IS 'Since when responder_reach has differed from settled_reach.';

UPDATE contacts.account AS a SET responder_reach = 'reachable', settled_reach = 'reachable'
 WHERE EXISTS (SELECT FROM contacts.relation AS r WHERE r.low = a.account AND r.high_is_responder)
    OR EXISTS (SELECT FROM contacts.relation AS r WHERE r.high = a.account AND r.low_is_responder);

-- What the rules would set: then TimerRepair has nothing to repair.
INSERT INTO contacts.timer (key, name, due_at, type, version, body)
SELECT 'account/' || a.account, 'LapseReach', a.reached_at + interval '744 hours', 'LapseReach', 1,
       json_build_object('account', a.account)
  FROM contacts.account AS a
 WHERE a.closed_at IS NULL;

CREATE OR REPLACE VIEW contacts.contacts_state AS
SELECT a.account,
       json_strip_nulls(json_build_object(
           'account', a.account,
           'code', a.code,
           'isApprovalRequired', a.is_approval_required,
           'isClosed', a.closed_at IS NOT NULL,
           'responderReach', CASE WHEN a.closed_at IS NULL THEN a.responder_reach END,
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
           'responderReach', CASE WHEN a.closed_at IS NULL THEN a.responder_reach END,
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
